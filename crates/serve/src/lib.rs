//! An HTTP server for a model of [`rehearsal_model`]: it predicts while the model learns, teaches it what it is given,
//! and shows a page to people.
//!
//! Every change goes through [`rehearsal_model::Model`], its lock and its versions: a server that is killed leaves the
//! last complete version, as the command line does. `API.md` in this crate shows each request and its answer.
//!
//! ```no_run
//! use rehearsal_serve::{Options, Server};
//!
//! let server = Server::start(Options::new("shop.model"))?;
//! println!("http://{}", server.address());
//! server.run()?;
//! # Ok::<(), rehearsal_serve::ServeError>(())
//! ```

#![forbid(unsafe_code)]

mod api;
mod connections;
mod current;
mod dialects;
mod error;
mod extract;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod jobs;
mod map;
mod metrics;
mod options;
mod page;
mod photos;
mod predictor;
mod server;
mod state;
mod watch;

pub(crate) use error::ApiError;
pub use error::{ErrorBody, Reason};
pub use options::{LabelStudio, Limits, Log, Options};
pub use server::{ServeError, Server, Stop};
pub use watch::{Live, Replay, Replayed, ReplayedFor, Watch};

/// The description of the HTTP API, as `OpenAPI` JSON.
pub fn openapi() -> String {
    api::description().to_pretty_json().unwrap_or_default()
}
