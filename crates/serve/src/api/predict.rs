//! `POST /v1/predict`.

#![allow(unused_qualifications, reason = "utoipa's macro qualifies the names that it is given")]

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
};
use rehearsal_model::{AllUnsure, Similar};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    error::{Answer, ErrorBody},
    extract::Asked,
    photos,
    predictor::Answered,
    state::App,
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Name the remembered photos that are most like each.
    #[serde(default)]
    explain: bool,
    /// Another version than the current one.
    version: Option<u32>,
}

/// What the model says of photos.
#[allow(clippy::struct_field_names, reason = "the names of the answer in JSON")]
#[derive(Serialize, ToSchema)]
pub(crate) struct Predictions {
    /// The version that answered.
    version: u32,
    /// Why every answer is unsure, if so.
    all_unsure: Option<&'static str>,
    /// In the order of the photos.
    predictions: Vec<PredictedPhoto>,
}

/// What the model says of a photo.
#[derive(Serialize, ToSchema)]
pub(crate) struct PredictedPhoto {
    /// Its name.
    pub name: String,
    /// `sure`, `unsure` or `unknown`.
    pub answer: &'static str,
    /// The most likely class.
    pub class: String,
    /// Its probability.
    pub probability: f32,
    /// The other classes, the most likely first.
    pub others: Vec<ClassProbability>,
    /// How far the photo is from the nearest class, if the model can tell.
    pub distance: Option<f32>,
    /// The remembered photos that are most like it, if asked for.
    pub similar: Vec<SimilarPhoto>,
}

/// A class and its probability.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClassProbability {
    /// The class.
    pub class: String,
    /// Its probability.
    pub probability: f32,
}

/// A remembered photo.
#[derive(Serialize, ToSchema)]
pub(crate) struct SimilarPhoto {
    /// Its identity.
    pub id: String,
    /// Its class.
    pub class: String,
    /// Where it came from.
    pub source: String,
    /// From −1 to 1, for the same photo.
    pub similarity: f64,
    /// Where its thumbnail is.
    pub thumbnail: String,
}

impl From<Answered> for PredictedPhoto {
    fn from(answered: Answered) -> Self {
        let Answered { name, prediction, verdict, similar } = answered;
        let other = |(class, probability): (Arc<str>, f32)| ClassProbability { class: class.to_string(), probability };
        let similar_photo = |similar: Similar| SimilarPhoto {
            id: similar.digest.to_string(),
            class: similar.class.to_string(),
            source: similar.source,
            similarity: similar.similarity,
            thumbnail: super::memory::thumbnail_of(similar.digest),
        };
        Self {
            name,
            answer: verdict.word(),
            class: prediction.class.to_string(),
            probability: prediction.probability,
            others: prediction.others.into_iter().map(other).collect(),
            distance: prediction.distance,
            similar: similar.into_iter().map(similar_photo).collect(),
        }
    }
}

/// Say what photos show.
#[utoipa::path(
    post, path = "/v1/predict", params(Query),
    request_body(description = "The bytes of a photo; a form with several files; or JSON", content(
        (Vec<u8> = "application/octet-stream"), (photos::PhotosInJson = "application/json"), (photos::Form = "multipart/form-data"),
    )),
    responses((status = 200, body = Predictions), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn predict(
    State(app): State<App>,
    Asked(query): Asked<Query>,
    request: Request,
) -> Answer<Json<Predictions>> {
    let current = app.version(query.version).await?;
    let photos = photos::to_predict(request, &app.options.limits).await?;
    let answered = app.predict(Arc::clone(&current), photos, query.explain).await?;
    Ok(Json(Predictions {
        version: current.number,
        all_unsure: current.version.all_unsure().map(AllUnsure::text),
        predictions: answered.into_iter().map(PredictedPhoto::from).collect(),
    }))
}
