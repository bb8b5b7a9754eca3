//! What a server is told when it starts.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crate::ServeError;

/// Called with every line that the server has to say.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// How a model is served.
#[derive(Clone)]
pub struct Options {
    /// The model: a directory, which the first session makes.
    pub model: PathBuf,
    /// The address that the server listens on.
    pub host: IpAddr,
    /// Its port; 0 for any that is free.
    pub port: u16,
    /// Without it nothing but the page, the state of health and the API's description is answered.
    pub token: Option<String>,
    /// Names by which the server is reached, beside addresses and `localhost`.
    pub names: Vec<String>,
    /// Nothing is changed.
    pub read_only: bool,
    /// The Label Studio whose files are fetched: of all addresses in requests, only these are.
    pub label_studio: Option<LabelStudio>,
    /// What is refused.
    pub limits: Limits,
    /// What the server has to say.
    pub log: Log,
}

/// A Label Studio.
#[derive(Clone)]
pub struct LabelStudio {
    origin: String,
    key: Option<String>,
}

impl LabelStudio {
    /// At an address such as `http://localhost:8080`, with a token of a user of it.
    ///
    /// # Errors
    /// It is not the address of a server.
    pub fn new(address: &str, key: Option<String>) -> Result<Self, ServeError> {
        let bad = || ServeError::LabelStudio(address.to_owned());
        let origin = address.trim_end_matches('/');
        let host = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme)).ok_or_else(bad)?;
        let is_plain =
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
        let key = key.filter(|key| !key.is_empty());
        let is_sent = key.iter().all(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
        if is_plain && is_sent { Ok(Self { origin: origin.to_owned(), key }) } else { Err(bad()) }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

/// What is refused, so that no client can use up memory, connections or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request.
    pub body: usize,
    /// Bytes of all requests that are being answered or learned.
    pub bodies: usize,
    /// Photos of one request to predict.
    pub photos: usize,
    /// Photos of one request to learn.
    pub learned: usize,
    /// Pixels of a photo, before it is decoded.
    pub pixels: u64,
    /// Entries of a zip file.
    pub zip_entries: usize,
    /// Bytes of all photos of a zip file.
    pub zip_bytes: u64,
    /// Requests that wait for a prediction.
    pub queue: usize,
    /// Sessions that wait.
    pub sessions: usize,
    /// Connections at a time; more wait until one is closed.
    pub connections: usize,
    /// For the head of a request, and for which an idle connection is kept.
    pub head_time: Duration,
    /// For the body of a request.
    pub body_time: Duration,
    /// For which a client may not read its answer.
    pub write_time: Duration,
    /// For requests and sessions that are still going on when the server is stopped.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            bodies: 256 << 20,
            photos: 32,
            learned: 1000,
            pixels: 50_000_000,
            zip_entries: 2000,
            zip_bytes: 128 << 20,
            queue: 64,
            sessions: 4,
            connections: 256,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_mins(2),
            write_time: Duration::from_secs(30),
            stop_time: Duration::from_mins(1),
        }
    }
}

impl Options {
    /// A model on this machine only.
    pub fn new(model: impl Into<PathBuf>) -> Self {
        Self {
            model: model.into(),
            host: Ipv4Addr::LOCALHOST.into(),
            port: 7860,
            token: None,
            names: Vec::new(),
            read_only: false,
            label_studio: None,
            limits: Limits::default(),
            log: Arc::new(|_| ()),
        }
    }
}
