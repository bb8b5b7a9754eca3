//! A server from its start to its end.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use axum::Router;
use rehearsal_model::ModelError;
use thiserror::Error;
use tokio::{
    runtime::{Builder, Runtime},
    sync::{Mutex, watch},
    time::sleep,
};

use crate::{
    Options, api, connections,
    current::Versions,
    guard::Gate,
    jobs::Jobs,
    page,
    predictor::Predictor,
    state::{App, Shared},
};

/// So often the model is looked at: another process may have changed it.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// So often a session is asked whether it has ended.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Why a model is not served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on: {error}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// Other machines can reach the address.
    #[error("{0} can be reached by other machines: a token is needed")]
    NoToken(std::net::IpAddr),
    /// A token that cannot be sent or guesses too easily.
    #[error("the token has {0}: it must be of at least 16 letters, digits or signs, without spaces")]
    Token(&'static str),
    /// There is nothing to watch.
    #[error("{0} is not a directory")]
    NoDirectory(PathBuf),
    /// An address of Label Studio that is none.
    #[error("{0} is not the address of a Label Studio, such as http://localhost:8080, or its token cannot be sent")]
    LabelStudio(String),
    /// Threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(io::Error),
}

impl ServeError {
    /// Whether the input is wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Model(error) => error.is_user_error(),
            Self::Address { .. } | Self::NoToken(_) | Self::Token(_) | Self::LabelStudio(_) | Self::NoDirectory(_) => {
                true
            }
            Self::Threads(_) => false,
        }
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    router: Router,
    app: App,
    learning: JoinHandle<()>,
    stop: Stop,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(crate) fn new(sender: watch::Sender<bool>) -> Self {
        Self(Arc::new(sender))
    }

    /// The server answers what it has begun to answer, ends its sessions and then ends.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens the model and listens.
    ///
    /// # Errors
    /// The model is damaged, the address is taken, or there is no token for an address that others can reach.
    pub fn start(options: Options) -> Result<Self, ServeError> {
        check(&options)?;
        let versions = Arc::new(Versions::open(options.model.clone())?);
        let (listener, address) = listen(SocketAddr::new(options.host, options.port))?;
        let runtime = runtime()?;
        let (sender, stopping) = watch::channel(false);
        let (changing, limits) = (Arc::new(Mutex::new(())), options.limits);
        let (jobs, learning) = Jobs::start(
            options.model.clone(),
            Arc::clone(&versions),
            Arc::clone(&changing),
            &limits,
            Arc::clone(&options.log),
        )
        .map_err(ServeError::Threads)?;
        let app = Arc::new(Shared {
            versions,
            predictor: Predictor::start(limits.queue, Arc::clone(&options.log)).map_err(ServeError::Threads)?,
            jobs,
            changing,
            gate: Arc::new(Gate::new(options.token.clone(), options.names.clone(), limits, page::MODEL)),
            stopping,
            options,
        });
        let (router, _) = api::router(&app);
        Ok(Self { listener, address, runtime, router, app, learning, stop: Stop::new(sender) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// To stop it.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Answers until it is stopped.
    ///
    /// # Errors
    /// It cannot listen.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, address, runtime, router, app, learning, .. } = self;
        let (limits, stopping) = (app.options.limits, app.stopping.clone());
        runtime.block_on(async {
            let unusable = |error| ServeError::Address { address, error };
            let listener = tokio::net::TcpListener::from_std(listener).map_err(unusable)?;
            let watching = tokio::spawn(watch_model(Arc::clone(&app)));
            connections::answer(listener, router, limits, stopping).await;
            watching.abort();
            finish_sessions(&app).await;
            Ok::<(), ServeError>(())
        })?;
        // The queues end with their last senders.
        drop(runtime);
        drop(app);
        let _ = learning.join();
        Ok(())
    }
}

/// Listens on an address; port 0 becomes the one that was free.
pub(crate) fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let unusable = |error| ServeError::Address { address, error };
    let listener = TcpListener::bind(address).map_err(unusable)?;
    listener.set_nonblocking(true).map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    Ok((listener, address))
}

/// The threads that answer.
pub(crate) fn runtime() -> Result<Runtime, ServeError> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(ServeError::Threads)
}

fn check(options: &Options) -> Result<(), ServeError> {
    match &options.token {
        None if !options.host.is_loopback() => Err(ServeError::NoToken(options.host)),
        Some(token) if token.len() < 16 => Err(ServeError::Token("fewer than 16 letters")),
        Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err(ServeError::Token("spaces or other signs that cannot be sent"))
        }
        _ => Ok(()),
    }
}

/// Uses what another process made of the model.
async fn watch_model(app: App) {
    let mut told = String::new();
    loop {
        sleep(LOOK_EVERY).await;
        let looked = Arc::clone(&app);
        let Ok(looked) = tokio::task::spawn_blocking(move || looked.versions.refresh()).await else { continue };
        let line = match looked {
            Ok(false) => continue,
            Ok(true) => app.versions.current().map(|current| format!("version {} answers", current.number)),
            Err(ModelError::Absent { .. } | ModelError::Unfinished { .. }) if app.versions.current().is_none() => None,
            Err(error) => Some(format!("error: {error}")),
        };
        // Once.
        if let Some(line) = line.filter(|line| *line != told) {
            (app.options.log)(&line);
            told = line;
        }
    }
}

/// Waits for the sessions that were accepted; those that take too long are stopped.
async fn finish_sessions(app: &App) {
    let begun = Instant::now();
    while !app.jobs.all().iter().all(crate::jobs::Job::is_over) {
        if begun.elapsed() > app.options.limits.stop_time {
            app.jobs.stop();
        }
        sleep(ASK_EVERY).await;
    }
}
