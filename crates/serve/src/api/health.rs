//! Whether the server lives, whether it can answer, what it has done, and what it can.

use axum::{
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    state::App,
};

/// Say that the server lives.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String)))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Say whether the server can predict: there is a version, and requests can wait.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String), (status = 503, body = ErrorBody)))]
pub(crate) async fn readyz(State(app): State<App>) -> Answer<&'static str> {
    let unready = |why: &str| ApiError::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "not_ready", why);
    if app.versions.current().is_none() {
        return Err(unready("the model has no version yet"));
    }
    if *app.stopping.borrow() {
        return Err(unready("the server is being stopped"));
    }
    if app.predictor.has_room() { Ok("ready\n") } else { Err(unready("too many requests wait for a prediction")) }
}

/// Count requests, their time and their answers, as Prometheus reads it.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let current = app.versions.current();
    let text = app.gate.metrics.text(current.as_ref().map(|current| (current.number, &current.version)));
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// Describe this API.
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
pub(crate) async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], crate::openapi()).into_response()
}
