//! What Label Studio sends, as it sends it.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use rehearsal_serve::LabelStudio;
use serde_json::{Value, json};

use crate::{
    client::{get, post_json, send},
    photos::photo,
    server::Serving,
};

const CONFIG: &str = r#"<View><Image name="image" value="$photo"/><Choices name="kind" toName="image">
    <Choice value="Stripes"/><Choice value="Bars"/><Choice value="Checks"/></Choices></View>"#;

fn url(photo: &[u8]) -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(photo))
}

fn tasks(photos: &[String]) -> Value {
    let task = |(number, photo): (usize, &String)| json!({ "id": number, "project": 1, "data": { "photo": photo } });
    let tasks: Vec<Value> = photos.iter().enumerate().map(task).collect();
    json!({ "tasks": tasks, "project": "1.1763500000", "label_config": CONFIG, "params": { "login": null, "context": null } })
}

fn event(action: &str, photo: &str, choices: &[&str]) -> Value {
    let result =
        json!([{ "from_name": "kind", "to_name": "image", "type": "choices", "value": { "choices": choices } }]);
    json!({
        "action": action, "project": { "id": 1, "label_config": CONFIG }, "task": { "id": 7, "data": { "photo": photo } },
        "annotation": { "id": 3, "result": result, "was_cancelled": false },
    })
}

#[test]
fn a_project_connects_gets_choices_and_teaches_what_people_chose() {
    let serving = Serving::taught();
    let address = serving.address;
    assert_eq!(get(address, "/health").json()["status"], "UP");
    let setup = json!({ "project": "1.1763500000", "schema": CONFIG, "hostname": "http://x", "access_token": "y", "extra_params": null });
    assert_eq!(post_json(address, "/setup", &setup).json(), json!({ "model_version": "1" }));
    let other = json!({ "schema": "<View><Text name='t' value='$t'/></View>" });
    assert_eq!(post_json(address, "/setup", &other).code(), "bad_request");

    let asked = tasks(&[url(&photo("stripes", 50)), url(b"no photo"), url(&photo("bars", 51))]);
    let answer = post_json(address, "/predict", &asked).json();
    let chosen = |at: usize| answer["results"][at]["result"][0]["value"]["choices"][0].clone();
    assert_eq!((chosen(0), chosen(1), chosen(2)), (json!("Stripes"), Value::Null, json!("Bars")), "{answer}");
    assert_eq!(
        (&answer["results"][0]["result"][0]["from_name"], &answer["model_version"]),
        (&json!("kind"), &json!("1"))
    );
    assert!(serving.log.lock().unwrap().iter().any(|line| line.contains("task 1")));
    let none = post_json(address, "/predict", &tasks(&[url(b"no photo")]));
    assert_eq!((none.status, none.code()), (422, "unreadable_photo".into()), "one task alone says why");

    let file = url(&photo("checks", 52));
    let learned = post_json(address, "/webhook", &event("ANNOTATION_CREATED", &file, &["checks"]));
    assert_eq!(learned.status, 201, "{learned:?}");
    assert_eq!(serving.finished(&learned.json()["result"])["state"], "learned");
    let corrected = post_json(address, "/webhook", &event("ANNOTATION_UPDATED", &file, &["bars"]));
    let job = serving.finished(&corrected.json()["result"]);
    assert_eq!(job["state"], "learned", "a correction moves the photo: {job}");
    let photos = get(address, "/v1/memory?limit=100").json()["photos"].as_array().unwrap().clone();
    let ours: Vec<&Value> =
        photos.iter().filter(|photo| photo["source"].as_str().unwrap().ends_with("task 7")).collect();
    assert!(ours.len() == 1 && ours[0]["class"] == "bars", "{ours:?}");
}

#[test]
fn what_is_not_one_choice_is_not_learned() {
    let serving = Serving::taught();
    let file = url(&photo("checks", 52));
    let mut skipped = event("ANNOTATION_CREATED", &file, &["checks"]);
    skipped["annotation"]["was_cancelled"] = json!(true);
    let mut other = event("ANNOTATION_CREATED", &file, &["checks"]);
    other["annotation"]["result"][0]["from_name"] = json!("another");
    for nothing in [
        event("ANNOTATIONS_DELETED", &file, &["checks"]),
        event("ANNOTATION_CREATED", &file, &[]),
        event("ANNOTATION_CREATED", &file, &["checks", "bars"]),
        json!({ "action": "START_TRAINING", "project": { "id": 1 } }),
        skipped,
        other,
    ] {
        let answer = post_json(serving.address, "/webhook", &nothing);
        assert!(answer.status == 200 && answer.json().get("result").is_none(), "{answer:?}");
    }
    let mut bare = event("ANNOTATION_CREATED", &file, &["checks"]);
    bare["project"] = Value::Null;
    for bad in
        [bare, event("ANNOTATION_CREATED", &file, &["a\nb"]), event("ANNOTATION_CREATED", "data:,x", &["checks"])]
    {
        assert_eq!(post_json(serving.address, "/webhook", &bad).code(), "bad_request");
    }
    assert_eq!(get(serving.address, "/v1/jobs").json().as_array().unwrap().len(), 1, "only the first session");
}

