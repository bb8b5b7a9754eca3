//! Predictions, in every form that a request may have.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    client::{form, get, post, post_json},
    photos::photo,
    server::Serving,
};

#[test]
fn bytes_a_form_json_and_the_dialect_of_hugging_face_give_the_same_answer() {
    let serving = Serving::taught();
    let address = serving.address;
    let file = photo("stripes", 50);
    let plain = post(address, "/v1/predict?explain=true", "image/png", &file).json();
    let best = &plain["predictions"][0];
    assert_eq!((&plain["version"], &best["class"]), (&json!(1), &json!("stripes")), "{plain}");
    assert_eq!(best["similar"].as_array().unwrap().len(), 3);
    let thumbnail = get(address, best["similar"][0]["thumbnail"].as_str().unwrap());
    assert_eq!((thumbnail.status, thumbnail.header("content-type")), (200, Some("image/jpeg")));
    assert_eq!(&thumbnail.body[..2], [0xff, 0xd8]);

    let (kind, body) = form(&[Err(("a.png", &file)), Err(("b.png", &photo("bars", 51)))]);
    let several = post(address, "/v1/predict", &kind, &body).json();
    let probability = |prediction: &Value| prediction["probability"].as_f64().unwrap().to_bits();
    assert_eq!(several["predictions"][0]["name"], "a.png");
    assert_eq!(several["predictions"][1]["class"], "bars");
    assert_eq!(probability(&several["predictions"][0]), probability(best), "a batch changes nothing");

    let text = BASE64_STANDARD.encode(&file);
    for image in [text.clone(), format!("data:image/png;base64,{text}"), text.trim_end_matches('=').to_owned()] {
        let answer =
            post_json(address, "/v1/predict", &json!({ "photos": [{ "name": "x.png", "image": image }] })).json();
        assert_eq!(probability(&answer["predictions"][0]), probability(best));
    }
    for path in ["/", "/models/shop"] {
        let labels = post(address, path, "image/png", &file).json();
        assert_eq!(
            (&labels[0]["label"], labels[0]["score"].as_f64().map(f64::to_bits)),
            (&json!("stripes"), Some(probability(best)))
        );
        assert_eq!(labels.as_array().unwrap().len(), 2);
    }
    let top = json!({ "inputs": text, "parameters": { "top_k": 1 } });
    assert_eq!(post_json(address, "/models/shop", &top).json().as_array().unwrap().len(), 1);
}

#[test]
fn what_is_no_photo_is_named_and_an_empty_model_says_so() {
    let serving = Serving::empty(|_| ());
    let address = serving.address;
    let none = post(address, "/v1/predict", "image/png", &photo("bars", 1));
    assert_eq!((none.status, none.code()), (409, "no_version".into()));
    assert_eq!(get(address, "/readyz").status, 503);
    assert_eq!(get(address, "/v1/model").json()["current"], Value::Null);
    serving.learn(&["stripes", "bars"], 0..6);
    assert_eq!(get(address, "/readyz").status, 200);
    let mut cut = photo("bars", 2);
    cut.truncate(cut.len() / 2);
    let (kind, body) = form(&[Err(("good.png", &photo("bars", 1))), Err(("cut.png", &cut))]);
    let refused = post(address, "/v1/predict", &kind, &body);
    assert_eq!((refused.status, refused.code()), (422, "unreadable_photo".into()));
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("cut.png"));
    let text = post(address, "/v1/predict", "text/plain", b"hello");
    assert_eq!((text.status, text.code()), (422, "unreadable_photo".into()));
    assert_eq!(post(address, "/v1/predict", "image/png", b"").status, 422);
    assert_eq!(post(address, "/v1/predict?version=7", "image/png", &photo("bars", 1)).status, 404);
    assert_eq!(post(address, "/v1/predict?explian=true", "image/png", &photo("bars", 1)).code(), "bad_request");
}
