//! A thousand malformed requests: each has an answer below 500 or none at all, and the server lives.

use crate::{
    client::{cut, get, post, request},
    photos::{lesson, photo},
    server::Serving,
};

/// A small generator: the same requests in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn a_thousand_malformed_requests_end_below_500() {
    let serving = Serving::taught_with(|options| options.limits.head_time = std::time::Duration::from_millis(500));
    let (form_kind, form_body) = lesson(&["checks"], 0..2);
    let json: &[u8] = br#"{"photos": [{"class": "a", "name": "b", "image": "data:image/png;base64,iVBORw0KGgo="}]}"#;
    let requests = [
        request("POST", "/v1/predict?explain=true", &[("Content-Type", "image/png")], &photo("bars", 1)),
        request("POST", "/v1/predict", &[("Content-Type", "application/json")], json),
        request("POST", "/v1/learn?max_forgetting=0.03", &[("Content-Type", &form_kind)], &form_body),
        request("POST", "/v1/learn", &[("Content-Type", "application/json")], json),
        request("POST", "/v1/learn", &[("Content-Type", "application/zip")], b"PK\x05\x06 0123456789012345678901"),
        request(
            "POST",
            "/v1/memory/move",
            &[("Content-Type", "application/json")],
            br#"{"photos": ["00"], "to": "x"}"#,
        ),
        request("POST", "/v1/classes/merge", &[("Content-Type", "application/json")], br#"{"from": "a", "to": "b"}"#),
        request("POST", "/v1/versions/12/use", &[], b""),
        request("GET", "/v1/memory?class=bars&sort=doubtful&limit=3&offset=1", &[("Cookie", "a=b; c")], b""),
        request("GET", "/v1/memory/ba7816bf8f01cfea414140de5dae2223/thumbnail", &[], b""),
        request(
            "POST",
            "/models/x",
            &[("Content-Type", "application/json")],
            br#"{"inputs": "AAAA", "parameters": {"top_k": 1}}"#,
        ),
    ];
    let mut random = Random(7);
    let mut answered = 0;
    for number in 0..1000 {
        let mut bytes = requests[random.below(requests.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, random.below(256) as u8),
                3 => drop(bytes.remove(at)),
                _ => {
                    let again = bytes[at..(at + 40).min(bytes.len())].to_vec();
                    bytes.splice(at..at, again);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'G');
            }
        }
        // A request that is cut waits for the rest until the client says that there is none.
        if let Some(answer) = cut(serving.address, &bytes) {
            answered += 1;
            assert!(
                answer.status < 500,
                "{number}: {} to {}",
                answer.head,
                String::from_utf8_lossy(&bytes[..bytes.len().min(300)])
            );
        }
    }
    assert!(answered > 500, "{answered}");
    assert_eq!(get(serving.address, "/healthz").status, 200);
    assert_eq!(post(serving.address, "/v1/predict", "image/png", &photo("bars", 1)).status, 200);
}
