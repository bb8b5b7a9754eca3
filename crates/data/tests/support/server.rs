//! A web server for tests: range requests, and everything that goes wrong with them.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

/// What the server does with a path.
#[derive(Clone)]
pub enum Answer {
    /// Sends the file, or the range that is asked for.
    File(Vec<u8>),
    /// Sends the whole file whatever is asked for.
    NoRanges(Vec<u8>),
    /// Promises the file, or the range, but cuts each connection after so many bytes.
    Cut(Vec<u8>, usize),
    /// The same, each connection after another number of bytes; those after the last are whole.
    Cuts(Vec<u8>, Vec<usize>),
    /// Sends one file's beginning first, and says that it is another file afterwards.
    Changes(Vec<u8>, Vec<u8>, usize),
    /// Sends so many bytes without saying how many they will be, and closes the connection.
    NoLength(Vec<u8>, usize),
    /// Sends a byte, waits so many milliseconds, sends the next.
    Drip(Vec<u8>, u64),
    /// Sends so many bytes at first, then says that there is no such range, and so on in turn.
    Alternates(Vec<u8>, usize),
    /// Sends to another path.
    Redirect(String),
    /// Answers with a status, so often, then sends the file.
    Fails(u16, usize, Vec<u8>),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub path: String,
    pub range: Option<String>,
    pub if_range: Option<String>,
}

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub fn start(answers: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: BTreeMap<String, Answer> =
            answers.into_iter().map(|(path, answer)| (path.into(), answer)).collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = serve(&stream.unwrap(), &answers, &log);
            }
        });
        Self { url, asked }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: &TcpStream, answers: &BTreeMap<String, Answer>, log: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let mut asked = Asked { path: path.clone(), range: None, if_range: None };
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
        match name.to_lowercase().as_str() {
            "range" => asked.range = Some(value.into()),
            "if-range" => asked.if_range = Some(value.into()),
            _ => {}
        }
    }
    let before = log.lock().unwrap().iter().filter(|earlier| earlier.path == path).count();
    log.lock().unwrap().push(asked.clone());
    let start = asked.range.as_ref().and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    match answers.get(&path) {
        None => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone"),
        Some(Answer::Redirect(to)) => {
            write!(stream, "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Some(Answer::Fails(status, times, _)) if before < *times => {
            write!(stream, "HTTP/1.1 {status} Sorry\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Some(Answer::File(file) | Answer::Fails(_, _, file)) => send(stream, file, start, usize::MAX, "\"one\""),
        Some(Answer::NoRanges(file)) => send(stream, file, None, usize::MAX, "\"one\""),
        Some(Answer::Cut(file, after)) => send(stream, file, start, *after, "\"one\""),
        Some(Answer::Cuts(file, after)) => {
            send(stream, file, start, after.get(before).copied().unwrap_or(usize::MAX), "\"one\"")
        }
        Some(Answer::NoLength(file, after)) => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            stream.write_all(&file[..*after])
        }
        Some(Answer::Drip(file, pause)) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", file.len())?;
            for byte in file {
                stream.write_all(&[*byte])?;
                std::thread::sleep(std::time::Duration::from_millis(*pause));
            }
            Ok(())
        }
        Some(Answer::Alternates(file, after)) if start.is_none() => send(stream, file, None, *after, "\"one\""),
        Some(Answer::Alternates(..)) => send(stream, &[], start, 0, "\"one\""),
        Some(Answer::Changes(file, _, after)) if before == 0 => send(stream, file, None, *after, "\"one\""),
        Some(Answer::Changes(_, file, _)) => {
            // If-Range names the other version: the whole of this one.
            let start = start.filter(|_| asked.if_range.as_deref() == Some("\"two\"") || asked.if_range.is_none());
            send(stream, file, start, usize::MAX, "\"two\"")
        }
    }
}

fn send(mut stream: &TcpStream, file: &[u8], start: Option<usize>, most: usize, tag: &str) -> std::io::Result<()> {
    let total = file.len();
    match start {
        Some(start) if start >= total => {
            return write!(
                stream,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Some(start) => write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{total}\r\nContent-Length: {}\r\n",
            total - 1,
            total - start
        )?,
        None => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n")?,
    }
    write!(stream, "ETag: {tag}\r\nConnection: close\r\n\r\n")?;
    let body = &file[start.unwrap_or(0)..];
    stream.write_all(&body[..body.len().min(most)])
}
