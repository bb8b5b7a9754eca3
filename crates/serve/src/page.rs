//! The page: files inside the binary.

use axum::{
    http::{
        Method,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

/// Path, type and content of each file.
const FILES: [(&str, &str, &[u8]); 3] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_bytes!("../page/style.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_bytes!("../page/app.js")),
];
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
