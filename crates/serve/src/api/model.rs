//! `/v1/model` and `/v1/history`.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use rehearsal_model::{AllUnsure, Model, ModelError, Part, Score};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    current::Current,
    error::{Answer, ErrorBody},
    state::{App, Shared},
};

/// A model.
#[derive(Serialize, ToSchema)]
pub(crate) struct AboutModel {
    /// The name of its directory.
    name: String,
    /// Whether this server refuses to change it.
    read_only: bool,
    /// What this server accepts.
    limits: AboutLimits,
    /// Its current version; none if it has not learned anything yet.
    current: Option<AboutVersion>,
}

/// What this server accepts in one request.
#[derive(Serialize, ToSchema)]
struct AboutLimits {
    /// Bytes.
    body: usize,
    /// Photos to predict.
    predict: usize,
    /// Photos to learn.
    learn: usize,
    /// Pixels of a photo.
    pixels: u64,
}

/// The current version.
#[derive(Serialize, ToSchema)]
struct AboutVersion {
    /// Its number.
    version: u32,
    /// What computes, in a few words.
    learner: String,
    /// Whether this server can teach it and change it.
    can_learn: bool,
    /// Height and width of a photo as it reads it.
    size: usize,
    /// Photos that were learned.
    learned: usize,
    /// The probability from which on an answer is sure.
    threshold: Option<f64>,
    /// Why every answer is unsure, if so.
    all_unsure: Option<&'static str>,
    /// The holdout accuracy.
    holdout: Accuracy,
    /// Holdout photos that are left out because they are like others.
    near_duplicates: usize,
    /// Photos in memory.
    memory: usize,
    /// Photos that fit.
    memory_capacity: usize,
    /// Each class, by name.
    classes: Vec<AboutClass>,
}

/// A class.
#[derive(Serialize, ToSchema)]
struct AboutClass {
    /// Its name.
    class: String,
    /// Photos that were learned.
    learned: usize,
    /// Photos in memory.
    memory: usize,
    /// The holdout accuracy.
    holdout: Accuracy,
}

/// How many holdout photos are right.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Accuracy {
    /// Right answers.
    right: usize,
    /// Photos.
    total: usize,
    /// The share; none without photos.
    share: Option<f64>,
    /// The lower end of its 95 % interval.
    low: Option<f64>,
    /// The upper end.
    high: Option<f64>,
}

impl From<Score> for Accuracy {
    fn from(score: Score) -> Self {
        let (low, high) = score.interval().unzip();
        Self { right: score.right, total: score.total, share: score.share(), low, high }
    }
}

/// Show the model.
#[utoipa::path(get, path = "/v1/model", responses((status = 200, body = AboutModel), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn model(State(app): State<App>) -> Answer<Json<AboutModel>> {
    app.blocking(|app| {
        let limits = &app.options.limits;
        let current = app.versions.current();
        Ok(Json(AboutModel {
            name: name(app),
            read_only: app.options.read_only,
            limits: AboutLimits {
                body: limits.body,
                predict: limits.photos,
                learn: limits.learned,
                pixels: limits.pixels,
            },
            current: current.map(|current| about(&current)).transpose()?,
        }))
    })
    .await
}

/// The name of the model's directory, without `.model`.
pub(crate) fn name(app: &Shared) -> String {
    let path = &app.options.model;
    let name = path.file_stem().or_else(|| path.file_name()).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn about(current: &Current) -> Result<AboutVersion, ModelError> {
    let version = &current.version;
    let answers = version.holdout_answers()?;
    let mut memory: BTreeMap<String, usize> = BTreeMap::new();
    for held in version.held().into_iter().filter(|held| held.part == Part::Memory) {
        *memory.entry(held.class.to_string()).or_default() += 1;
    }
    let class = |class: std::sync::Arc<str>| AboutClass {
        learned: version.learned_of(&class),
        memory: memory.get(&*class).copied().unwrap_or(0),
        holdout: Score::of(answers.iter().filter(|answer| answer.class == class)).into(),
        class: class.to_string(),
    };
    Ok(AboutVersion {
        version: current.number,
        learner: version.description(),
        can_learn: version.is_exact(),
        size: version.size(),
        learned: version.learned(),
        threshold: version.threshold(),
        all_unsure: version.all_unsure().map(AllUnsure::text),
        holdout: Score::of(&answers).into(),
        near_duplicates: version.near_duplicates(),
        memory: memory.values().sum(),
        memory_capacity: version.memory_capacity(),
        classes: version.classes().into_iter().map(class).collect(),
    })
}

/// List everything that changed the model, in order.
#[utoipa::path(get, path = "/v1/history", responses((status = 200, body = Vec<Object>), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn history(State(app): State<App>) -> Answer<Json<Vec<rehearsal_model::Entry>>> {
    app.blocking(|app| {
        if app.versions.current().is_none() {
            return Ok(Json(Vec::new()));
        }
        Ok(Json(Model::open(&app.options.model)?.history()?))
    })
    .await
}
