//! `/v1/classes`: renaming, merging and retiring. Each makes a version.

use axum::{Json, extract::State};
use rehearsal_model::Features;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    error::{Answer, ErrorBody},
    extract::Given,
    photos::class as class_name,
    state::App,
};

/// Two classes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FromTo {
    /// A class.
    from: String,
    /// Its new name, or the class that it becomes a part of.
    to: String,
}

/// A class.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// Its name.
    class: String,
}

/// The version that a change made.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewVersion {
    /// Its number.
    version: u32,
}

/// Rename a class.
#[utoipa::path(
    post, path = "/v1/classes/rename", request_body = FromTo,
    responses((status = 200, body = NewVersion), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn rename(State(app): State<App>, Given(given): Given<FromTo>) -> Answer<Json<NewVersion>> {
    let to = class_name(&given.to)?;
    app.change(move |model| model.rename_class(&given.from, &to)).await.map(new)
}

/// Merge a class into another.
#[utoipa::path(
    post, path = "/v1/classes/merge", request_body = FromTo,
    responses((status = 200, body = NewVersion), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn merge(State(app): State<App>, Given(given): Given<FromTo>) -> Answer<Json<NewVersion>> {
    app.change(move |model| model.merge_classes(&given.from, &given.to)).await.map(new)
}

/// Never predict a class again, and remove its photos from memory and holdout set.
#[utoipa::path(
    post, path = "/v1/classes/retire", request_body = Class,
    responses((status = 200, body = NewVersion), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn retire(State(app): State<App>, Given(given): Given<Class>) -> Answer<Json<NewVersion>> {
    app.change(move |model| model.retire_class(&given.class, &Features::new())).await.map(new)
}

fn new(version: u32) -> Json<NewVersion> {
    Json(NewVersion { version })
}
