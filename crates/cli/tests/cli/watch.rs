//! `rehearsal watch` and `rehearsal run --watch`: the page is there, and the run is the same to the last bit.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::program::{output, rehearsal, text};

/// Two tasks of two classes on a small network, with photos chosen by their change of loss.
const RUN: &str = "run --out run --backbone tiny --classes 4 --tasks 2 --train-per-class 60 --test-per-class 20 --epochs 3 --width 4 --memory 25 \
                   --candidates 12 --threads 1 --diagnostics";

fn get(address: &str, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

/// Where the page is, by the first line that says so.
fn address(child: &mut Child) -> String {
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map_while(Result::ok);
    let mut addresses = lines.filter_map(|line| Some(line.split_once("http://")?.1.trim().to_owned()));
    addresses.next().unwrap()
}

/// What does not depend on the time that it took.
fn lasting(run: &Path) -> (Vec<Value>, Vec<u8>, String, Value) {
    let lines = fs::read_to_string(run.join("steps.jsonl")).unwrap();
    let timeless = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        line
    };
    let mut result: Value = serde_json::from_slice(&fs::read(run.join("result.json")).unwrap()).unwrap();
    for measured in ["seconds", "samples_per_second", "peak_memory_bytes", "sha256"] {
        result.as_object_mut().unwrap().remove(measured);
    }
    let diagnostics = fs::read_to_string(run.join("diagnostics.jsonl")).unwrap();
    (lines.lines().map(timeless).collect(), fs::read(run.join("predictions.bin")).unwrap(), diagnostics, result)
}

#[test]
fn a_run_that_is_watched_has_the_same_bits() {
    let (alone, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let words: Vec<&str> = RUN.split_whitespace().collect();
    let ended = output(alone.path(), &words);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let mut child = rehearsal(watched.path(), &[&words[..], &["--watch=0"]].concat());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let page = address(&mut child);
    let (mut replayed, mut sides) = (0, 0);
    while child.try_wait().unwrap().is_none() {
        get(&page, "/v1/runs");
        get(&page, "/v1/run?name=run");
        if let Some(photos) =
            get(&page, "/v1/replayed").and_then(|shown| Some(shown.get("photos")?.as_array()?.clone()))
        {
            replayed += usize::from(photos.iter().all(|photo| photo["picture"].is_string()) && !photos.is_empty());
            sides += usize::from(
                photos.iter().any(|photo| photo["side"] == "conflicting" && photo["loss_change"].is_number()),
            );
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success());
    assert!(replayed > 0 && sides > 0, "{replayed} {sides}: it was looked at while it learned");
    assert!(TcpStream::connect(&page).is_err(), "the page ends with the run");
    let (alone, watched) = (lasting(&alone.path().join("run")), lasting(&watched.path().join("run")));
    assert_eq!(alone, watched);
}

#[test]
fn a_finished_run_is_shown_until_the_server_is_told_to_stop() {
    let place = tempfile::tempdir().unwrap();
    let words: Vec<&str> = RUN.split_whitespace().chain(["--quiet"]).collect();
    assert!(output(place.path(), &words).status.success());
    let mut child = rehearsal(place.path(), &["watch", "run", "--port", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let page = address(&mut child);
    let run = get(&page, "/v1/run?name=run").unwrap();
    assert_eq!((&run["state"], run["matrix"].as_array().unwrap().len()), (&"finished".into(), 2), "{run}");
    assert!(run["diagnostics"][1]["picks_high"]["class_mix"].is_array() && run["classes"][0].is_string(), "{run}");
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let refused = output(place.path(), &["watch", "nothing"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("not a directory"), "{}", text(&refused.stderr));
}