#[test]
fn choices_that_come_while_a_session_learns_are_learned_together() {
    let serving = Serving::taught();
    let address = serving.address;
    let sent = (0..12).map(|number| {
        let answer =
            post_json(address, "/webhook", &event("ANNOTATION_CREATED", &url(&photo("checks", number)), &["checks"]));
        assert_eq!(answer.status, 201, "more than sessions can wait: {answer:?}");
        answer.json()["result"].clone()
    });
    for job in sent.collect::<Vec<_>>() {
        assert_eq!(serving.finished(&job)["state"], "learned");
    }
    let jobs = get(address, "/v1/jobs").json();
    let photos: u64 = jobs.as_array().unwrap().iter().map(|job| job["photos"].as_u64().unwrap()).sum();
    assert_eq!(photos, 16 + 12, "{jobs}");
    let model = get(address, "/v1/model").json();
    let checks = model["current"]["classes"].as_array().unwrap().iter().find(|class| class["class"] == "checks");
    assert_eq!(checks.unwrap()["learned"], 12);
}

/// A Label Studio that has one file, for whoever has the key; what it was asked is kept.
fn studio(file: Vec<u8>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).to_lowercase();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let has_key = head.contains("authorization: token the-key");
            let _ = match path.as_str() {
                "/data/upload/1/a.png" if has_key => {
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", file.len());
                    stream.write_all(&[head.as_bytes(), &file].concat())
                }
                "/data/away" => stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /data/upload/1/a.png\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                _ => stream.write_all(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            };
            heard.lock().unwrap().push(path);
        }
    });
    (address, asked)
}

#[test]
fn uploaded_photos_are_fetched_from_the_label_studio_that_was_named_and_from_nowhere_else() {
    let (address, asked) = studio(photo("stripes", 60));
    let named = LabelStudio::new(&address, Some("the-key".into())).unwrap();
    let serving = Serving::taught_with(|options| options.label_studio = Some(named));
    let predict = |photo: &str| post_json(serving.address, "/predict", &tasks(&[photo.to_owned()]));
    for ours in ["/data/upload/1/a.png".to_owned(), format!("{address}/data/upload/1/a.png")] {
        assert_eq!(predict(&ours).json()["results"][0]["result"][0]["value"]["choices"][0], "Stripes");
    }
    let learned =
        post_json(serving.address, "/webhook", &event("ANNOTATION_CREATED", "/data/upload/1/a.png", &["checks"]));
    assert_eq!(serving.finished(&learned.json()["result"])["state"], "learned");
    assert_eq!(predict("/data/away").status, 422, "redirects are not followed");
    assert_eq!(predict("/data/secret").status, 422);
    assert_eq!(asked.lock().unwrap().len(), 5);
    let (elsewhere, nobody) = studio(photo("stripes", 60));
    let other = Serving::taught();
    for bad in [
        format!("{elsewhere}/data/upload/1/a.png"),
        "file:///etc/passwd".into(),
        "/etc/passwd".into(),
        "/api/users".into(),
    ] {
        assert_eq!(predict(&bad).status, 422, "{bad}");
        assert_eq!(post_json(other.address, "/predict", &tasks(&[bad])).status, 422, "no address without the option");
    }
    assert_eq!((nobody.lock().unwrap().len(), asked.lock().unwrap().len()), (0, 5));
    for bad in ["localhost:8080", "ftp://x", "http://", "http://a/b", "http://user@host"] {
        assert!(LabelStudio::new(bad, None).is_err(), "{bad}");
    }
}

#[test]
fn the_token_may_be_the_password_of_basic_authentication() {
    let serving = Serving::empty(|options| options.token = Some("correct-horse-battery-staple".into()));
    let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
    let status = |value: &str| send(serving.address, "GET", "/health", &[("Authorization", value)], &[]).status;
    assert_eq!(status(&basic("studio:correct-horse-battery-staple")), 200);
    assert_eq!(status(&basic("studio:wrong")), 401);
}
