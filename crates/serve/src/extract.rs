//! Queries, paths and JSON of requests, refused in the shape of every error.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use crate::{ApiError, photos::body, state::App};

/// What follows `?`.
pub(crate) struct Asked<T>(pub T);

/// A part of the path.
pub(crate) struct Named<T>(pub T);

/// A body of JSON.
pub(crate) struct Given<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = Query::try_from_uri(&parts.uri).map_err(|error| ApiError::bad_request(error.body_text()))?;
        Ok(Self(query.0))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, app).await;
        path.map(|Path(path)| Self(path)).map_err(|error| ApiError::not_found(error.body_text()))
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Given<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        json(&body(request, &app.options.limits).await?).map(Self)
    }
}

/// Bytes as JSON.
pub(crate) fn json<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::bad_request(format!("the body is not as expected: {error}")))
}
