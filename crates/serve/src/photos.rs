//! The photos of a request: the bytes of one, a form with several, JSON with base64, or a zip file.

mod form;
mod json;
mod names;
mod zipped;

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::header::CONTENT_TYPE,
};
use rehearsal_data::{decode, photos::Photo};
use tokio::time::timeout;

pub(crate) use form::Form;
pub(crate) use json::{PhotosInJson, from_base64};
pub(crate) use names::{class, remembered};

use crate::{ApiError, Limits, error::Answer};

/// The photos to predict.
pub(crate) async fn to_predict(request: Request, limits: &Limits) -> Answer<Vec<Photo>> {
    let kind = content_type(&request);
    let photos = match kind.as_str() {
        "multipart/form-data" => form::photos(request, limits, limits.photos).await?,
        "application/json" => json::photos(&body(request, limits).await?)?,
        _ => vec![photo("", "photo", body(request, limits).await?.to_vec())],
    };
    checked(photos, limits.photos, limits)
}

/// The photos to learn, with their classes.
pub(crate) async fn to_learn(request: Request, limits: &Limits) -> Answer<Vec<Photo>> {
    let kind = content_type(&request);
    let photos = match kind.as_str() {
        "multipart/form-data" => form::photos(request, limits, limits.learned).await?,
        "application/json" => json::photos(&body(request, limits).await?)?,
        "application/zip" | "application/x-zip-compressed" => {
            let (bytes, limits) = (body(request, limits).await?, *limits);
            let unpacked = tokio::task::spawn_blocking(move || zipped::photos(&bytes, &limits));
            unpacked.await.map_err(|_| ApiError::internal())??
        }
        other => {
            let message = format!("`{other}` is not a type of photos to learn");
            let error = ApiError::new(axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_type", message);
            return Err(error.hint("send multipart/form-data, application/json or application/zip"));
        }
    };
    if let Some(nameless) = photos.iter().find(|photo| photo.class.is_empty()) {
        let message = format!("{} has no class", nameless.path.display());
        return Err(ApiError::bad_request(message).hint("name the class before its photos"));
    }
    checked(photos, limits.learned, limits)
}

/// The body of a request, within limits of size and time.
pub(crate) async fn body(request: Request, limits: &Limits) -> Answer<Bytes> {
    let read = timeout(limits.body_time, axum::body::to_bytes(request.into_body(), limits.body));
    match read.await {
        Err(_) => Err(too_slow()),
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_large(&error) => Err(body_too_large(limits)),
        Ok(Err(_)) => Err(ApiError::bad_request("the body of the request ended too early")),
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|error| error.to_string().contains("length limit"))
}

pub(crate) fn body_too_large(limits: &Limits) -> ApiError {
    ApiError::too_large(format!("the request is larger than {} MB", limits.body >> 20))
}

fn too_slow() -> ApiError {
    ApiError::new(axum::http::StatusCode::REQUEST_TIMEOUT, "too_slow", "the body of the request took too long")
}

fn content_type(request: &Request) -> String {
    let value = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// A photo under the last part of its name.
pub(crate) fn photo(class: &str, name: &str, bytes: Vec<u8>) -> Photo {
    Photo { class: class.to_owned(), path: names::plain(name).into(), bytes: Some(Arc::from(bytes)) }
}

/// Refuses too many photos, those that have too many pixels, and what is no photo: by their first bytes, before
/// they are decoded.
pub(crate) fn checked(photos: Vec<Photo>, most: usize, limits: &Limits) -> Answer<Vec<Photo>> {
    if photos.is_empty() {
        return Err(ApiError::bad_request("the request has no photo"));
    }
    if photos.len() > most {
        return Err(too_many(most));
    }
    for photo in &photos {
        let name = photo.path.display();
        let size = decode::dimensions(photo.bytes.as_deref().unwrap_or_default());
        let (width, height) = size.map_err(|why| ApiError::unreadable(format!("{name}: {why}")))?;
        if u64::from(width) * u64::from(height) > limits.pixels {
            let most = limits.pixels / 1_000_000;
            return Err(ApiError::too_large(format!(
                "{name} has {width}×{height} pixels: at most {most} million are read"
            )));
        }
    }
    Ok(photos)
}

fn too_many(most: usize) -> ApiError {
    ApiError::too_large(format!("the request has more than {most} photos"))
}

/// A body whose length is checked, for readers that take it piece by piece.
fn limited(request: Request, limits: &Limits) -> Request {
    request.map(|body| Body::new(http_body_util::Limited::new(body, limits.body)))
}
