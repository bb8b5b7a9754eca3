//! The photos of tasks: in the task itself as a `data:` URL, or from the one Label Studio that was named when the server
//! was started. No other address of a request is followed.

use std::time::Duration;

use ureq::{
    Agent, Body,
    http::{Response, StatusCode},
};

use crate::{ApiError, LabelStudio, error::Answer, photos::from_base64};

/// For a photo, from the first byte of the request to the last of the answer.
const TIME: Duration = Duration::from_secs(20);
/// The largest photo that is fetched, in bytes.
const LARGEST: u64 = 16 << 20;
/// Where Label Studio has the photos of tasks; its other paths are not asked for.
const FILES: &str = "/data/";
/// Keys of this beginning are exchanged for one that lasts some minutes.
const PERSONAL: &str = "ey";

/// The bytes of a photo that the data of a task name.
pub(super) fn read(text: &str, from: Option<&LabelStudio>) -> Answer<Vec<u8>> {
    if text.starts_with("data:") {
        return from_base64(text);
    }
    let path = from.and_then(|from| Some((from, path(text, from)?)));
    let Some((from, path)) = path else {
        let error = ApiError::unreadable(
            "its image is not a `data:` URL, and not a file of a Label Studio that this server knows",
        );
        return Err(error.hint("start the server with `--label-studio URL` to fetch uploaded images from there"));
    };
    fetch(from, path)
}

/// The path of a file of Label Studio; none if the address leads anywhere else.
fn path<'a>(text: &'a str, from: &LabelStudio) -> Option<&'a str> {
    let path = if text.starts_with('/') { text } else { text.strip_prefix(from.origin())? };
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#'));
    let folders = path.split('?').next().unwrap_or_default().to_lowercase().replace("%2e", ".").replace("%2f", "/");
    let leads_out = folders.split('/').any(|folder| matches!(folder, "." | ".."));
    (plain && path.starts_with(FILES) && !leads_out).then_some(path)
}

fn fetch(from: &LabelStudio, path: &str) -> Answer<Vec<u8>> {
    // A redirect would lead to another address.
    let agent: Agent =
        Agent::config_builder().timeout_global(Some(TIME)).max_redirects(0).http_status_as_error(false).build().into();
    let mut request = agent.get(format!("{}{path}", from.origin()));
    if let Some(key) = from.key() {
        request = request.header("Authorization", authorization(&agent, from, key)?);
    }
    let mut answer = request.call().map_err(|error| failed(&error))?;
    check(&answer)?;
    answer.body_mut().with_config().limit(LARGEST).read_to_vec().map_err(|error| failed(&error))
}

/// What the key is sent as: a personal token asks for an access token first, an older one is sent itself.
fn authorization(agent: &Agent, from: &LabelStudio, key: &str) -> Answer<String> {
    if !key.starts_with(PERSONAL) {
        return Ok(format!("Token {key}"));
    }
    let body = serde_json::json!({ "refresh": key }).to_string();
    let request = agent.post(format!("{}/api/token/refresh", from.origin())).header("Content-Type", "application/json");
    let mut answer = request.send(body).map_err(|error| failed(&error))?;
    check(&answer)?;
    let text = answer.body_mut().with_config().limit(1 << 16).read_to_string().map_err(|error| failed(&error))?;
    let given: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let access = given["access"].as_str().ok_or_else(|| ApiError::unreadable("Label Studio gives no access token"))?;
    Ok(format!("Bearer {access}"))
}

fn check(answer: &Response<Body>) -> Answer<()> {
    match answer.status() {
        StatusCode::OK => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(ApiError::unreadable("Label Studio does not give it to this server")
                .hint("set LABEL_STUDIO_API_KEY to a token of a user who may see the project"))
        }
        status => Err(ApiError::unreadable(format!("Label Studio answers {status}"))),
    }
}

fn failed(error: &ureq::Error) -> ApiError {
    ApiError::unreadable(format!("it cannot be fetched from Label Studio: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_label_studio_that_was_named_are_fetched() {
        let from = LabelStudio::new("http://studio.example:8080/", None).unwrap();
        for ours in
            ["/data/upload/1/a.jpg", "http://studio.example:8080/data/upload/1/a%20b.jpg", "/data/local-files/?d=a.jpg"]
        {
            assert!(path(ours, &from).is_some_and(|path| path.starts_with("/data/")), "{ours}");
        }
        for other in [
            "http://evil.example/data/a.jpg",
            "http://studio.example:8080.evil.example/data/a.jpg",
            "http://studio.example:8080@evil.example/data/a.jpg",
            "http://studio.example:80801/data/a.jpg",
            "http://studio.example/data/a.jpg",
            "//evil.example/data/a.jpg",
            "/api/users",
            "/data/../api/users",
            "/data/%2E%2e/api/users",
            "/data/..%2fapi/users",
            "/data/a b",
            "/data/a\r\nX: y",
            "file:///etc/passwd",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(path(other, &from), None, "{other}");
            assert!(read(other, Some(&from)).is_err());
        }
        assert!(read("/data/upload/1/a.jpg", None).is_err(), "nothing is fetched unless it was asked for");
        assert_eq!(read("data:image/png;base64,AAAA", None), Ok(vec![0; 3]));
    }
}
