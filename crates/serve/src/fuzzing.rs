//! Every parser of what clients send, for fuzzing: it may refuse what it likes, but must not panic, hang or let through
//! what its limits forbid.

use std::path::{Component, Path};

use axum::{
    body::Body,
    extract::Request,
    http::{Method, header::CONTENT_TYPE},
};
use rehearsal_data::photos::Photo;
use tokio::runtime::{Builder, Runtime};

use crate::{Limits, dialects, photos};

/// How many parsers there are.
pub const PARSERS: u8 = 7;

thread_local! {
    static RUNTIME: Option<Runtime> = Builder::new_current_thread().enable_time().build().ok();
}

/// Small, so that they are reached.
fn limits() -> Limits {
    Limits {
        body: 1 << 16,
        photos: 8,
        learned: 16,
        pixels: 1 << 20,
        zip_entries: 16,
        zip_bytes: 1 << 16,
        ..Limits::default()
    }
}

/// Gives bytes to a parser.
pub fn parse(parser: u8, bytes: &[u8]) {
    match parser % PARSERS {
        0 => learned("multipart/form-data; boundary=XX", bytes),
        1 => learned("application/json", bytes),
        2 => learned("application/zip", bytes),
        3 => name(bytes),
        4 => dialects::fuzz_hugging_face(bytes),
        5 => drop(wait(dialects::fuzz_open_inference(request("application/json", bytes), limits()))),
        _ => dialects::fuzz_label_studio(bytes),
    }
}

fn request(kind: &str, bytes: &[u8]) -> Request {
    let mut request = Request::new(Body::from(bytes.to_vec()));
    *request.method_mut() = Method::POST;
    kind.parse().into_iter().for_each(|kind| drop(request.headers_mut().insert(CONTENT_TYPE, kind)));
    request
}

fn wait<T>(work: impl Future<Output = T>) -> Option<T> {
    RUNTIME.with(|runtime| runtime.as_ref().map(|runtime| runtime.block_on(work)))
}

fn learned(kind: &str, bytes: &[u8]) {
    let limits = limits();
    let Some(Ok(photos)) = wait(photos::to_learn(request(kind, bytes), &limits)) else { return };
    assert!((1..=limits.learned).contains(&photos.len()), "{}", photos.len());
    let total: usize = photos.iter().map(|photo| photo.bytes.as_ref().map_or(0, |bytes| bytes.len())).sum();
    assert!(total <= limits.body.max(limits.zip_bytes as usize), "{total}");
    photos.into_iter().for_each(|photo| check(&photos::remembered(photo, "2026-11-18")));
}

fn name(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let class = photos::class(&text).unwrap_or_else(|_| "class".into());
    check(&photos::remembered(photos::photo(&class, &text, Vec::new()), "2026-11-18"));
}

/// A photo has a class that can be shown, and a name that leads nowhere.
fn check(photo: &Photo) {
    assert!(!photo.class.trim().is_empty() && !photo.class.chars().any(char::is_control), "{:?}", photo.class);
    let path: &Path = &photo.path;
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().count() == 2;
    assert!(is_plain && !path.to_string_lossy().chars().any(char::is_control), "{}", path.display());
}

#[cfg(test)]
#[path = "../../data/tests/support/dice.rs"]
mod dice;
#[cfg(test)]
#[path = "../../data/tests/support/fuzzing.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PIXEL: &str = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

    fn gif() -> Vec<u8> {
        photos::from_base64(PIXEL).unwrap()
    }

    /// The good bytes pass, so that damaged ones come far.
    fn fuzz_all(parsers: &[(u8, Vec<u8>)]) {
        for (parser, good) in parsers {
            parse(*parser, good);
        }
        let good: Vec<Vec<u8>> = parsers.iter().map(|(parser, good)| [&[*parser], &good[..]].concat()).collect();
        fuzz::fuzz(&good, |bytes| {
            if let Some((parser, bytes)) = bytes.split_first() {
                parse(*parser, bytes);
            }
        });
    }

    fn form() -> Vec<u8> {
        let part = |head: &str, body: &[u8]| {
            [format!("--XX\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(), body, b"\r\n"].concat()
        };
        let photo = |name: &str| part(&format!("name=\"photo\"; filename=\"{name}\""), &gif());
        [part("name=\"class\"", b"boots"), photo("1.gif"), photo("../2.gif"), b"--XX--\r\n".to_vec()].concat()
    }

    fn zip() -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in ["photos/boots/1.gif", "photos/clogs/2.gif", "photos/notes.txt"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&gif()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn forms() {
        assert_eq!(
            wait(photos::to_learn(request("multipart/form-data; boundary=XX", &form()), &limits()))
                .unwrap()
                .unwrap()
                .len(),
            2
        );
        fuzz_all(&[(0, form())]);
    }

    #[test]
    fn json_and_names() {
        let json =
            format!(r#"{{"photos": [{{"class": "boots", "name": "a/b.gif", "image": "{PIXEL}"}}]}}"#).into_bytes();
        assert_eq!(wait(photos::to_learn(request("application/json", &json), &limits())).unwrap().unwrap().len(), 1);
        fuzz_all(&[(1, json), (3, "bags/läder".into()), (3, "C:\\photos\\..\\\u{202e}x.jpg".into())]);
    }

    #[test]
    fn zip_files() {
        assert_eq!(wait(photos::to_learn(request("application/zip", &zip()), &limits())).unwrap().unwrap().len(), 2);
        fuzz_all(&[(2, zip())]);
    }

    #[test]
    fn dialects() {
        let face = format!(r#"{{"inputs": "{PIXEL}", "parameters": {{"top_k": 3}}}}"#);
        let tensor = format!(
            r#"{{"id": "1", "inputs": [{{"name": "image", "datatype": "BYTES", "shape": [1, 1], "data": [["{PIXEL}"]]}}], "outputs": [{{"name": "class"}}]}}"#
        );
        let config = "<View><Image name='p' value='$image'/><Choices name='k' toName='p'><Choice value='boots'/><Choice value='x' alias='&lt;y'/></Choices></View>";
        let event = format!(
            r#"{{"action": "ANNOTATION_CREATED", "project": {{"label_config": "{config}"}}, "task": {{"id": 7, "data": {{"image": "{PIXEL}"}}}},
            "annotation": {{"result": [{{"from_name": "k", "value": {{"choices": ["boots"]}}}}], "was_cancelled": false}}}}"#
        );
        let tasks = format!(
            r#"{{"tasks": [{{"id": 1, "data": {{"image": "/data/upload/1/a.gif"}}}}], "label_config": "{config}"}}"#
        );
        fuzz_all(&[(4, face.into()), (5, tensor.into()), (6, event.into()), (6, tasks.into()), (6, config.into())]);
    }
}
