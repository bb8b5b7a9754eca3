//! The page: files inside the binary.

use axum::{
    http::{
        Method,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

/// Path, type and content of each file.
const FILES: [(&str, &str, &[u8]); 17] = [
    ("/", HTML, include_bytes!("../page/index.html")),
    ("/style.css", CSS, include_bytes!("../page/style.css")),
    ("/api.js", JS, include_bytes!("../page/api.js")),
    ("/app.js", JS, include_bytes!("../page/app.js")),
    ("/ask.js", JS, include_bytes!("../page/ask.js")),
    ("/camera.js", JS, include_bytes!("../page/camera.js")),
    ("/chart.js", JS, include_bytes!("../page/chart.js")),
    ("/classes.js", JS, include_bytes!("../page/classes.js")),
    ("/dom.js", JS, include_bytes!("../page/dom.js")),
    ("/map.js", JS, include_bytes!("../page/map.js")),
    ("/memory.js", JS, include_bytes!("../page/memory.js")),
    ("/model.js", JS, include_bytes!("../page/model.js")),
    ("/photos.js", JS, include_bytes!("../page/photos.js")),
    ("/question.js", JS, include_bytes!("../page/question.js")),
    ("/session.js", JS, include_bytes!("../page/session.js")),
    ("/teach.js", JS, include_bytes!("../page/teach.js")),
    ("/versions.js", JS, include_bytes!("../page/versions.js")),
];
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
/// What needs no token beside the page.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/openapi.json", "/v1/session"];

/// A file of the page.
pub(crate) fn file(path: &str) -> Option<Response> {
    let (_, kind, content) = FILES.iter().find(|(name, ..)| *name == path)?;
    Some(([(CONTENT_TYPE, *kind), (CACHE_CONTROL, "no-cache")], *content).into_response())
}

/// Whether a request needs no token.
pub(crate) fn is_open(method: &Method, path: &str) -> bool {
    let is_file = matches!(*method, Method::GET | Method::HEAD) && FILES.iter().any(|(name, ..)| *name == path);
    is_file || OPEN.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let directory = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page")).unwrap();
        let paths = directory.map(|entry| format!("/{}", entry.unwrap().file_name().display()));
        let mut there: Vec<String> = paths.map(|path| path.replace("/index.html", "/")).collect();
        let mut served: Vec<&str> = FILES.iter().map(|(path, ..)| *path).collect();
        there.sort();
        served.sort_unstable();
        assert_eq!(served, there);
    }
}
