//! Teaching, memory, classes and versions.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{
    client::{get, post, post_json, raw, request},
    photos::{lesson, photo},
    server::Serving,
};

fn classes(serving: &Serving) -> Vec<String> {
    let model = get(serving.address, "/v1/model").json();
    let classes = model["current"]["classes"].as_array().unwrap().iter();
    classes.map(|class| class["class"].as_str().unwrap().to_owned()).collect()
}

fn remembered(serving: &Serving, query: &str) -> Vec<Value> {
    get(serving.address, &format!("/v1/memory?{query}")).json()["photos"].as_array().unwrap().clone()
}

#[test]
fn sessions_are_learned_followed_and_remembered() {
    let serving = Serving::taught();
    let address = serving.address;
    let job = serving.learn(&["checks"], 0..8);
    assert_eq!((&job["state"], &job["version"], &job["read"]), (&json!("learned"), &json!(2), &json!(8)), "{job}");
    assert_eq!(job["report"]["new_classes"], json!(["checks"]));
    assert_eq!(classes(&serving), ["bars", "checks", "stripes"]);
    let answer = post(address, "/v1/predict", "image/png", &photo("checks", 60)).json();
    assert_eq!(answer["predictions"][0]["class"], "checks");
    let again = serving.learn(&["checks"], 0..8);
    assert_eq!((&again["state"], &again["version"]), (&json!("nothing-new"), &Value::Null));
    assert!(again["notices"][0].as_str().unwrap().contains("seen before"), "{again}");

    let events = raw(address, &request("GET", "/v1/jobs/2/events", &[], &[])).unwrap();
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    assert!(String::from_utf8_lossy(&events.body).contains("event: job"), "{events:?}");
    assert!(String::from_utf8_lossy(&events.body).contains("\"state\":\"learned\""), "it ends with the last state");
    assert_eq!(get(address, "/v1/jobs").json().as_array().unwrap().len(), 3);
    assert_eq!(get(address, "/v1/jobs/99").status, 404);
    let sources = remembered(&serving, "class=checks");
    assert!(sources[0]["source"].as_str().unwrap().starts_with("upload/20"), "{sources:?}");
    let events: Vec<Value> = get(address, "/v1/history").json().as_array().unwrap().clone();
    assert_eq!(events.iter().map(|event| event["event"].as_str().unwrap()).collect::<Vec<_>>(), ["learned", "learned"]);
}

#[test]
fn a_session_follows_while_it_runs() {
    let serving = Serving::empty(|_| ());
    let (kind, body) = lesson(&["stripes", "bars"], 0..20);
    let job = post(serving.address, "/v1/learn", &kind, &body).json();
    let path = format!("/v1/jobs/{}/events", job["id"]);
    let events = raw(serving.address, &request("GET", &path, &[], &[])).unwrap();
    let text = String::from_utf8_lossy(&events.body).into_owned();
    assert!(text.matches("event: job").count() >= 2 && text.contains("\"learned\""), "{text}");
}

