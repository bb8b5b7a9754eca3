//! What clients of other servers speak.

mod hugging_face;
mod label_studio;
mod open_inference;

use utoipa_axum::{router::OpenApiRouter, routes};

use crate::state::App;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use {
    hugging_face::fuzz as fuzz_hugging_face, label_studio::fuzz as fuzz_label_studio,
    open_inference::fuzz as fuzz_open_inference,
};

/// The routes of all dialects.
pub(crate) fn all() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(hugging_face::classify))
        .routes(routes!(hugging_face::classify_by_name))
        .routes(routes!(label_studio::health))
        .routes(routes!(label_studio::setup))
        .routes(routes!(label_studio::predict))
        .routes(routes!(label_studio::webhook))
        .routes(routes!(open_inference::live))
        .routes(routes!(open_inference::ready))
        .routes(routes!(open_inference::server))
        .routes(routes!(open_inference::model_ready))
        .routes(routes!(open_inference::version_ready))
        .routes(routes!(open_inference::model))
        .routes(routes!(open_inference::version))
        .routes(routes!(open_inference::infer))
        .routes(routes!(open_inference::infer_by_version))
}
