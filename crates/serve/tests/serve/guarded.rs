//! Who may ask, who may change.

use rehearsal_serve::{Options, ServeError, Server};
use serde_json::json;

use crate::{
    client::{get, post_json, send},
    photos::photo,
    server::Serving,
};

const TOKEN: &str = "correct-horse-battery-staple";

#[test]
fn without_the_token_only_the_page_and_the_state_of_health_are_answered() {
    let serving = Serving::empty(|options| options.token = Some(TOKEN.into()));
    let address = serving.address;
    for open in ["/", "/app.js", "/style.css", "/healthz", "/openapi.json"] {
        assert_eq!(get(address, open).status, 200, "{open}");
    }
    for closed in ["/v1/model", "/v1/memory", "/metrics", "/v1/jobs", "/nothing"] {
        let answer = get(address, closed);
        assert_eq!((answer.status, answer.code()), (401, "unauthorized".into()), "{closed}");
    }
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(send(address, "GET", "/v1/model", &[("Authorization", &bearer)], &[]).status, 200);
    assert_eq!(send(address, "GET", "/v1/model", &[("Authorization", "Bearer wrong")], &[]).status, 401);
    assert_eq!(get(address, &format!("/v1/model?token={TOKEN}")).status, 401, "never in a URL");
    assert_eq!(post_json(address, "/v1/session", &json!({ "token": "wrong" })).status, 401);
    let begun = post_json(address, "/v1/session", &json!({ "token": TOKEN }));
    let cookie = begun.header("set-cookie").unwrap();
    assert!(begun.status == 204 && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN));
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(send(address, "GET", "/v1/model", &[("Cookie", cookie)], &[]).status, 200);
    assert!(serving.log.lock().unwrap().iter().all(|line| !line.contains(TOKEN)));
}

#[test]
fn other_names_and_other_sites_are_refused() {
    let serving = Serving::empty(|options| options.names = vec!["shop.example".into()]);
    let address = serving.address;
    let host = |host: &str| send(address, "GET", "/v1/model", &[("Host", host)], &[]).status;
    assert_eq!((host("127.0.0.1:7860"), host("shop.example"), host("evil.example")), (200, 200, 403));
    let origin = |origin: &str| {
        let headers = [("Host", "localhost:7860"), ("Origin", origin), ("Content-Type", "application/json")];
        send(address, "POST", "/v1/classes/retire", &headers, br#"{"class":"a"}"#)
    };
    assert_eq!(origin("http://localhost:7860").code(), "no_version");
    assert_eq!(origin("http://evil.example").code(), "forbidden_origin");
    assert_eq!(origin("http://localhost:8080").code(), "forbidden_origin", "another program on this machine");
}

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let writing = Serving::taught();
    let place = tempfile::tempdir().unwrap();
    let model = place.path().join("copy.model");
    copy(&writing.model, &model);
    let serving = Serving::empty(|options| (options.read_only, options.model) = (true, model.clone()));
    let address = serving.address;
    assert_eq!(get(address, "/v1/model").json()["read_only"], true);
    assert_eq!(crate::client::post(address, "/v1/predict", "image/png", &photo("bars", 3)).status, 200);
    let (kind, body) = crate::photos::lesson(&["checks"], 0..2);
    for (path, kind, body) in [
        ("/v1/learn", kind.as_str(), body.as_slice()),
        ("/v1/classes/retire", "application/json", br#"{"class":"bars"}"#),
        ("/v1/versions/1/use", "application/json", b""),
        ("/v1/memory/remove", "application/json", br#"{"photos":["ba7816bf8f01cfea414140de5dae2223"]}"#),
    ] {
        let answer = crate::client::post(address, path, kind, body);
        assert_eq!((answer.status, answer.code()), (403, "read_only".into()), "{path}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            assert!(std::fs::copy(entry.path(), target).is_ok());
        }
    }
}

#[test]
fn an_address_that_others_reach_needs_a_good_token_and_a_taken_one_is_told() {
    let place = tempfile::tempdir().unwrap();
    let start = |change: &dyn Fn(&mut Options)| {
        let mut options = Options { port: 0, ..Options::new(place.path().join("m")) };
        change(&mut options);
        Server::start(options).err()
    };
    let open = |options: &mut Options| options.host = "0.0.0.0".parse().unwrap();
    assert!(matches!(start(&open), Some(ServeError::NoToken(_))));
    assert!(matches!(start(&|options| options.token = Some("short".into())), Some(ServeError::Token(_))));
    assert!(matches!(
        start(&|options| options.token = Some("with spaces in it 1234".into())),
        Some(ServeError::Token(_))
    ));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    assert!(matches!(start(&|options| options.port = port), Some(ServeError::Address { .. })));
    std::fs::create_dir(place.path().join("m")).unwrap();
    std::fs::write(place.path().join("m/notes.txt"), "mine").unwrap();
    assert!(matches!(start(&|_| ()), Some(ServeError::Model(rehearsal_model::ModelError::Foreign { .. }))));
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let serving = Serving::empty(|_| ());
    for path in ["/", "/v1/model", "/nothing", "/v1/predict"] {
        let answer = get(serving.address, path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'self'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    assert_eq!(
        (get(serving.address, "/nothing").code(), get(serving.address, "/v1/predict").code()),
        ("not_found".into(), "method_not_allowed".into())
    );
}
