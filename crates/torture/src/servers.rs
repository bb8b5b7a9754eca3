//! Hostile servers on this machine, for `data fetch`.

use std::{
    fs,
    io::{BufRead, BufReader, Result as IoResult, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
    time::Duration,
};

use anyhow::Result;

use crate::{
    process::Call,
    random::Random,
    snapshot::Snapshot,
    table::{ARCHIVE, FETCH, FETCH_BY_HAND, FETCHED},
    tally::{Verdict, Wrong},
    workspace::Workspace,
};

/// A request for a file.
struct Request<'a> {
    stream: TcpStream,
    file: &'a [u8],
    /// The start of the range that it asks for.
    start: Option<usize>,
    /// The number of requests before it.
    before: usize,
}

type Answer = fn(&mut Request) -> IoResult<()>;

pub const COUNT: usize = SERVERS.len();
const SERVERS: &[(&str, Answer)] = &[
    ("a good server", |request| request.serve(usize::MAX)),
    ("cut after each 5,000 bytes", |request| request.serve(5000)),
    ("says more than it sends, the last time less", |request| {
        let rest = &request.file[request.start.unwrap_or(0).min(request.file.len())..];
        let honest = request.before >= 2;
        request.sized(request.file.len() + if honest { 0 } else { 1000 }, if honest { request.file } else { rest })
    }),
    ("says less than it sends", |request| request.sized(request.file.len() / 2, request.file)),
    ("no length, and cut", |request| request.reply("200 OK", &request.file[..request.file.len() / 3])),
    ("redirects in a circle", |request| {
        request.reply("302 Found\r\nLocation: /cifar-100-binary.tar.gz\r\nContent-Length: 0", b"")
    }),
    ("redirects to a file of this machine", |request| {
        request.reply("302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0", b"")
    }),
    ("a page in place of the archive", |request| request.sized(21, b"<html>Log in.</html>\n")),
    ("nothing", |request| request.sized(0, b"")),
    ("404", |request| request.reply("404 Not Found\r\nContent-Length: 0", b"")),
    ("headers without end", |request| {
        write!(request.stream, "HTTP/1.1 200 OK\r\n")?;
        (0..100_000).try_for_each(|i| write!(request.stream, "X-{i}: {i}\r\n"))
    }),
    ("another range than was asked for", |request| match request.start {
        None => request.serve(5000),
        Some(_) => request.partial(7, usize::MAX),
    }),
    ("noise in place of the archive", |request| {
        let noise = Random::new(1, "noise", 0).bytes(request.file.len());
        request.sized(noise.len(), &noise)
    }),
    ("a length beyond all numbers", |request| {
        request.reply("200 OK\r\nContent-Length: 99999999999999999999999", request.file)
    }),
    ("without end", |request| {
        request.reply("200 OK", b"")?;
        loop {
            request.stream.write_all(&[7; 1 << 16])?;
        }
    }),
    ("a byte a second", |request| {
        request.sized(request.file.len(), b"")?;
        request.file.iter().try_for_each(|byte| {
            thread::sleep(Duration::from_secs(1));
            request.stream.write_all(&[*byte])
        })
    }),
    ("silence", |_| {
        thread::sleep(Duration::from_mins(5));
        Ok(())
    }),
    ("200 and 416 in turn", |request| match request.start {
        None => request.serve(5000),
        Some(_) => request.reply("416 Range Not Satisfiable\r\nContent-Length: 0", b""),
    }),
    ("500 for ever", |request| request.reply("500 Sorry\r\nContent-Length: 0", b"")),
    ("closes at once", |_| Ok(())),
    ("not HTTP", |request| request.stream.write_all(b"220 mail.example.org ESMTP\r\n")),
];

impl Request<'_> {
    /// A status line, perhaps with headers, and a body.
    fn reply(&mut self, head: &str, body: &[u8]) -> IoResult<()> {
        write!(self.stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n")?;
        self.stream.write_all(body)
    }

    fn sized(&mut self, length: usize, body: &[u8]) -> IoResult<()> {
        self.reply(&format!("200 OK\r\nContent-Length: {length}"), body)
    }

    /// The file, or the rest of it that was asked for, but at most some bytes.
    fn serve(&mut self, most: usize) -> IoResult<()> {
        let (file, length) = (self.file, self.file.len());
        match self.start {
            Some(start) => self.partial(start.min(length), most),
            None => {
                self.reply(&format!("200 OK\r\nContent-Length: {length}\r\nETag: \"one\""), &file[..length.min(most)])
            }
        }
    }

    fn partial(&mut self, from: usize, most: usize) -> IoResult<()> {
        let (body, total) = (&self.file[from..], self.file.len());
        let head = format!(
            "206 Partial Content\r\nContent-Range: bytes {from}-{}/{total}\r\nContent-Length: {}\r\nETag: \"one\"",
            total - 1,
            body.len()
        );
        self.reply(&head, &body[..body.len().min(most)])
    }
}

/// Starts a server, and gives the command that fetches the archive from it.
fn fetch(workspace: &Workspace, answer: Answer) -> Result<Call> {
    let file = fs::read(workspace.shared(ARCHIVE))?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let call = workspace.call(&format!("{FETCH} --mirror http://{}", listener.local_addr()?));
    thread::spawn(move || {
        for (before, stream) in listener.incoming().flatten().enumerate() {
            let file = file.clone();
            thread::spawn(move || {
                let start = requested_start(&stream);
                answer(&mut Request { stream, file: &file, start, before })
            });
        }
    });
    Ok(call)
}

/// Reads a request: the start of the range that it asks for.
fn requested_start(stream: &TcpStream) -> Option<usize> {
    let lines = BufReader::new(stream).lines().map_while(IoResult::ok).take_while(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| line.to_lowercase()).collect();
    lines.iter().find_map(|line| line.strip_prefix("range: bytes="))?.trim_end_matches('-').parse().ok()
}

pub fn fetch_from_good_server(workspace: &Workspace) -> Result<Call> {
    fetch(workspace, SERVERS[0].1)
}

/// What the archive becomes.
pub fn expected(workspace: &Workspace) -> Result<Snapshot> {
    let directory = workspace.directory("fetched")?;
    let exit = workspace.call(FETCH_BY_HAND).succeed(&directory)?;
    Snapshot::new(FETCHED, &directory, &exit)
}

/// One trial: the archive arrives complete, or the program says why not, and then takes it if it was fetched by hand.
pub fn trial(number: usize, workspace: &Workspace, directory: &Path, expected: &Snapshot) -> Result<(String, Verdict)> {
    let (name, answer) = SERVERS[number];
    let mut exit = fetch(workspace, answer)?.run(directory)?;
    let first = Verdict::of_failure(&exit).unwrap_or(Verdict::Same);
    if matches!(first, Verdict::Refused(_)) {
        exit = workspace.call(FETCH_BY_HAND).run(directory)?;
    }
    let verdict = match first {
        wrong @ Verdict::Wrong(..) => wrong,
        _ if !exit.is_success() => Verdict::Wrong(Wrong::Stuck, exit.message().into()),
        first => match expected.compare(FETCHED, directory, &exit) {
            Verdict::Same => first,
            another => another,
        },
    };
    Ok((name.into(), verdict.after(name)))
}
