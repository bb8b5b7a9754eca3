//! Servers on this machine that answer what no server should.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Result;

use crate::{dice::Dice, outcome::Outcome, program::Call, scene::Fetch, scene::Scene, stage::Stage, tally::Verdict};

/// What a server does with a request: the archive, where the asked range begins, how many requests
/// came before.
pub type Answer = fn(&mut TcpStream, &[u8], Option<usize>, usize) -> std::io::Result<()>;

/// Servers whose trials take less than seconds.
pub const QUICK: &[(&str, Answer)] = &[
    ("a good server", |stream, file, start, _| honest(stream, file, start, usize::MAX)),
    ("cut after each 5,000 bytes", |stream, file, start, _| honest(stream, file, start, 5000)),
    ("says more than it sends, the last time less", |stream, file, start, before| {
        let claimed = if before < 2 { file.len() + 1000 } else { file.len() };
        let body = &file[start.unwrap_or(0).min(file.len())..];
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {claimed}\r\nConnection: close\r\n\r\n")?;
        stream.write_all(if before < 2 { body } else { file })
    }),
    ("says less than it sends", |stream, file, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", file.len() / 2)?;
        stream.write_all(file)
    }),
    ("no length, and cut", |stream, file, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        stream.write_all(&file[..file.len() / 3])
    }),
    ("redirects in a circle", |stream, _, _, _| {
        write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: /cifar-100-binary.tar.gz\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    }),
    ("redirects to a file of this machine", |stream, _, _, _| {
        write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    }),
    ("a page in place of the archive", |stream, _, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 21\r\nConnection: close\r\n\r\n<html>Log in.</html>\n")
    }),
    ("nothing", |stream, _, _, _| write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")),
    ("404", |stream, _, _, _| {
        write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }),
    ("headers without end", |stream, _, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\n")?;
        (0..100_000).try_for_each(|i| write!(stream, "X-{i}: {i}\r\n"))
    }),
    ("another range than was asked for", |stream, file, start, _| {
        if start.is_none() {
            return honest(stream, file, None, 5000);
        }
        let total = file.len();
        write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 7-{}/{total}\r\nContent-Length: {}\r\n\r\n",
            total - 1,
            total - 7
        )?;
        stream.write_all(&file[7..])
    }),
    ("noise in place of the archive", |stream, file, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", file.len())?;
        let mut dice = Dice::new(1, "noise", 0);
        stream.write_all(&file.iter().map(|_| dice.roll() as u8).collect::<Vec<_>>())
    }),
    ("a length beyond all numbers", |stream, file, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\nConnection: close\r\n\r\n")?;
        stream.write_all(file)
    }),
];

/// Servers for which the program waits before it gives up.
pub const SLOW: &[(&str, Answer)] = &[
    ("without end", |stream, _, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        let block = [7; 1 << 16];
        loop {
            stream.write_all(&block)?;
        }
    }),
    ("a byte a second", |stream, file, _, _| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", file.len())?;
        file.iter().try_for_each(|byte| {
            thread::sleep(Duration::from_secs(1));
            stream.write_all(&[*byte])
        })
    }),
    ("silence", |_, _, _, _| {
        thread::sleep(Duration::from_mins(5));
        Ok(())
    }),
    ("200 and 416 in turn", |stream, file, start, _| match start {
        None => honest(stream, file, None, 5000),
        Some(_) => {
            write!(stream, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
    }),
    ("500 for ever", |stream, _, _, _| {
        write!(stream, "HTTP/1.1 500 Sorry\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }),
    ("closes at once", |_, _, _, _| Ok(())),
    ("no HTTP", |stream, _, _, _| stream.write_all(b"220 mail.example.org ESMTP\r\n")),
];

fn honest(stream: &mut TcpStream, file: &[u8], start: Option<usize>, most: usize) -> std::io::Result<()> {
    let (total, from) = (file.len(), start.unwrap_or(0).min(file.len()));
    match start {
        Some(_) => write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{total}\r\nContent-Length: {}\r\n",
            total - 1,
            total - from
        )?,
        None => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n")?,
    }
    write!(stream, "ETag: \"one\"\r\nConnection: close\r\n\r\n")?;
    let body = &file[from..];
    stream.write_all(&body[..body.len().min(most)])
}

/// Starts a server and gives its address.
fn serve(answer: Answer, file: Vec<u8>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let before = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (file, before) = (file.clone(), Arc::clone(&before));
            thread::spawn(move || {
                let mut stream = stream;
                let start = asked(&stream);
                let _ = answer(&mut stream, &file, start, before.fetch_add(1, Ordering::Relaxed));
            });
        }
    });
    Ok(url)
}

/// Reads a request: where the range begins that it asks for.
fn asked(stream: &TcpStream) -> Option<usize> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let lines: Vec<String> = lines.collect();
    let range = lines.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned))?;
    range.trim_end_matches('-').parse().ok()
}

/// Fetches the archive from a server that does what servers should.
pub fn from_a_good_one(stage: &Stage) -> Result<Call> {
    let url = serve(|stream, file, start, _| honest(stream, file, start, usize::MAX), fs::read(stage.archive()?)?)?;
    Ok(fetching(stage, &url))
}

fn fetching(stage: &Stage, url: &str) -> Call {
    stage.call(&["data", "fetch", "cifar100", "--mirror", url, "--trust", "--part", "-q"])
}

/// What a good server's file becomes.
pub fn expected(stage: &Stage) -> Result<Outcome> {
    let place = stage.place("fetched")?;
    Fetch { archive: stage.archive()? }.next(stage, &place).run(&place)?;
    Outcome::of_tree(&place.join("data/cifar100"))
}

/// One trial: the archive arrives whole, or the program says why not.
pub fn trial(answer: Answer, name: &str, stage: &Stage, place: &Path, expected: &Outcome) -> Result<Verdict> {
    let archive = stage.archive()?;
    let fetch = Fetch { archive: archive.clone() };
    let url = serve(answer, fs::read(archive)?)?;
    let ending = fetching(stage, &url).run(place)?;
    let told = |why: &str| format!("{name}: {why}");
    Ok(match Verdict::of_failure(&ending) {
        Some(Verdict::Refused(why)) => {
            // What failed is no obstacle for what is right.
            let again = fetch.next(stage, place).run(place)?;
            let found = Outcome::of_tree(&place.join("data/cifar100"))?;
            match expected.difference(&found) {
                _ if !again.is_done() => Verdict::Stuck(told(again.sentence())),
                Some(difference) => Verdict::Another(told(&difference)),
                None => Verdict::Refused(why),
            }
        }
        Some(verdict) => verdict,
        None => match expected.difference(&Outcome::of_tree(&place.join("data/cifar100"))?) {
            None => Verdict::Same,
            Some(difference) => Verdict::Another(told(&difference)),
        },
    })
}
