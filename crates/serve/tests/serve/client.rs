//! A client that can also say what no client should.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of an error.
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// Sends bytes and reads until the server closes; none if it closes without an answer.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    // The server may answer and close before it has read all.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parsed(&answer)
}

/// As [`raw`], but says that nothing more will come.
pub fn cut(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parsed(&answer)
}

fn parsed(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head, body: answer[end + 4..].to_vec() })
}

/// A request, as text and body.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += "Host: localhost\r\n";
    }
    if !body.is_empty() || method != "GET" {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
    [text.as_bytes(), b"\r\n", body].concat()
}

pub fn send(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    raw(address, &request(method, path, headers, body)).unwrap_or_else(|| panic!("no answer to {method} {path}"))
}

pub fn get(address: SocketAddr, path: &str) -> Answer {
    send(address, "GET", path, &[], &[])
}

pub fn post(address: SocketAddr, path: &str, kind: &str, body: &[u8]) -> Answer {
    send(address, "POST", path, &[("Content-Type", kind)], body)
}

pub fn post_json(address: SocketAddr, path: &str, body: &Value) -> Answer {
    post(address, path, "application/json", body.to_string().as_bytes())
}

/// A form: `Ok` is a class, `Err` a photo.
pub fn form(parts: &[Result<&str, (&str, &[u8])>]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for part in parts {
        body.extend(b"--XX\r\n");
        match part {
            Ok(class) => body.extend(format!("Content-Disposition: form-data; name=\"class\"\r\n\r\n{class}").bytes()),
            Err((name, bytes)) => {
                let head = format!("Content-Disposition: form-data; name=\"photo\"; filename=\"{name}\"\r\n\r\n");
                body.extend(head.bytes());
                body.extend(*bytes);
            }
        }
        body.extend(b"\r\n");
    }
    body.extend(b"--XX--\r\n");
    ("multipart/form-data; boundary=XX".into(), body)
}