#[test]
fn memory_is_listed_drawn_moved_and_removed() {
    let serving = Serving::taught();
    let address = serving.address;
    // A photo with the wrong label.
    let wrong = crate::client::form(&[Ok("bars"), Err(("wrong.png", &photo("stripes", 70)))]);
    let job = post(address, "/v1/learn", &wrong.0, &wrong.1).json();
    assert_eq!(serving.finished(&job)["state"], "learned");
    let first = &remembered(&serving, "sort=doubtful&limit=1")[0];
    assert!(first["source"].as_str().unwrap().ends_with("wrong.png"), "the most doubtful comes first: {first}");
    assert_eq!((&first["doubtful"], &first["nearest"]), (&json!(true), &json!("stripes")));
    let id = first["id"].as_str().unwrap();
    let map = get(address, "/v1/memory/map").json();
    let points = map["points"].as_array().unwrap();
    assert_eq!(points.len(), 17);
    let inside = |point: &Value| ["x", "y"].iter().all(|axis| point[axis].as_f64().unwrap().abs() <= 1.0);
    assert!(points.iter().all(inside) && map["explained"][0].as_f64() > map["explained"][1].as_f64(), "{map}");

    let moved = post_json(address, "/v1/memory/move", &json!({ "photos": [id], "to": "stripes" }));
    assert_eq!((moved.status, moved.json()), (200, json!({ "version": 3, "photos": 1 })));
    assert_eq!(remembered(&serving, "class=bars").len(), 8);
    let removed = post_json(address, "/v1/memory/remove", &json!({ "photos": [id] }));
    assert_eq!((removed.status, &removed.json()["photos"]), (200, &json!(1)), "{removed:?}");
    assert_eq!(remembered(&serving, "").len(), 16);
    assert_eq!(get(address, &format!("/v1/memory/{id}/thumbnail")).status, 404);
    for (path, body, status) in [
        ("/v1/memory/remove", json!({ "photos": [id] }), 404),
        ("/v1/memory/remove", json!({ "photos": [] }), 400),
        ("/v1/memory/remove", json!({ "photos": ["../../etc/passwd"] }), 404),
        ("/v1/memory/move", json!({ "photos": [id], "to": "stripes" }), 404),
        ("/v1/memory/move", json!({ "photos": [id], "to": "" }), 400),
        ("/v1/memory/move", json!({ "photos": [id] }), 400),
    ] {
        assert_eq!(post_json(address, path, &body).status, status, "{path} {body}");
    }
    assert_eq!(get(address, "/v1/memory?class=boots").status, 404);
    assert_eq!(get(address, "/v1/memory?sort=size").status, 400);
}

#[test]
fn classes_change_versions_are_rolled_back_and_exported() {
    let serving = Serving::taught();
    let address = serving.address;
    serving.learn(&["checks"], 0..8);
    let rename = |from: &str, to: &str| post_json(address, "/v1/classes/rename", &json!({ "from": from, "to": to }));
    assert_eq!(rename("bars", "lines").json(), json!({ "version": 3 }));
    assert_eq!(rename("bars", "x").status, 404);
    assert_eq!(rename("lines", "checks").code(), "conflict");
    assert_eq!(post_json(address, "/v1/classes/retire", &json!({ "class": "checks" })).json()["version"], 4);
    assert_eq!(classes(&serving), ["lines", "stripes"]);
    let last = post_json(address, "/v1/classes/merge", &json!({ "from": "lines", "to": "stripes" }));
    assert_eq!((last.status, last.code()), (409, "conflict".into()), "one class would be left");
    assert_eq!(post_json(address, "/v1/versions/2/use", &Value::Null).json(), json!({ "version": 2, "before": 4 }));
    assert_eq!(classes(&serving), ["bars", "checks", "stripes"]);
    let versions = get(address, "/v1/versions").json();
    let brief = |version: &Value| (version["version"].clone(), version["event"].clone(), version["current"].clone());
    let brief: Vec<_> = versions.as_array().unwrap().iter().map(brief).collect();
    let events = ["learned", "learned", "renamed", "retired"];
    let expected: Vec<_> = (1..5).map(|n| (json!(n), json!(events[n - 1]), json!(n == 2))).collect();
    assert_eq!(brief, expected, "{versions}");
    assert_eq!(post_json(address, "/v1/versions/9/use", &Value::Null).status, 404);
    let onnx = get(address, "/v1/versions/3/onnx");
    assert!(onnx.status == 200 && onnx.body.len() > 1_000_000, "{}", onnx.head);
    let old = post(address, "/v1/predict?version=4", "image/png", &photo("bars", 80)).json();
    assert_eq!((&old["version"], &old["predictions"][0]["class"]), (&json!(4), &json!("lines")));
}

#[test]
fn a_change_by_another_process_is_noticed() {
    let serving = Serving::taught();
    let mut model = rehearsal_model::Model::open_to_change(&serving.model).unwrap();
    model.rename_class("bars", "lines").unwrap();
    let busy = post_json(serving.address, "/v1/classes/rename", &json!({ "from": "stripes", "to": "x" }));
    assert_eq!((busy.status, busy.code(), busy.header("retry-after")), (409, "busy".into(), Some("5")));
    drop(model);
    let begun = std::time::Instant::now();
    while classes(&serving) != ["lines", "stripes"] {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "it is not noticed");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(serving.log.lock().unwrap().iter().any(|line| line == "version 2 answers"));
}

