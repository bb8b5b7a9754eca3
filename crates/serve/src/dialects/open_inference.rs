//! The Open Inference Protocol, version 2, as Triton and `KServe` have it: photos are elements of the input `image`, of
//! type `BYTES`; what the model says of them are the outputs `class`, `probability`, `answer` and `probabilities`.

mod tensors;

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
};
use rehearsal_data::photos::Photo;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    ApiError,
    api::model_name,
    error::{Answer, ErrorBody},
    extract::Named,
    photos,
    predictor::Answered,
    state::{App, Shared},
};
use tensors::{Inferred, Output, OutputRequest, inputs};

/// What the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServerMetadata {
    name: &'static str,
    version: &'static str,
    extensions: Vec<&'static str>,
}

/// What the model reads and answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelMetadata {
    name: String,
    versions: Vec<String>,
    platform: &'static str,
    inputs: Vec<TensorMetadata>,
    outputs: Vec<TensorMetadata>,
}

/// A tensor.
#[derive(Serialize, ToSchema)]
pub(crate) struct TensorMetadata {
    name: &'static str,
    datatype: &'static str,
    shape: Vec<i64>,
}

/// Say that the server lives.
#[utoipa::path(get, path = "/v2/health/live", responses((status = 200, body = Object)))]
pub(crate) async fn live() -> Json<Value> {
    Json(json!({ "live": true }))
}

/// Say whether the model can predict.
#[utoipa::path(get, path = "/v2/health/ready", responses((status = 200, body = Object), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn ready(State(app): State<App>) -> Answer<Json<Value>> {
    app.version(None).await.map(|_| Json(json!({ "ready": true })))
}

/// Describe the server.
#[utoipa::path(get, path = "/v2", responses((status = 200, body = ServerMetadata), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn server() -> Json<ServerMetadata> {
    Json(ServerMetadata {
        name: "rehearsal",
        version: env!("CARGO_PKG_VERSION"),
        extensions: vec!["binary_tensor_data"],
    })
}

fn check_name(app: &Shared, name: &str) -> Answer<()> {
    let ours = model_name(app);
    if name == ours {
        Ok(())
    } else {
        Err(ApiError::not_found(format!("there is no model `{name}`: this one is `{ours}`")))
    }
}

