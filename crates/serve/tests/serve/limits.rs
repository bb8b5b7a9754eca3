//! What is refused: each limit by itself, with an answer, and without using up memory.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::{
    client::{form, get, post, raw, request},
    photos::{encoded, photo},
    server::Serving,
};

#[test]
fn bodies_are_limited_also_if_they_do_not_say_how_long_they_are() {
    let serving = Serving::limited(|limits| limits.body = 100_000);
    let large = vec![7; 100_001];
    for path in ["/v1/predict", "/v1/learn", "/v1/classes/rename", "/"] {
        let answer = post(serving.address, path, "application/json", &large);
        assert_eq!((answer.status, answer.code()), (413, "too_large".into()), "{path}");
    }
    let (kind, _) = form(&[]);
    let head = format!(
        "POST /v1/learn HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let mut chunked = head.into_bytes();
    let part = b"--XX\r\nContent-Disposition: form-data; name=\"p\"; filename=\"a\"\r\n\r\n";
    for chunk in [&part[..], &large] {
        chunked.extend(format!("{:x}\r\n", chunk.len()).bytes());
        chunked.extend(chunk);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    let answer = raw(serving.address, &chunked).unwrap();
    assert_eq!((answer.status, answer.code()), (413, "too_large".into()));
}

#[test]
fn photos_of_a_request_are_limited() {
    let serving = Serving::limited(|limits| (limits.photos, limits.learned) = (2, 3));
    serving.learn(&["stripes"], 0..1);
    let file = photo("bars", 1);
    let photos = |count: usize| form(&vec![Err(("a.png", file.as_slice())); count]);
    let (kind, body) = photos(3);
    let learned = Serving::taught_with(|options| (options.limits.photos, options.limits.learned) = (2, 100));
    assert_eq!(post(learned.address, "/v1/predict", &kind, &body).code(), "too_large");
    let named: Vec<_> = std::iter::once(Ok("bars")).chain((0..4).map(|_| Err(("a.png", file.as_slice())))).collect();
    let (kind, body) = form(&named);
    assert_eq!(post(serving.address, "/v1/learn", &kind, &body).code(), "too_large");
}

#[test]
fn pixels_are_counted_before_they_are_decoded() {
    let serving = Serving::taught_with(|options| options.limits.pixels = 1_000_000);
    let large = encoded(&image::RgbImage::new(1001, 1000));
    assert!(large.len() < 20_000, "a bomb is small: {}", large.len());
    let refused = post(serving.address, "/v1/predict", "image/png", &large);
    assert_eq!((refused.status, refused.code()), (413, "too_large".into()));
    let (kind, body) = form(&[Ok("bars"), Err(("bomb.png", &large))]);
    assert_eq!(post(serving.address, "/v1/learn", &kind, &body).code(), "too_large");
    assert_eq!(
        post(serving.address, "/v1/predict", "image/png", &encoded(&image::RgbImage::new(1000, 1000))).status,
        200
    );
}

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn zip_files_are_limited_and_lead_nowhere() {
    let serving = Serving::limited(|limits| (limits.zip_entries, limits.zip_bytes) = (3, 1_000_000));
    let learn = |body: &[u8]| post(serving.address, "/v1/learn", "application/zip", body);
    let zeros = vec![0; 1_000_001];
    let bomb = zipped(&[("a/bomb.png", &zeros)]);
    assert!(bomb.len() < 5_000, "{}", bomb.len());
    assert_eq!((learn(&bomb).status, learn(&bomb).code()), (413, "too_large".into()));
    let four = zipped(&[("a/1.txt", b""), ("a/2.txt", b""), ("a/3.txt", b""), ("a/4.txt", b"")]);
    assert_eq!(learn(&four).code(), "too_large");
    let out = zipped(&[("../../a/1.png", &photo("bars", 1))]);
    assert_eq!((learn(&out).status, learn(&out).code()), (400, "bad_request".into()));
    assert_eq!(learn(b"not a zip file").code(), "bad_request");
    assert_eq!(learn(&zipped(&[("notes.txt", b"x")])).code(), "bad_request", "no photo");
    assert!(!serving.model.exists(), "nothing was made of it");
}

#[test]
fn slow_clients_are_ended_and_others_get_their_place() {
    let serving = Serving::limited(|limits| {
        limits.connections = 4;
        limits.head_time = Duration::from_millis(300);
        limits.body_time = Duration::from_millis(300);
    });
    let mut idle: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(serving.address).unwrap()).collect();
    idle[0].write_all(b"GET / HTT").unwrap();
    let begun = Instant::now();
    assert_eq!(get(serving.address, "/healthz").status, 200, "after those that say nothing were closed");
    assert!(begun.elapsed() < Duration::from_secs(20));
    let mut slow = TcpStream::connect(serving.address).unwrap();
    slow.write_all(b"POST /v1/learn HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/zip\r\nContent-Length: 1000\r\n\r\nPK").unwrap();
    let mut answer = String::new();
    slow.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = slow.read_to_string(&mut answer);
    assert!(answer.contains("408") && answer.contains("too_slow"), "{answer}");
}

#[test]
fn beyond_the_queue_requests_are_refused_at_once_and_may_come_again() {
    let serving = Serving::taught_with(|options| options.limits.queue = 1);
    let address = serving.address;
    let file = photo("bars", 1);
    let body: Vec<_> = (0..32).map(|_| Err(("a.png", file.as_slice()))).collect();
    let (kind, body) = form(&body);
    let ask = || post(address, "/v1/predict", &kind, &body);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 429)));
    assert!(!refused.is_empty() && refused.len() < 16, "{}", refused.len());
    assert!(refused.iter().all(|answer| answer.header("retry-after") == Some("1")));
    assert_eq!(ask().status, 200);
}

#[test]
fn bytes_that_are_being_answered_are_limited() {
    let serving = Serving::limited(|limits| (limits.body, limits.bodies) = (1 << 20, 2 << 20));
    let head = b"POST /v1/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/zip\r\nContent-Length: 1048576\r\n\r\n";
    let waiting: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(serving.address).unwrap();
            stream.write_all(head).unwrap();
            stream
        })
        .collect();
    let ask = || {
        raw(serving.address, &request("POST", "/v1/learn", &[("Content-Type", "application/zip")], &[7; 5000])).unwrap()
    };
    let begun = Instant::now();
    while ask().status != 429 {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    drop(waiting);
    while ask().status != 400 {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
