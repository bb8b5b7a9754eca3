//! `POST /v1/learn`.

#![allow(unused_qualifications, reason = "utoipa's macro qualifies the names that it is given")]

use axum::{
    Extension, Json,
    extract::{Request, State},
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
};
use rehearsal_model::{AcceptanceCheck, Names, SessionOptions, Share};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::Asked,
    guard::Reserved,
    jobs::{Job, ToLearn},
    photos,
    state::App,
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Reject the version if the classes known before lose more accuracy than this share, by chance or not. If it is
    /// missing, a loss beyond chance is rejected.
    #[param(minimum = 0, maximum = 1)]
    max_forgetting: Option<f64>,
    /// Reject nothing.
    #[serde(default)]
    accept: bool,
    /// Move photos that come again as another class to it.
    #[serde(default)]
    relabel: bool,
    /// Take names of classes that differ only in capitals, spaces or a plural.
    #[serde(default)]
    as_is: bool,
}

/// Learn photos with their classes, in a session that makes a version.
#[utoipa::path(
    post, path = "/v1/learn", params(Query),
    request_body(description = "A form, in which a field `class` comes before the files of a class; JSON; or a zip file with one folder per class", content(
        (photos::Form = "multipart/form-data"), (photos::PhotosInJson = "application/json"), (Vec<u8> = "application/zip"),
    )),
    responses((status = 202, body = Job), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn learn(
    State(app): State<App>,
    Asked(query): Asked<Query>,
    reserved: Option<Extension<Reserved>>,
    request: Request,
) -> Answer<Response> {
    app.check_writable()?;
    let check = match query.max_forgetting {
        _ if query.accept => AcceptanceCheck::Off,
        None => AcceptanceCheck::BeyondChance,
        Some(share) => AcceptanceCheck::AtMost(Share::new(share).ok_or_else(|| {
            ApiError::bad_request(format!("`max_forgetting` is {share}: it must be between 0 and 1"))
        })?),
    };
    let photos = photos::to_learn(request, &app.options.limits).await?;
    // A name with a slash is a name: here are no folders of the server.
    let names = Names { nested: true, as_is: query.as_is };
    let options = SessionOptions { check, relabel: query.relabel, names, ..SessionOptions::default() };
    let job = app.jobs.add(ToLearn {
        photos,
        options,
        reserved: reserved.map(|Extension(reserved)| reserved).into_iter().collect(),
        from: None,
    })?;
    Ok((StatusCode::ACCEPTED, [(LOCATION, format!("/v1/jobs/{}", job.id))], Json(job)).into_response())
}