/// Say whether a model can predict.
#[utoipa::path(
    get, path = "/v2/models/{name}/ready", params(("name" = String, Path, description = "The model")),
    responses((status = 200, body = Object), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn model_ready(State(app): State<App>, Named(name): Named<String>) -> Answer<Json<Value>> {
    check_name(&app, &name)?;
    app.version(None).await.map(|_| Json(json!({ "name": name, "ready": true })))
}

/// Say whether a version can predict.
#[utoipa::path(
    get, path = "/v2/models/{name}/versions/{version}/ready",
    params(("name" = String, Path, description = "The model"), ("version" = u32, Path, description = "Its number")),
    responses((status = 200, body = Object), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn version_ready(
    State(app): State<App>,
    Named((name, version)): Named<(String, u32)>,
) -> Answer<Json<Value>> {
    check_name(&app, &name)?;
    app.version(Some(version)).await.map(|_| Json(json!({ "name": name, "ready": true })))
}

/// Describe the model.
#[utoipa::path(
    get, path = "/v2/models/{name}", params(("name" = String, Path, description = "The model")),
    responses((status = 200, body = ModelMetadata), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn model(State(app): State<App>, Named(name): Named<String>) -> Answer<Json<ModelMetadata>> {
    metadata(&app, name, None).await
}

/// Describe a version.
#[utoipa::path(
    get, path = "/v2/models/{name}/versions/{version}",
    params(("name" = String, Path, description = "The model"), ("version" = u32, Path, description = "Its number")),
    responses((status = 200, body = ModelMetadata), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn version(
    State(app): State<App>,
    Named((name, version)): Named<(String, u32)>,
) -> Answer<Json<ModelMetadata>> {
    metadata(&app, name, Some(version)).await
}

async fn metadata(app: &App, name: String, version: Option<u32>) -> Answer<Json<ModelMetadata>> {
    check_name(app, &name)?;
    let current = app.version(version).await?;
    let classes = current.version.classes().len().cast_signed() as i64;
    let tensor = |name, datatype, shape: &[i64]| TensorMetadata { name, datatype, shape: shape.to_vec() };
    Ok(Json(ModelMetadata {
        name,
        versions: current.settings.numbers().map(|number| number.to_string()).collect(),
        platform: "rehearsal",
        inputs: vec![tensor(tensors::INPUT, "BYTES", &[-1])],
        outputs: vec![
            tensor("class", "BYTES", &[-1]),
            tensor("probability", "FP32", &[-1]),
            tensor("answer", "BYTES", &[-1]),
            tensor("probabilities", "FP32", &[-1, classes]),
        ],
    }))
}

/// Predict photos.
#[utoipa::path(
    post, path = "/v2/models/{name}/infer", params(("name" = String, Path, description = "The model")),
    request_body = tensors::InferRequest,
    responses((status = 200, body = Inferred), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn infer(
    State(app): State<App>,
    Named(name): Named<String>,
    request: Request,
) -> Answer<Json<Inferred>> {
    predict(&app, name, None, request).await
}

/// Predict photos by a version.
#[utoipa::path(
    post, path = "/v2/models/{name}/versions/{version}/infer",
    params(("name" = String, Path, description = "The model"), ("version" = u32, Path, description = "Its number")),
    request_body = tensors::InferRequest,
    responses((status = 200, body = Inferred), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn infer_by_version(
    State(app): State<App>,
    Named((name, version)): Named<(String, u32)>,
    request: Request,
) -> Answer<Json<Inferred>> {
    predict(&app, name, Some(version), request).await
}

async fn predict(app: &App, name: String, version: Option<u32>, request: Request) -> Answer<Json<Inferred>> {
    check_name(app, &name)?;
    let current = app.version(version).await?;
    let asked = inputs(request, &app.options.limits).await?;
    let photo = |(number, bytes): (usize, Vec<u8>)| Photo {
        class: String::new(),
        path: format!("photo {}", number + 1).into(),
        bytes: Some(bytes.into()),
    };
    let photos: Vec<Photo> = asked.photos.into_iter().enumerate().map(photo).collect();
    let photos = photos::checked(photos, app.options.limits.photos, &app.options.limits)?;
    let answered = app.predict(Arc::clone(&current), photos, false).await?;
    let classes = current.version.classes().iter().map(ToString::to_string).collect::<Vec<_>>();
    let outputs = ["class", "probability", "answer", "probabilities"].map(|name| output(name, &answered, &classes));
    let is_wanted = |output: &Output| {
        asked.outputs.is_empty() || asked.outputs.iter().any(|wanted: &OutputRequest| wanted.name == output.name)
    };
    Ok(Json(Inferred {
        model_name: name,
        model_version: current.number.to_string(),
        id: asked.id,
        outputs: outputs.into_iter().filter(is_wanted).collect(),
    }))
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) async fn fuzz(request: Request, limits: crate::Limits) {
    if let Ok(asked) = inputs(request, &limits).await {
        assert!(asked.photos.iter().map(Vec::len).sum::<usize>() <= limits.body);
    }
}

fn output(name: &'static str, answered: &[Answered], classes: &[String]) -> Output {
    let all = answered.len();
    let of_class = |answered: &Answered, class: &String| {
        let prediction = &answered.prediction;
        let other = prediction.others.iter().find(|(name, _)| **name == **class).map(|(_, probability)| *probability);
        other.unwrap_or(prediction.probability)
    };
    let (datatype, shape, data): (_, _, Vec<Value>) = match name {
        "class" => ("BYTES", vec![all], answered.iter().map(|answer| json!(&*answer.prediction.class)).collect()),
        "answer" => ("BYTES", vec![all], answered.iter().map(|answer| json!(answer.verdict.word())).collect()),
        "probability" => {
            ("FP32", vec![all], answered.iter().map(|answer| json!(answer.prediction.probability)).collect())
        }
        _ => {
            let rows =
                answered.iter().flat_map(|answer| classes.iter().map(move |class| json!(of_class(answer, class))));
            ("FP32", vec![all, classes.len()], rows.collect())
        }
    };
    Output { name, datatype, shape, data }
}
