//! `/v1/memory`: what is remembered, as pictures and on a map; moving and removing photos.

#![allow(unused_qualifications, reason = "utoipa's macro qualifies the names that it is given")]

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    Json,
    extract::State,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use rehearsal_model::{Digest, Doubt, Features, Forget, Held, Part};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::{Asked, Given, Named},
    photos::class as class_name,
    state::App,
};

/// Photos of one answer, unless the request says how many.
const PAGE: usize = 100;
/// And at most.
const LARGEST_PAGE: usize = 1000;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Only this class.
    class: Option<String>,
    /// `class` (the default), or `doubtful`: the most doubtful first.
    #[serde(default)]
    sort: Sort,
    /// Only photos whose class is doubtful: they are nearer to another one.
    #[serde(default)]
    doubtful: bool,
    /// Photos that are left out at the beginning.
    #[serde(default)]
    offset: usize,
    /// The most photos of the answer: 100 unless given, at most 1000.
    limit: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sort {
    #[default]
    Class,
    Doubtful,
}

/// Remembered photos.
#[derive(Serialize, ToSchema)]
pub(crate) struct Memory {
    /// Of this version.
    version: u32,
    /// How many there are in all.
    total: usize,
    /// How many of them are doubtful.
    doubtful: usize,
    /// Some of them.
    photos: Vec<Remembered>,
}

/// A remembered photo.
#[derive(Serialize, ToSchema)]
pub(crate) struct Remembered {
    /// Its identity.
    id: String,
    /// Its class.
    class: String,
    /// Where it came from.
    source: String,
    /// `memory` or `holdout`.
    #[serde(rename = "in")]
    part: &'static str,
    /// Where its thumbnail is.
    thumbnail: String,
    /// The nearest other class.
    nearest: Option<String>,
    /// The distance to its own class divided by that to the nearest other one.
    doubt: Option<f64>,
    /// Whether it is nearer to the other class.
    doubtful: bool,
}

/// Remembered photos in two dimensions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Map {
    /// Of this version.
    version: u32,
    /// The share of the variance along each axis.
    explained: [f64; 2],
    /// Each photo.
    points: Vec<Place>,
}

/// A photo on a map.
#[derive(Serialize, ToSchema)]
pub(crate) struct Place {
    /// Its identity.
    id: String,
    /// Its class.
    class: String,
    /// From −1 to 1.
    x: f32,
    /// From −1 to 1.
    y: f32,
    /// Whether it is nearer to another class.
    doubtful: bool,
    /// Where its thumbnail is.
    thumbnail: String,
}

/// Photos to move.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToMove {
    /// Their identities.
    photos: Vec<String>,
    /// Their class from now on, which may be new.
    to: String,
}

/// Photos to remove.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToRemove {
    /// Their identities.
    photos: Vec<String>,
}

/// The version that a change made.
#[derive(Serialize, ToSchema)]
pub(crate) struct Moved {
    /// Its number.
    version: u32,
    /// How many photos were moved.
    photos: usize,
}

/// What was removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemovedPhotos {
    /// Different photos, over all versions.
    photos: usize,
    /// Versions that were written again.
    versions: usize,
}

/// Where the thumbnail of a photo is.
pub(crate) fn thumbnail_of(photo: Digest) -> String {
    format!("/v1/memory/{photo}/thumbnail")
}

fn identity(text: &str) -> Answer<Digest> {
    Digest::try_from(text.to_owned()).map_err(|_| ApiError::not_found("there is no such photo"))
}

fn identities(photos: &[String]) -> Answer<BTreeSet<Digest>> {
    if photos.is_empty() {
        return Err(ApiError::bad_request("no photo is named"));
    }
    photos.iter().map(|photo| identity(photo)).collect()
}

