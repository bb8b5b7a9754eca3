//! `POST /v1/session`: a page gives the token and gets a cookie for it, so that pictures can be shown.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::SET_COOKIE},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::Given,
    guard::{SESSION, is_token, session},
    state::App,
};

/// The token of the server.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// As it was given when the server was started.
    token: String,
}

/// Begin a session of a page: the answer has a cookie that stands for the token.
#[utoipa::path(
    post, path = "/v1/session", request_body = Token,
    responses((status = 204, description = "The cookie is set"), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn begin(State(app): State<App>, Given(given): Given<Token>) -> Answer<Response> {
    let Some(token) = &app.options.token else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    if !is_token(&given.token, token) {
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "that is not the token of this server"));
    }
    let cookie = format!("{SESSION}={}; Path=/; HttpOnly; SameSite=Strict", session(token));
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)], Json(())).into_response())
}