#[test]
fn predictions_go_on_while_a_session_learns_and_versions_change() {
    let serving = Serving::taught();
    let address = serving.address;
    let (kind, body) = lesson(&["checks"], 0..60);
    let job = post(address, "/v1/learn", &kind, &body).json();
    let file = photo("stripes", 90);
    let mut versions = std::collections::BTreeSet::new();
    loop {
        let answer = post(address, "/v1/predict", "image/png", &file);
        assert_eq!(answer.status, 200, "{answer:?}");
        versions.insert(answer.json()["version"].as_u64().unwrap());
        if get(address, &format!("/v1/jobs/{}", job["id"])).json()["state"] == "learned" {
            break;
        }
    }
    assert!(versions.contains(&1), "{versions:?}");
    let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let answer = post(address, "/v1/predict", "image/png", &file);
                    assert_eq!(answer.status, 200, "no request is lost: {answer:?}");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for swap in 0..100 {
            let number = 1 + swap % 2;
            assert_eq!(post_json(address, &format!("/v1/versions/{number}/use"), &Value::Null).status, 200);
            let answer = post(address, "/v1/predict", "image/png", &file).json();
            assert_eq!(answer["version"], number, "it answers with the version that was chosen");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(asked.into_inner() >= 100, "others ask all the while");
}

#[test]
fn stopping_ends_the_session_that_was_accepted() {
    let mut serving = Serving::empty(|_| ());
    let (kind, body) = lesson(&["stripes", "bars"], 0..20);
    assert_eq!(post(serving.address, "/v1/learn", &kind, &body).status, 202);
    serving.stop();
    let model = rehearsal_model::Model::open(&serving.model).unwrap();
    assert_eq!(model.current().unwrap().learned(), 40);
}

#[test]
fn zips_and_json_teach_too() {
    use std::io::Write;
    let serving = Serving::empty(|_| ());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for class in ["stripes", "bags/bars"] {
        for number in 0..6 {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("photos/{class}/{number}.png"), options).unwrap();
            zip.write_all(&photo(class.rsplit('/').next().unwrap(), number)).unwrap();
        }
    }
    zip.start_file("photos/notes.txt", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"not a photo").unwrap();
    let body = zip.finish().unwrap().into_inner();
    let job = post(serving.address, "/v1/learn", "application/zip", &body);
    let finished = serving.finished(&job.json());
    assert_eq!(finished["state"], "learned", "{finished}");
    assert_eq!(classes(&serving), ["bags/bars", "stripes"]);
    let image = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, photo("checks", 1));
    let json = json!({ "photos": [{ "class": "checks", "name": "1.png", "image": image }] });
    let job = post_json(serving.address, "/v1/learn", &json);
    assert_eq!(serving.finished(&job.json())["state"], "learned");
    assert_eq!(classes(&serving), ["bags/bars", "checks", "stripes"]);
    let taught = |class: &str, photo: &[u8], query: &str| {
        let image = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, photo);
        let json = json!({ "photos": [{ "class": class, "name": "2.png", "image": image }] });
        serving.finished(&post_json(serving.address, &format!("/v1/learn{query}"), &json).json())
    };
    let similar = taught("Check", &photo("checks", 2), "");
    assert_eq!((&similar["state"], &similar["error"]["code"]), (&"failed".into(), &"conflict".into()), "{similar}");
    assert_eq!(taught("Check", &photo("checks", 2), "?as_is=true")["state"], "learned");
    let moved = taught("stripes", &photo("checks", 1), "");
    assert_eq!((&moved["state"], &moved["error"]["code"]), (&"failed".into(), &"conflict".into()), "{moved}");
    assert_eq!(taught("stripes", &photo("checks", 1), "?relabel=true")["state"], "learned");
}
