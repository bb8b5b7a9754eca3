//! What the page of a run asks for.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{Json, Router, extract::State, routing::get};
use serde::{Deserialize, Serialize};

use super::{
    live::{Live, Shown},
    runs::{Brief, Detail, Runs},
};
use crate::{ApiError, error::Answer, extract::Asked};

/// What is watched.
pub(super) struct Watched {
    pub name: String,
    pub live: Option<Live>,
    pub runs: Mutex<Runs>,
}

/// The runs of a directory.
#[derive(Serialize)]
pub(super) struct All {
    /// The name of the directory.
    name: String,
    /// Whether this server is a part of a run, which shows what it replays.
    live: bool,
    /// In order of names.
    runs: Vec<Brief>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    /// The run's name, as the list has it.
    name: String,
}

pub(super) fn all(watched: Watched) -> Router {
    let routes = Router::new().route("/v1/runs", get(runs)).route("/v1/run", get(run));
    routes.route("/v1/replayed", get(replayed)).with_state(Arc::new(watched))
}

/// List the runs.
async fn runs(State(watched): State<Arc<Watched>>) -> Answer<Json<All>> {
    let (name, live) = (watched.name.clone(), watched.live.is_some());
    let runs = blocking(&watched, Runs::all).await?;
    Ok(Json(All { name, live, runs }))
}

/// Show a run.
async fn run(State(watched): State<Arc<Watched>>, Asked(query): Asked<Query>) -> Answer<Json<Detail>> {
    let found = blocking(&watched, move |runs| runs.one(&query.name)).await?;
    found.map(Json).ok_or_else(|| ApiError::not_found("there is no run of this name"))
}

/// Show what a run in this process replayed in its last step; null if there is none.
async fn replayed(State(watched): State<Arc<Watched>>) -> Json<Option<Shown>> {
    Json(watched.live.as_ref().and_then(Live::shown))
}

/// Reads files beside the threads that answer, one look at a time.
async fn blocking<T: Send + 'static>(
    watched: &Arc<Watched>,
    look: impl FnOnce(&mut Runs) -> T + Send + 'static,
) -> Answer<T> {
    let watched = Arc::clone(watched);
    let looked =
        tokio::task::spawn_blocking(move || look(&mut watched.runs.lock().unwrap_or_else(PoisonError::into_inner)));
    looked.await.map_err(|_| ApiError::internal())
}
