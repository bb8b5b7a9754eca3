//! Image classification as Hugging Face's inference API has it: `[{"label": …, "score": …}]`.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::header::CONTENT_TYPE,
};
use rehearsal_data::photos::Photo;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::{Named, json},
    photos,
    state::App,
};

/// A class and its probability.
#[derive(Serialize, ToSchema)]
pub(crate) struct Label {
    /// The class.
    label: String,
    /// Its probability.
    score: f32,
}

/// A photo with parameters.
#[derive(Deserialize, ToSchema)]
pub(crate) struct WithParameters {
    /// The bytes of a photo in base64.
    inputs: String,
    /// What is asked for.
    #[serde(default)]
    parameters: Option<Parameters>,
}

/// What is asked for.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
pub(crate) struct Parameters {
    /// The most classes of the answer.
    top_k: Option<usize>,
}

/// Classify a photo as Hugging Face's servers do.
#[utoipa::path(
    post, path = "/", request_body(content((Vec<u8> = "application/octet-stream"), (WithParameters = "application/json"))),
    responses((status = 200, body = Vec<Label>), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn classify(State(app): State<App>, request: Request) -> Answer<Json<Vec<Label>>> {
    answer(&app, request).await
}

/// Classify a photo as Hugging Face's servers do, under any name.
#[utoipa::path(
    post, path = "/models/{name}", params(("name" = String, Path, description = "Any")),
    request_body(content((Vec<u8> = "application/octet-stream"), (WithParameters = "application/json"))),
    responses((status = 200, body = Vec<Label>), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn classify_by_name(
    State(app): State<App>,
    Named(_): Named<String>,
    request: Request,
) -> Answer<Json<Vec<Label>>> {
    answer(&app, request).await
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(bytes: &[u8]) {
    if let Ok(with) = json::<WithParameters>(&bytes.to_vec().into()) {
        let _ = (photos::from_base64(&with.inputs), with.parameters.and_then(|asked| asked.top_k));
    }
}

async fn answer(app: &App, request: Request) -> Answer<Json<Vec<Label>>> {
    let current = app.version(None).await?;
    let is_json =
        request.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let (photo, top) = if is_json {
        let with: WithParameters = json(&photos::body(request, &app.options.limits).await?)?;
        let bytes = photos::from_base64(&with.inputs)?;
        let photo = Photo { class: String::new(), path: "photo".into(), bytes: Some(bytes.into()) };
        (photos::checked(vec![photo], 1, &app.options.limits)?, with.parameters.and_then(|asked| asked.top_k))
    } else {
        (photos::to_predict(request, &app.options.limits).await?, None)
    };
    let answered = app.predict(Arc::clone(&current), photo, false).await?;
    let answered = answered.into_iter().next().ok_or_else(ApiError::internal)?;
    let best = Label { label: answered.prediction.class.to_string(), score: answered.prediction.probability };
    let others = answered.prediction.others.into_iter();
    let others = others.map(|(class, score)| Label { label: class.to_string(), score });
    Ok(Json(std::iter::once(best).chain(others).take(top.unwrap_or(usize::MAX)).collect()))
}