/// List the photos in memory and holdout set.
#[utoipa::path(
    get, path = "/v1/memory", params(Query),
    responses((status = 200, body = Memory), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn list(State(app): State<App>, Asked(query): Asked<Query>) -> Answer<Json<Memory>> {
    let current = app.version(None).await?;
    if let Some(class) = query.class.as_ref().filter(|class| current.version.photos_of(class).is_none()) {
        return Err(ApiError::not_found(format!("there is no class `{class}`")));
    }
    app.blocking(move |_| {
        let doubts: BTreeMap<Digest, &Doubt> = current.doubts().iter().map(|doubt| (doubt.digest, doubt)).collect();
        let mut held = current.version.held();
        held.retain(|held| query.class.as_ref().is_none_or(|class| **class == *held.class));
        let is_doubtful = |held: &Held| doubts.get(&held.digest).is_some_and(|doubt| doubt.ratio >= 1.0);
        let doubtful = held.iter().filter(|held| is_doubtful(held)).count();
        held.retain(|held| !query.doubtful || is_doubtful(held));
        held.sort_by(|a, b| (&a.class, b.part, &a.source, a.digest).cmp(&(&b.class, a.part, &b.source, b.digest)));
        if query.sort == Sort::Doubtful {
            let ratio = |held: &Held| doubts.get(&held.digest).map_or(0.0, |doubt| doubt.ratio);
            held.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        }
        let remembered = |held: Held| {
            let doubt = doubts.get(&held.digest);
            Remembered {
                id: held.digest.to_string(),
                doubtful: is_doubtful(&held),
                class: held.class.to_string(),
                source: held.source,
                part: if held.part == Part::Memory { "memory" } else { "holdout" },
                thumbnail: thumbnail_of(held.digest),
                nearest: doubt.map(|doubt| doubt.nearest.to_string()),
                doubt: doubt.map(|doubt| doubt.ratio),
            }
        };
        let (total, limit) = (held.len(), query.limit.unwrap_or(PAGE).min(LARGEST_PAGE));
        let photos = held.into_iter().skip(query.offset).take(limit).map(remembered).collect();
        Ok(Json(Memory { version: current.number, total, doubtful, photos }))
    })
    .await
}

/// Show the thumbnail of a remembered photo.
#[utoipa::path(
    get, path = "/v1/memory/{id}/thumbnail", params(("id" = String, Path, description = "The photo")),
    responses((status = 200, body = Vec<u8>, content_type = "image/jpeg"), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn thumbnail(State(app): State<App>, Named(id): Named<String>) -> Answer<Response> {
    let nothing = || ApiError::not_found("there is no such photo in memory");
    let picture = app.version(None).await?.version.picture(identity(&id)?).ok_or_else(nothing)?;
    let (extension, bytes) = picture.file().map_err(|_| ApiError::internal())?;
    let kind = if extension == "png" { "image/png" } else { "image/jpeg" };
    // A photo that is removed is gone, from a browser, too.
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=60")], bytes).into_response())
}

/// Show the remembered photos in two dimensions.
#[utoipa::path(get, path = "/v1/memory/map", responses((status = 200, body = Map), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn map(State(app): State<App>) -> Answer<Json<Map>> {
    let current = app.version(None).await?;
    app.blocking(move |_| {
        let doubtful: BTreeSet<Digest> =
            current.doubts().iter().filter(|doubt| doubt.ratio >= 1.0).map(|doubt| doubt.digest).collect();
        let classes: BTreeMap<Digest, String> =
            current.version.held().into_iter().map(|held| (held.digest, held.class.to_string())).collect();
        let (points, explained) = current.map();
        let place = |point: &crate::map::Point| {
            Some(Place {
                id: point.photo.to_string(),
                class: classes.get(&point.photo)?.clone(),
                x: point.x,
                y: point.y,
                doubtful: doubtful.contains(&point.photo),
                thumbnail: thumbnail_of(point.photo),
            })
        };
        let points = points.iter().filter_map(place).collect();
        Ok(Json(Map { version: current.number, explained: *explained, points }))
    })
    .await
}

/// Give remembered photos to another class, which makes a version.
#[utoipa::path(
    post, path = "/v1/memory/move", request_body = ToMove,
    responses((status = 200, body = Moved), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn move_photos(State(app): State<App>, Given(given): Given<ToMove>) -> Answer<Json<Moved>> {
    let (photos, to) = (identities(&given.photos)?, class_name(&given.to)?);
    app.change(move |model| model.move_these(&photos, &to))
        .await
        .map(|(version, photos)| Json(Moved { version, photos }))
}

/// Remove remembered photos from every version that is kept, as if they had never been learned.
#[utoipa::path(
    post, path = "/v1/memory/remove", request_body = ToRemove,
    responses((status = 200, body = RemovedPhotos), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn remove(State(app): State<App>, Given(given): Given<ToRemove>) -> Answer<Json<RemovedPhotos>> {
    let what = Forget::Photos(identities(&given.photos)?);
    let forgotten = app.change(move |model| model.forget(&what, &Features::new())).await?;
    if forgotten.images == 0 {
        return Err(ApiError::not_found("there is no such photo in memory"));
    }
    Ok(Json(RemovedPhotos { photos: forgotten.images, versions: forgotten.versions }))
}
