//! `/v1/versions`: what is kept, rolling back, export.

use axum::{
    Json,
    extract::State,
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use rehearsal_model::{Entry, Event, Model, ModelError, Score};
use serde::Serialize;
use utoipa::ToSchema;

use super::model::Accuracy;
use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::Named,
    state::App,
};

/// A version that is kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct AboutKept {
    /// Its number.
    version: u32,
    /// Whether it is the current one.
    current: bool,
    /// When it was made, in universal time.
    when: Option<String>,
    /// What made it: `learned`, `renamed`, `merged`, `retired` or `moved`.
    event: &'static str,
    /// The same in words.
    what: String,
    /// False if it forgot too much.
    accepted: bool,
    /// The size of its file.
    bytes: Option<u64>,
    /// Its holdout accuracy.
    holdout: Accuracy,
    /// That of each class.
    classes: Vec<ClassAccuracy>,
}

/// The holdout accuracy of a class.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClassAccuracy {
    /// The class.
    class: String,
    /// Its accuracy.
    holdout: Accuracy,
}

/// Which version is used now, and which was before.
#[derive(Serialize, ToSchema)]
pub(crate) struct Selected {
    /// Now.
    version: u32,
    /// Before.
    before: u32,
}

/// List the versions that are kept, in order, with the holdout accuracy of each class.
#[utoipa::path(get, path = "/v1/versions", responses((status = 200, body = Vec<AboutKept>), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>) -> Answer<Json<Vec<AboutKept>>> {
    app.blocking(|app| {
        if app.versions.current().is_none() {
            return Ok(Json(Vec::new()));
        }
        let model = Model::open(&app.options.model)?;
        let history = model.history()?;
        model.versions().into_iter().map(|number| about(&model, &history, number)).collect::<Result<_, _>>().map(Json)
    })
    .await
}

fn about(model: &Model, history: &[Entry], number: u32) -> Result<AboutKept, ModelError> {
    let entry = history.iter().rev().find(|entry| made(&entry.event) == Some(number));
    let (event, what) = entry.map_or(("learned", String::new()), |entry| in_words(&entry.event));
    let report = entry.and_then(|entry| if let Event::Learned(report) = &entry.event { Some(report) } else { None });
    let version = model.version(number)?;
    let answers = version.holdout_answers()?;
    let class = |class: std::sync::Arc<str>| ClassAccuracy {
        holdout: Score::of(answers.iter().filter(|answer| answer.class == class)).into(),
        class: class.to_string(),
    };
    Ok(AboutKept {
        version: number,
        current: number == model.settings().current,
        when: entry.map(|entry| entry.when.clone()),
        event,
        what,
        accepted: report.is_none_or(|report| report.accepted),
        bytes: model.bytes(number),
        holdout: Score::of(&answers).into(),
        classes: version.classes().into_iter().map(class).collect(),
    })
}

/// The version that an event made.
fn made(event: &Event) -> Option<u32> {
    match event {
        Event::Learned(report) => Some(report.version),
        Event::Renamed { version, .. }
        | Event::Retired { version, .. }
        | Event::Merged { version, .. }
        | Event::Moved { version, .. } => Some(*version),
        Event::Used { .. } | Event::Removed { .. } => None,
    }
}

fn in_words(event: &Event) -> (&'static str, String) {
    let photos = |count: usize| format!("{count} photo{}", if count == 1 { "" } else { "s" });
    match event {
        Event::Learned(report) => {
            let new = if report.new_classes.is_empty() {
                String::new()
            } else {
                format!(": {}", report.new_classes.join(", "))
            };
            ("learned", format!("{} learned{new}", photos(report.images)))
        }
        Event::Renamed { from, to, .. } => ("renamed", format!("{from} renamed {to}")),
        Event::Retired { class, .. } => ("retired", format!("{class} retired")),
        Event::Merged { from, to, .. } => ("merged", format!("{from} merged into {to}")),
        Event::Moved { images, to, .. } => ("moved", format!("{} moved to {to}", photos(*images))),
        Event::Used { .. } => ("used", String::new()),
        Event::Removed { images, .. } => ("removed", format!("{} removed", photos(*images))),
    }
}

/// Use a version that is kept.
#[utoipa::path(
    post, path = "/v1/versions/{version}/use", params(("version" = u32, Path, description = "Its number")),
    responses((status = 200, body = Selected), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn select(State(app): State<App>, Named(version): Named<u32>) -> Answer<Json<Selected>> {
    app.change(move |model| {
        let before = model.settings().current;
        model.select(version)?;
        Ok(Json(Selected { version, before }))
    })
    .await
}

/// Download a version as ONNX: from the bytes of a photo to probabilities.
#[utoipa::path(
    get, path = "/v1/versions/{version}/onnx", params(("version" = u32, Path, description = "Its number")),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn export(State(app): State<App>, Named(number): Named<u32>) -> Answer<Response> {
    let current = app.version(Some(number)).await?;
    let bytes = app.blocking(move |_| {
        let place = tempfile::tempdir().map_err(ModelErrorOf::unwritable)?;
        let path = place.path().join("model.onnx");
        current.version.export_onnx(&path)?;
        std::fs::read(&path).map_err(ModelErrorOf::unwritable)
    });
    let bytes = bytes.await?;
    if bytes.is_empty() {
        return Err(ApiError::internal());
    }
    let name = format!("attachment; filename=\"model-{number}.onnx\"");
    Ok(([(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, name)], bytes).into_response())
}

/// Errors of the directory for temporary files.
struct ModelErrorOf;

impl ModelErrorOf {
    fn unwritable(error: std::io::Error) -> ModelError {
        ModelError::Unwritable { path: std::env::temp_dir(), error }
    }
}
