//! `rehearsal serve`: what it says when it starts, and how it ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use crate::{
    program::{output, rehearsal, text},
    shop::Shop,
};

/// A server that listens, and its address.
fn start(shop: &Shop) -> (Child, String) {
    let mut command = rehearsal(shop.path(), &["serve", "shop.model", "--port", "0"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("shop.model on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, address)
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_answers_and_ends_with_0_when_it_is_told_to() {
    let shop = Shop::new();
    for signal in ["-TERM", "-INT"] {
        let (mut child, address) = start(&shop);
        assert!(get(&address, "/").contains("<title>Rehearsal"), "the page");
        assert!(get(&address, "/v1/model").contains("\"current\":null"), "no model yet");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
    assert!(!shop.path().join("shop.model").exists(), "nothing was learned");
}

#[test]
fn wrong_input_is_refused_before_it_listens() {
    let shop = Shop::new();
    std::fs::create_dir_all(shop.path().join("photos/boots")).unwrap();
    std::fs::write(shop.path().join("empty.txt"), "").unwrap();
    for (arguments, keyword) in [
        (vec!["serve", "photos"], "is not a model"),
        (vec!["serve", "m", "--host", "0.0.0.0", "--port", "0"], "REHEARSAL_TOKEN"),
        (vec!["serve", "m", "--token", "short"], "at least 16"),
        (vec!["serve", "m", "--token-file", "empty.txt"], "at least 16"),
        (vec!["serve", "m", "--token-file", "none.txt"], "none.txt"),
        (vec!["serve", "m", "--host", "shop"], "invalid"),
    ] {
        let refused = output(shop.path(), &arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(text(&refused.stderr).contains(keyword), "{arguments:?}: {}", text(&refused.stderr));
    }
}
