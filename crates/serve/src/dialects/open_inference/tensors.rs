//! Requests and answers of the protocol: JSON, behind which the binary data of the inputs may come.

use axum::{body::Bytes, extract::Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{ApiError, Limits, error::Answer, extract::json, photos};

/// The name of the input.
pub(super) const INPUT: &str = "image";
/// How long the JSON is if binary data follow.
const JSON_LENGTH: &str = "inference-header-content-length";

/// A request.
#[derive(Deserialize, ToSchema)]
pub(crate) struct InferRequest {
    /// Given back in the answer.
    #[serde(default)]
    id: Option<String>,
    /// The photos: one input, `image`, of type `BYTES`.
    inputs: Vec<Input>,
    /// What is asked for; everything if it is missing.
    #[serde(default)]
    outputs: Vec<OutputRequest>,
}

/// An input.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Input {
    /// `image`.
    name: String,
    /// `BYTES`.
    datatype: String,
    /// How many photos: `[n]` or `[n, 1]`.
    shape: Vec<usize>,
    /// The bytes of each photo in base64, unless binary data follow the JSON.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    data: Option<Value>,
    /// `binary_data_size`, if binary data follow.
    #[serde(default)]
    parameters: InputParameters,
}

#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct InputParameters {
    /// Bytes of this input behind the JSON.
    binary_data_size: Option<usize>,
}

/// An output that is asked for.
#[derive(Deserialize, ToSchema)]
pub(crate) struct OutputRequest {
    /// `class`, `probability`, `answer` or `probabilities`.
    pub name: String,
}

/// An answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Inferred {
    pub model_name: String,
    pub model_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub outputs: Vec<Output>,
}

/// An output.
#[derive(Serialize, ToSchema)]
pub(crate) struct Output {
    pub name: &'static str,
    pub datatype: &'static str,
    pub shape: Vec<usize>,
    pub data: Vec<Value>,
}

/// What is asked.
pub(super) struct Asked {
    pub id: Option<String>,
    pub photos: Vec<Vec<u8>>,
    pub outputs: Vec<OutputRequest>,
}

pub(super) async fn inputs(request: Request, limits: &Limits) -> Answer<Asked> {
    let length = request.headers().get(JSON_LENGTH).cloned();
    let body = photos::body(request, limits).await?;
    let length = match length {
        Some(length) => {
            length.to_str().ok().and_then(|length| length.parse().ok()).filter(|length| *length <= body.len())
        }
        None => Some(body.len()),
    };
    let length = length.ok_or_else(|| ApiError::bad_request(format!("`{JSON_LENGTH}` is longer than the body")))?;
    let InferRequest { id, inputs, outputs } = json(&body.slice(..length))?;
    let [input] = &inputs[..] else {
        return Err(ApiError::bad_request(format!("the model has one input, `{INPUT}`")));
    };
    if input.name != INPUT || input.datatype != "BYTES" {
        return Err(ApiError::bad_request(format!("the model's input is `{INPUT}` of type BYTES")));
    }
    let photos = match input.parameters.binary_data_size {
        Some(size) => binary(&body.slice(length..), size)?,
        None => text(input.data.as_ref().unwrap_or(&Value::Null))?,
    };
    let expected = input.shape.iter().try_fold(1usize, |product, side| product.checked_mul(*side));
    if input.shape.is_empty() || expected != Some(photos.len()) {
        let message = format!("the shape of `{INPUT}` says another number than the {} photos that came", photos.len());
        return Err(ApiError::bad_request(message));
    }
    Ok(Asked { id, photos, outputs })
}

/// Elements of a length each, as four bytes, the smallest first, and then their bytes.
fn binary(data: &Bytes, size: usize) -> Answer<Vec<Vec<u8>>> {
    let cut = || ApiError::bad_request("the binary data are shorter than they say");
    let mut rest = data.get(..size).ok_or_else(cut)?;
    let mut photos = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let (photo, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        photos.push(photo.to_vec());
        rest = after;
    }
    Ok(photos)
}

/// Texts in base64, in lists at any depth.
fn text(data: &Value) -> Answer<Vec<Vec<u8>>> {
    match data {
        Value::String(text) => Ok(vec![photos::from_base64(text)?]),
        Value::Array(parts) => Ok(parts.iter().map(text).collect::<Answer<Vec<_>>>()?.concat()),
        _ => Err(ApiError::bad_request("the data must be photos in base64")),
    }
}
