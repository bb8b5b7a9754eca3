//! Photos in JSON, as base64.

use axum::body::Bytes;
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use rehearsal_data::photos::Photo;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{names, photo};
use crate::{ApiError, error::Answer, extract::json};

/// Padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Photos in JSON.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhotosInJson {
    /// Each photo.
    photos: Vec<PhotoInJson>,
}

/// A photo in JSON.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhotoInJson {
    /// Its class, to learn it.
    #[serde(default)]
    class: Option<String>,
    /// Its name, by which it is remembered.
    #[serde(default)]
    name: Option<String>,
    /// The bytes of its file in base64; a `data:` URL is fine.
    image: String,
}

pub(super) fn photos(bytes: &Bytes) -> Answer<Vec<Photo>> {
    let PhotosInJson { photos } = json(bytes)?;
    let read = |given: PhotoInJson| {
        let class = given.class.map_or(Ok(String::new()), |class| names::class(&class))?;
        Ok(photo(&class, given.name.as_deref().unwrap_or("photo"), from_base64(&given.image)?))
    };
    photos.into_iter().map(read).collect()
}

/// The bytes of a photo in base64, or in a `data:` URL.
pub(crate) fn from_base64(text: &str) -> Answer<Vec<u8>> {
    let data = match text.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,").map(|(_, data)| data),
        None => Some(text),
    };
    let bytes = data.and_then(|data| BASE64.decode(data.trim()).ok());
    bytes.ok_or_else(|| ApiError::bad_request("a photo is not in base64"))
}
