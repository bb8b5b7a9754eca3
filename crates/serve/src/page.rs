//! The pages: files inside the binary.

use axum::{
    http::{
        Method,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

/// The files of a page: path, type and content of each.
#[derive(Clone, Copy)]
pub(crate) struct Page(&'static [(&'static str, &'static str, &'static [u8])]);

/// The page of a model.
pub(crate) const MODEL: Page = Page(&[
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
]);
/// The page of runs.
pub(crate) const WATCH: Page = Page(&[
    ("/", HTML, include_bytes!("../watch/index.html")),
    ("/style.css", CSS, include_bytes!("../page/style.css")),
    ("/watch.css", CSS, include_bytes!("../watch/watch.css")),
    ("/dom.js", JS, include_bytes!("../page/dom.js")),
    ("/curve.js", JS, include_bytes!("../watch/curve.js")),
    ("/replayed.js", JS, include_bytes!("../watch/replayed.js")),
    ("/run.js", JS, include_bytes!("../watch/run.js")),
    ("/watch.js", JS, include_bytes!("../watch/watch.js")),
]);
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
/// What needs no token beside the page.
const OPEN: [&str; 4] = ["/healthz", "/readyz", "/openapi.json", "/v1/session"];

impl Page {
    /// A file of it.
    pub fn file(self, path: &str) -> Option<Response> {
        let (_, kind, content) = self.0.iter().find(|(name, ..)| *name == path)?;
        Some(([(CONTENT_TYPE, *kind), (CACHE_CONTROL, "no-cache")], *content).into_response())
    }

    /// Whether a request needs no token.
    pub fn is_open(self, method: &Method, path: &str) -> bool {
        let is_file = matches!(*method, Method::GET | Method::HEAD) && self.0.iter().any(|(name, ..)| *name == path);
        is_file || OPEN.contains(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_pages_is_served() {
        for (directory, page, shared) in [("page", MODEL, &[][..]), ("watch", WATCH, &["/style.css", "/dom.js"])] {
            let files = std::fs::read_dir(format!("{}/{directory}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let paths = files.map(|entry| format!("/{}", entry.unwrap().file_name().display()));
            let mut there: Vec<String> = paths.map(|path| path.replace("/index.html", "/")).collect();
            there.extend(shared.iter().map(ToString::to_string));
            let mut served: Vec<&str> = page.0.iter().map(|(path, ..)| *path).collect();
            there.sort();
            served.sort_unstable();
            assert_eq!(served, there);
        }
    }
}
