//! Label Studio's ML backend: it asks for a choice for each photo, and tells which one people made, which is learned.

mod config;
mod photos;

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use rehearsal_data::photos::Photo;
use rehearsal_model::{Names, SessionOptions, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    ApiError,
    current::Current,
    error::{Answer, ErrorBody},
    extract::Given,
    guard::Reserved,
    jobs::{Job, ToLearn},
    photos::{checked, class, photo},
    predictor::Answered,
    state::App,
};
use config::Config;

/// The state of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `UP`.
    status: &'static str,
    /// What answers.
    model_class: &'static str,
}

/// A project that connects.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Setup {
    /// Its labelling configuration.
    schema: String,
}

/// What answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Connected {
    /// The number of the current version, or null.
    model_version: Option<String>,
}

/// Tasks to predict.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Tasks {
    /// Each with a photo.
    tasks: Vec<Task>,
    /// The labelling configuration of their project.
    label_config: String,
}

/// A task.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Task {
    /// Its number.
    #[serde(default)]
    id: Value,
    /// Its data: the photo is a `data:` URL, or a file of the Label Studio that the server was started for.
    #[schema(value_type = Object)]
    data: Map<String, Value>,
}

/// What the model says of tasks.
#[derive(Serialize, ToSchema)]
pub(crate) struct Results {
    /// One for each task.
    results: Vec<Predicted>,
    /// The version that answered.
    model_version: String,
}

/// What the model says of a task.
#[derive(Serialize, ToSchema)]
pub(crate) struct Predicted {
    /// The choice; none if the photo is unknown, if the class is none of the project's choices, or if there is no photo.
    result: Vec<Chosen>,
    /// The probability of the most likely class.
    score: f32,
    /// The version that answered.
    model_version: String,
}

/// A choice for a photo, as an annotation has it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Chosen {
    from_name: String,
    to_name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    value: Choices,
    score: f32,
}

/// What is chosen.
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct Choices {
    choices: Vec<String>,
}

/// What happened in Label Studio.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Event {
    /// `ANNOTATION_CREATED` and `ANNOTATION_UPDATED` are learned, others are not.
    action: String,
    /// The annotation.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    annotation: Value,
    /// Its task.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    task: Value,
    /// Its project.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    project: Value,
}

/// An annotation.
#[derive(Deserialize)]
struct Annotation {
    #[serde(default)]
    result: Vec<Part>,
    #[serde(default)]
    was_cancelled: bool,
}

/// A part of an annotation.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    from_name: String,
    #[serde(default)]
    value: Value,
}

/// What became of an event.
#[derive(Serialize, ToSchema)]
pub(crate) struct Heard {
    /// `ok`, or why nothing is learned.
    status: &'static str,
    /// The session that learns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Job>,
}

/// Tell Label Studio that the server lives.
#[utoipa::path(get, path = "/health", responses((status = 200, body = Health), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "UP", model_class: "Rehearsal" })
}

/// Connect a project of Label Studio: refused unless it has choices for an image.
#[utoipa::path(
    post, path = "/setup", request_body = Setup,
    responses((status = 200, body = Connected), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn setup(State(app): State<App>, Given(given): Given<Setup>) -> Answer<Json<Connected>> {
    Config::parse(&given.schema)?;
    Ok(Json(Connected { model_version: app.versions.current().map(|current| current.number.to_string()) }))
}

/// Choose for the photos of tasks, for Label Studio.
#[utoipa::path(
    post, path = "/predict", request_body = Tasks,
    responses((status = 200, body = Results), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn predict(State(app): State<App>, Given(given): Given<Tasks>) -> Answer<Json<Results>> {
    let config = Config::parse(&given.label_config)?;
    let current = app.version(None).await?;
    let mut results = Vec::with_capacity(given.tasks.len());
    let mut refused = None;
    for task in given.tasks {
        // One by one: a photo that cannot be read must not hide the others.
        let predicted = predict_task(&app, &current, &config, task).await;
        results.push(match predicted {
            Err(error) if !error.is_of_photo() => return Err(error),
            Err(error) => {
                refused.get_or_insert(error);
                Predicted { result: Vec::new(), score: 0.0, model_version: current.number.to_string() }
            }
            Ok(predicted) => predicted,
        });
    }
    if let Some(error) = refused {
        if results.iter().all(|predicted| predicted.score == 0.0) {
            return Err(error);
        }
        let hint = error.reason.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        let why = format!("{}{hint}", error.reason.message);
        (app.options.log)(&format!("error: some tasks of Label Studio cannot be predicted: {why}"));
    }
    Ok(Json(Results { results, model_version: current.number.to_string() }))
}

async fn predict_task(app: &App, current: &Arc<Current>, config: &Config, task: Task) -> Answer<Predicted> {
    let (photos, _reserved) = photos_of(app, config, task, "").await?;
    let answered = app.predict(Arc::clone(current), photos, false).await?;
    let answered = answered.into_iter().next().ok_or_else(ApiError::internal)?;
    Ok(predicted(config, &answered, current.number))
}

fn predicted(config: &Config, answered: &Answered, version: u32) -> Predicted {
    let score = answered.prediction.probability;
    let choice = if answered.verdict == Verdict::Unknown { None } else { config.choice(&answered.prediction.class) };
    let chosen = |choice| Chosen {
        from_name: config.from_name.clone(),
        to_name: config.to_name.clone(),
        kind: "choices",
        value: Choices { choices: vec![choice] },
        score,
    };
    Predicted { result: choice.map(chosen).into_iter().collect(), score, model_version: version.to_string() }
}

/// Learn what people chose in Label Studio.
#[utoipa::path(
    post, path = "/webhook", request_body = Event,
    responses(
        (status = 200, description = "Nothing of it is learned", body = Heard),
        (status = 201, description = "It is learned", body = Heard),
        (status = "4XX", body = ErrorBody),
    ),
)]
pub(crate) async fn webhook(
    State(app): State<App>,
    reserved: Option<Extension<Reserved>>,
    Given(event): Given<Event>,
) -> Answer<Response> {
    app.check_writable()?;
    let ignored = |status| Ok(Json(Heard { status, result: None }).into_response());
    if !matches!(&*event.action, "ANNOTATION_CREATED" | "ANNOTATION_UPDATED") {
        return ignored("nothing is learned of this event");
    }
    let config = event.project["label_config"].as_str().ok_or_else(|| {
        ApiError::bad_request("the event does not say what was labelled").hint("turn on `Send payload` of the webhook")
    })?;
    let config = Config::parse(config)?;
    let annotation: Annotation = part("annotation", event.annotation)?;
    let task: Task = part("task", event.task)?;
    let Some(choice) = chosen(&annotation, &config) else {
        return ignored("not one choice for the image: nothing is learned");
    };
    let choice = class(choice)?;
    // Label Studio waits for a second only: what has begun goes on without it.
    let learning = tokio::spawn(async move { learn(&app, &config, task, &choice, reserved).await });
    let job = learning.await.map_err(|_| ApiError::internal())??;
    Ok((StatusCode::CREATED, Json(Heard { status: "ok", result: Some(job) })).into_response())
}

