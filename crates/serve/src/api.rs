//! The HTTP API: one file a group of requests. `API.md` shows each by example.

mod classes;
mod health;
mod jobs;
mod learn;
mod memory;
mod model;
mod predict;
mod session;
mod versions;

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use model::name as model_name;

use crate::{
    ApiError, dialects,
    error::ErrorBody,
    guard::{Gate, guard},
    photos,
    state::App,
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Rehearsal", description = "Ask a model of Rehearsal, and teach it."),
    components(schemas(ErrorBody, photos::PhotosInJson, memory::Sort))
)]
struct Described;

fn all() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(predict::predict))
        .routes(routes!(learn::learn))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::show))
        .routes(routes!(jobs::events))
        .routes(routes!(model::model))
        .routes(routes!(model::history))
        .routes(routes!(versions::list))
        .routes(routes!(versions::select))
        .routes(routes!(versions::export))
        .routes(routes!(memory::list))
        .routes(routes!(memory::thumbnail))
        .routes(routes!(memory::map))
        .routes(routes!(memory::move_photos))
        .routes(routes!(memory::remove))
        .routes(routes!(classes::rename))
        .routes(routes!(classes::merge))
        .routes(routes!(classes::retire))
        .routes(routes!(session::begin))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(health::openapi))
        .merge(dialects::all())
}

/// All routes, and their description.
pub(crate) fn router(app: &App) -> (Router, utoipa::openapi::OpenApi) {
    let (router, described) = all().split_for_parts();
    (wrapped(router.with_state(Arc::clone(app)), &app.gate), described)
}

/// Routes with what every server adds to them: the files of its page, errors in one shape, and its guard.
pub(crate) fn wrapped(router: Router, gate: &Arc<Gate>) -> Router {
    let files = |gate: &Arc<Gate>| {
        let gate = Arc::clone(gate);
        async move |request: Request| page_or_nothing(&gate, &request)
    };
    router
        .route("/", get(files(gate)))
        .fallback(files(gate))
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path has another method")
        })
        .layer(axum::extract::DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(gate), guard))
}

/// The description of all routes.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    all().into_openapi()
}

fn page_or_nothing(gate: &Gate, request: &Request) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let file = if is_read { gate.file(request.uri().path()) } else { None };
    file.unwrap_or_else(|| ApiError::not_found("there is nothing at this path").into_response())
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::internal().into_response()
}
