//! A page that shows runs and grids while they go on, and after. It reads what they write and changes nothing.

mod answers;
mod curve;
mod live;
mod log;
mod runs;

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use tokio::{
    runtime::Runtime,
    sync::watch::{self, Receiver},
};

use crate::{
    Limits, ServeError,
    api::wrapped,
    connections,
    guard::Gate,
    page,
    server::{Stop, listen, runtime},
};

use answers::Watched;
pub use live::{Live, Replay, Replayed, ReplayedFor};
use runs::Runs;

/// The name by which nobody is asked: only addresses and `localhost` are answered.
const NO_NAMES: Vec<String> = Vec::new();

/// Requests are small, and a run that has ended must not wait for those who look at it.
fn limits() -> Limits {
    Limits { body: 1 << 10, bodies: 1 << 20, connections: 64, stop_time: Duration::from_secs(2), ..Limits::default() }
}

/// A server on this machine that shows runs.
pub struct Watch {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    router: Router,
    stopping: Receiver<bool>,
    stop: Stop,
}

impl Watch {
    /// Listens on a port of this machine, 0 for any that is free, and shows the runs at or below a directory: with `live`,
    /// the one run there, which is of this process.
    ///
    /// # Errors
    /// There is no such directory, or the port is taken.
    pub fn start(directory: PathBuf, port: u16, live: Option<Live>) -> Result<Self, ServeError> {
        if !directory.is_dir() {
            return Err(ServeError::NoDirectory(directory));
        }
        let (listener, address) = listen(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))?;
        let runtime = runtime()?;
        let (sender, stopping) = watch::channel(false);
        let gate = Arc::new(Gate::new(None, NO_NAMES, limits(), page::WATCH));
        let name = directory.file_name().map_or_else(|| "runs".into(), |name| name.to_string_lossy().into_owned());
        let runs = Mutex::new(Runs::new(directory, live.clone()));
        let router = wrapped(answers::all(Watched { name, live, runs }), &gate);
        Ok(Self { listener, address, runtime, router, stopping, stop: Stop::new(sender) })
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
        let Self { listener, address, runtime, router, stopping, .. } = self;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener);
            let listener = listener.map_err(|error| ServeError::Address { address, error })?;
            connections::answer(listener, router, limits(), stopping).await;
            Ok(())
        })
    }
}
