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

use crate::{ApiError, dialects, error::ErrorBody, guard::guard, page, photos, state::App};

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
    let router = router
        .route("/", get(page_or_nothing))
        .fallback(page_or_nothing)
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path has another method")
        })
        .layer(axum::extract::DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app));
    (router, described)
}

/// The description of all routes.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    all().into_openapi()
}

async fn page_or_nothing(request: Request) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let file = if is_read { page::file(request.uri().path()) } else { None };
    file.unwrap_or_else(|| ApiError::not_found("there is nothing at this path").into_response())
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::internal().into_response()
}
