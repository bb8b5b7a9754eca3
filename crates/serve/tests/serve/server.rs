//! A server in a thread of the test, and its model.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rehearsal_serve::{Limits, Options, Server, Stop};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    client::{get, post},
    photos::lesson,
};

pub struct Serving {
    pub address: SocketAddr,
    pub model: PathBuf,
    pub log: Arc<Mutex<Vec<String>>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    _place: TempDir,
}

impl Serving {
    /// An empty model.
    pub fn empty(change: impl FnOnce(&mut Options)) -> Self {
        let place = tempfile::tempdir().unwrap();
        let model = place.path().join("shop.model");
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let mut options = Options {
            port: 0,
            log: Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())),
            ..Options::new(&model)
        };
        change(&mut options);
        let server = Server::start(options).unwrap();
        let (address, stop) = (server.address(), server.stopper());
        let thread = Some(thread::spawn(move || server.run().unwrap()));
        Self { address, model, log, stop, thread, _place: place }
    }

    /// A model that has learned stripes and bars.
    pub fn taught() -> Self {
        Self::taught_with(|_| ())
    }

    pub fn taught_with(change: impl FnOnce(&mut Options)) -> Self {
        let serving = Self::empty(change);
        let job = serving.learn(&["stripes", "bars"], 0..8);
        assert_eq!(job["state"], "learned", "{job}");
        serving
    }

    pub fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        Self::empty(|options| change(&mut options.limits))
    }

    /// Learns photos and waits until it is done.
    pub fn learn(&self, classes: &[&str], numbers: std::ops::Range<u32>) -> Value {
        let (kind, body) = lesson(classes, numbers);
        let answer = post(self.address, "/v1/learn", &kind, &body);
        assert_eq!(answer.status, 202, "{answer:?}");
        self.finished(&answer.json())
    }

    /// The last state of a session.
    pub fn finished(&self, job: &Value) -> Value {
        let begun = Instant::now();
        loop {
            let job = get(self.address, &format!("/v1/jobs/{}", job["id"])).json();
            if job["state"] != "waiting" && job["state"] != "running" {
                return job;
            }
            assert!(begun.elapsed() < Duration::from_mins(2), "{job}");
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Stops it and waits for its end.
    pub fn stop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.stop();
        }
    }
}
