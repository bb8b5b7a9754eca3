//! The description of the API, `API.md`, and what is answered are one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{client::send, server::Serving};

fn described() -> BTreeSet<(String, String)> {
    let described: Value = serde_json::from_str(&rehearsal_serve::openapi()).unwrap();
    let paths = described["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())))
        .collect()
}

/// `/v1/jobs/1/events` as `/v1/jobs/{}/events`, and so for identities and names.
fn pattern(path: &str) -> String {
    let is_example = |part: &str| {
        part.starts_with('{')
            || part == "NAME"
            || part == "VERSION"
            || part == "N"
            || part.starts_with("9f86")
            || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    path.split('/').map(|part| if is_example(part) { "{}" } else { part }).collect::<Vec<_>>().join("/")
}

#[test]
fn api_md_and_the_description_name_the_same_requests() {
    let text = include_str!("../../API.md");
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == '`').filter(|word| !word.is_empty()).collect();
    let named = words.windows(2).filter(|pair| ["GET", "POST"].contains(&pair[0]) && pair[1].starts_with('/'));
    let path = |word: &str| pattern(word.split('?').next().unwrap_or(word).trim_end_matches([':', ',', '.']));
    let named: BTreeSet<(String, String)> = named.map(|pair| (pair[0].to_owned(), path(pair[1]))).collect();
    let described: BTreeSet<_> = described().into_iter().map(|(method, path)| (method, pattern(&path))).collect();
    assert_eq!(named, described);
}

#[test]
fn everything_that_is_described_is_answered() {
    let serving = Serving::empty(|_| ());
    for (method, path) in described() {
        let path = path.replace("{id}", "1").replace("{version}", "1").replace("{name}", "shop");
        let answer = send(serving.address, &method, &path, &[], &[]);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status != 405 && !text.contains("nothing at this path"), "{method} {path}: {text}");
    }
}