fn part<T: serde::de::DeserializeOwned>(name: &str, value: Value) -> Answer<T> {
    serde_json::from_value(value).map_err(|error| ApiError::bad_request(format!("the event's {name}: {error}")))
}

/// The one class that was chosen for the image.
fn chosen<'a>(annotation: &'a Annotation, config: &Config) -> Option<&'a str> {
    let mut parts = annotation.result.iter().filter(|part| part.from_name == config.from_name);
    let (part, None, false) = (parts.next()?, parts.next(), annotation.was_cancelled) else { return None };
    match &part.value["choices"].as_array()?[..] {
        [choice] => choice.as_str(),
        _ => None,
    }
}

/// A configuration, tasks or an event, whichever it is.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(bytes: &[u8]) {
    let data = |config: &Config, task: &Task| {
        let text = task.data.get(&config.key).and_then(Value::as_str).unwrap_or_default();
        // Without a Label Studio nothing is fetched, whatever it is.
        let _ = photos::read(text, None);
    };
    let body = bytes.to_vec().into();
    if let Ok(config) = Config::parse(&String::from_utf8_lossy(bytes)) {
        let _ = config.choice("boots");
    } else if let Ok(given) = crate::extract::json::<Tasks>(&body)
        && let Ok(config) = Config::parse(&given.label_config)
    {
        given.tasks.iter().for_each(|task| data(&config, task));
    } else if let Ok(event) = crate::extract::json::<Event>(&body)
        && let Some(Ok(config)) = event.project["label_config"].as_str().map(Config::parse)
        && let (Ok(annotation), Ok(task)) =
            (part::<Annotation>("annotation", event.annotation), part::<Task>("task", event.task))
    {
        let _ = chosen(&annotation, &config).map(class);
        data(&config, &task);
    }
}

async fn learn(
    app: &App,
    config: &Config,
    task: Task,
    class: &str,
    reserved: Option<Extension<Reserved>>,
) -> Answer<Job> {
    let (photos, fetched) = photos_of(app, config, task, class).await?;
    // A choice that was corrected moves the photo to its new class.
    let names = Names { nested: true, as_is: false };
    let options = SessionOptions { relabel: true, names, ..SessionOptions::default() };
    let reserved = reserved.map(|Extension(reserved)| reserved).into_iter().chain(fetched).collect();
    app.jobs.add_together(ToLearn { photos, options, reserved, from: Some("label-studio") })
}

/// The photo of a task, checked, and the room that it takes if it was fetched.
async fn photos_of(app: &App, config: &Config, task: Task, class: &str) -> Answer<(Vec<Photo>, Option<Reserved>)> {
    let name = match &task.id {
        Value::Number(number) => format!("task {number}"),
        _ => "task".to_owned(),
    };
    let named = |mut error: ApiError| {
        error.reason.message = format!("{name}: {}", error.reason.message);
        error
    };
    let text = task.data.get(&config.key).and_then(Value::as_str).map(str::to_owned);
    let text = text.ok_or_else(|| named(ApiError::bad_request(format!("its data have no `{}`", config.key))))?;
    let is_fetched = !text.starts_with("data:");
    let from = app.options.label_studio.clone();
    let read = tokio::task::spawn_blocking(move || photos::read(&text, from.as_ref()));
    let bytes = read.await.map_err(|_| ApiError::internal())?.map_err(named)?;
    let reserved = if is_fetched { Some(app.gate.reserve(bytes.len())?) } else { None };
    let photos = checked(vec![photo(class, &name, bytes)], 1, &app.options.limits)?;
    Ok((photos, reserved))
}
