//! `/v1/jobs`: sessions and how far they are.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream::unfold;
use tokio::sync::watch;
use tokio_stream::{Stream, StreamExt, wrappers::WatchStream};

use crate::{
    ApiError,
    error::{Answer, ErrorBody},
    extract::Named,
    jobs::Job,
    state::App,
};

/// A sign of life while nothing happens.
const ALIVE_EVERY: Duration = Duration::from_secs(10);

/// List the sessions since the server was started, the newest first.
#[utoipa::path(get, path = "/v1/jobs", responses((status = 200, body = Vec<Job>), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>) -> Json<Vec<Job>> {
    Json(app.jobs.all())
}

fn follow(app: &App, id: u64) -> Answer<watch::Receiver<Job>> {
    app.jobs.follow(id).ok_or_else(|| ApiError::not_found(format!("there is no session {id}")))
}

/// Show how far a session is.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", params(("id" = u64, Path, description = "The session")),
    responses((status = 200, body = Job), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn show(State(app): State<App>, Named(id): Named<u64>) -> Answer<Json<Job>> {
    Ok(Json(follow(&app, id)?.borrow().clone()))
}

/// Follow a session by server-sent events: `job`, each with the whole session. The last one says how it ended.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/events", params(("id" = u64, Path, description = "The session")),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = "4XX", body = ErrorBody)),
)]
pub(crate) async fn events(State(app): State<App>, Named(id): Named<u64>) -> Answer<Response> {
    let events = until_over(follow(&app, id)?).map(event);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE_EVERY)).into_response())
}

#[allow(clippy::unnecessary_wraps, clippy::needless_pass_by_value, reason = "a stream of events is of results")]
fn event(job: Job) -> Result<Event, Infallible> {
    let event = Event::default().event("job").id(job.id.to_string());
    Ok(event.json_data(&job).unwrap_or_default())
}

/// The states of a session, the last one included.
fn until_over(job: watch::Receiver<Job>) -> impl Stream<Item = Job> {
    unfold(Some(WatchStream::new(job)), async |states| {
        let mut states = states?;
        let job = states.next().await?;
        let left = (!job.is_over()).then_some(states);
        Some((job, left))
    })
}
