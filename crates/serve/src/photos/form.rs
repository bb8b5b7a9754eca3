//! Photos in a form: a text field `class` names the class of the files that follow it.

use axum::extract::{FromRequest, Multipart, Request, multipart::MultipartError};
use rehearsal_data::photos::Photo;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::{body_too_large, limited, names, photo, too_many, too_slow};
use crate::{ApiError, Limits, error::Answer};

/// The text field that names a class.
const CLASS: &str = "class";

/// Photos in a form.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it describes what is read piece by piece")]
pub(crate) struct Form {
    /// The class of the files that follow, to learn them.
    class: Option<String>,
    /// Files, under any name.
    #[schema(value_type = Vec<String>, format = Binary)]
    photo: Vec<Vec<u8>>,
}

pub(super) async fn photos(request: Request, limits: &Limits, most: usize) -> Answer<Vec<Photo>> {
    timeout(limits.body_time, read(request, limits, most)).await.map_err(|_| too_slow())?
}

async fn read(request: Request, limits: &Limits, most: usize) -> Answer<Vec<Photo>> {
    let form = Multipart::from_request(limited(request, limits), &()).await;
    let mut form = form.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let bad = |error: MultipartError| match error.status() {
        status if status.as_u16() == 413 || is_limit(&error) => body_too_large(limits),
        _ => ApiError::bad_request(format!("the form cannot be read: {}", error.body_text())),
    };
    let (mut class, mut photos) = (String::new(), Vec::new());
    while let Some(field) = form.next_field().await.map_err(bad)? {
        match field.file_name().map(str::to_owned) {
            None if field.name() == Some(CLASS) => class = names::class(&field.text().await.map_err(bad)?)?,
            None => {
                let name = names::plain(field.name().unwrap_or_default());
                let error = ApiError::bad_request(format!("the form has an unknown field `{name}`"));
                return Err(error.hint("send files, and a text field `class` before those of a class"));
            }
            Some(_) if photos.len() >= most => return Err(too_many(most)),
            Some(name) => photos.push(photo(&class, &name, field.bytes().await.map_err(bad)?.to_vec())),
        }
    }
    Ok(photos)
}

/// Whether the body was longer than is read.
fn is_limit(error: &MultipartError) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}
