//! What a client is told if something is wrong: one shape for every error.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use rehearsal_model::ModelError;
use serde::Serialize;
use utoipa::ToSchema;

/// An error, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong.
    pub error: Reason,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reason {
    /// For programs: it does not change.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    pub reason: Reason,
    /// Seconds after which it may be tried again.
    pub retry_after: Option<u32>,
}

/// The result of a request.
pub(crate) type Answer<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, reason: Reason { code, message: message.into(), hint: None }, retry_after: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub fn unreadable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unreadable_photo", message)
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub fn busy(message: impl Into<String>) -> Self {
        Self { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message) }
    }

    pub fn internal() -> Self {
        let message = "the request could not be answered: the server's log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.reason.hint = Some(hint.into());
        self
    }

    /// Whether one photo of a request is to blame.
    pub fn is_of_photo(&self) -> bool {
        use StatusCode as Is;
        matches!(self.status, Is::BAD_REQUEST | Is::PAYLOAD_TOO_LARGE | Is::UNPROCESSABLE_ENTITY)
    }

    pub fn no_version() -> Self {
        Self::conflict("no_version", "the model has no version yet").hint("teach it photos of at least two classes")
    }
}

impl From<&ModelError> for ApiError {
    /// Messages that name a file of the server stay in its log.
    fn from(error: &ModelError) -> Self {
        let text = error.to_string();
        match error {
            ModelError::NoSuchClass(_)
            | ModelError::NoVersion { .. }
            | ModelError::NoMatch(_)
            | ModelError::UnknownPhotos
            | ModelError::NoneHeld => Self::not_found(text),
            ModelError::Busy { .. } => Self {
                retry_after: Some(5),
                ..Self::conflict("busy", "another process is changing the model: wait until it is done")
            },
            ModelError::SimilarClasses { .. } => {
                Self::conflict("conflict", text).hint("use the known name, or learn with `as_is=true`")
            }
            ModelError::AnotherClass { is_exact: true, .. } => {
                Self::conflict("conflict", text).hint("learn with `relabel=true` to move them")
            }
            ModelError::AnotherClass { .. }
            | ModelError::LearnedExactly
            | ModelError::OneClass(_)
            | ModelError::SmallMemory { .. }
            | ModelError::Fixed { .. }
            | ModelError::LastClasses(_)
            | ModelError::NotKept { .. }
            | ModelError::TakenName(_)
            | ModelError::NotExact
            | ModelError::NotBuilt => Self::conflict("conflict", text),
            ModelError::Refused(_) | ModelError::NoImages => Self::bad_request(text),
            ModelError::UnreadablePhotos { .. } => Self::unreadable(text),
            ModelError::Absent { .. } | ModelError::Unfinished { .. } => Self::no_version(),
            _ => Self::internal(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.reason })).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
