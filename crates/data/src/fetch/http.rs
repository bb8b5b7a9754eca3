//! Downloads that can be resumed: what has arrived is kept, and the next attempt asks for the rest.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use rehearsal_files::regular;
use ureq::{Agent, Body, http::Response};

use super::{Timeouts, effort::Effort};
use crate::{
    DataError, Progress, Unit,
    files::{unwritable, write_whole},
    unpack::remove,
};

/// The longest version string, in bytes.
const LONGEST_VERSION: u64 = 1 << 12;

pub(super) struct Download<'a> {
    pub url: &'a str,
    /// The target file; if it exists, it holds the first bytes.
    pub to: &'a Path,
    /// The most bytes that are accepted.
    pub limit: u64,
    pub timeouts: Timeouts,
    pub progress: &'a dyn Progress,
}

/// Why an attempt failed.
enum Failure {
    /// Worth another attempt.
    Passing(String),
    Final(DataError),
}

impl Failure {
    fn passing(error: impl std::fmt::Display) -> Self {
        Self::Passing(error.to_string())
    }
}

impl Download<'_> {
    /// Downloads the rest. True if it began with bytes of an earlier download.
    pub(super) fn run(&self) -> Result<bool, DataError> {
        let resumed = self.have() > 0;
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("rehearsal/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(self.timeouts.silence))
            .timeout_recv_response(Some(self.timeouts.silence))
            .timeout_per_read(Some(self.timeouts.silence))
            .build()
            .into();
        let mut effort = Effort::new(self.timeouts);
        loop {
            let before = self.have();
            effort.begin();
            let tried = self.attempt(&agent, &mut effort);
            self.progress.end();
            match tried {
                Ok(()) => return Ok(resumed),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(why)) => {
                    let wait = effort.failed(&why, self.have() > before).map_err(|why| self.failed(why))?;
                    self.progress.say(&format!("{why}: retrying in {:.0} s", wait.as_secs_f64()));
                    std::thread::sleep(wait);
                }
            }
        }
    }

    fn attempt(&self, agent: &Agent, effort: &mut Effort) -> Result<(), Failure> {
        let (have, version) = self.beginning().map_err(Failure::Final)?;
        let mut request = agent.get(self.url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
            // If the file on the server has changed, it sends all of it.
            if let Some(version) = version {
                request = request.header("If-Range", version);
            }
        }
        let response = request.call().map_err(|error| match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Failure::Final(self.failed(error.to_string())),
            error => Failure::passing(error),
        })?;
        match response.status().as_u16() {
            200 => {
                if have > 0 {
                    effort.restart().map_err(|why| Failure::Final(self.failed(why)))?;
                }
                self.receive(response, 0, effort)
            }
            206 => match range(&response) {
                Some((start, _)) if start == have => self.receive(response, have, effort),
                _ => self.start_over("the server sent another range than the one asked for", effort),
            },
            416 if range_total(&response) == Some(have) => Ok(()),
            416 => self.start_over("the file on the server has changed", effort),
            status @ (408 | 425 | 429 | 500..=599) => Err(Failure::Passing(format!("the server answers {status}"))),
            status => {
                let name = response.status().canonical_reason().unwrap_or_default();
                Err(Failure::Final(self.failed(format!("the server answers {status} {name}"))))
            }
        }
    }

    /// Writes the body of a response after the first `start` bytes.
    fn receive(&self, mut response: Response<Body>, start: u64, effort: &mut Effort) -> Result<(), Failure> {
        let total = match range(&response) {
            Some((_, total)) if start > 0 => total,
            _ => header(&response, "content-length").and_then(|length| length.parse().ok()),
        };
        if start == 0 {
            remember(&response, self.to).map_err(Failure::Final)?;
        }
        let name = self.url.rsplit('/').next().unwrap_or(self.url);
        self.progress.begin(name, Unit::Bytes, start, total);
        let unwritable = |error| Failure::Final(unwritable(self.to)(error));
        if start == 0 {
            // Never through an existing name: it may be a link.
            remove(self.to).map_err(Failure::Final)?;
        }
        let mut file = OpenOptions::new().create_new(start == 0).append(true).open(self.to).map_err(unwritable)?;
        file.set_len(start).map_err(unwritable)?;
        let mut reader = response.body_mut().with_config().limit(u64::MAX).reader();
        let mut have = start;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = reader.read(&mut buffer).map_err(Failure::passing)?;
            if read == 0 {
                break;
            }
            have += read as u64;
            if have > self.limit {
                drop(file);
                forget(self.to).map_err(Failure::Final)?;
                let why = format!("it is larger than the {} bytes expected", self.limit);
                return Err(Failure::Final(self.failed(why)));
            }
            file.write_all(&buffer[..read]).map_err(unwritable)?;
            self.progress.advance(read as u64);
            effort.came(read as u64).map_err(|why| Failure::Final(self.failed(why)))?;
        }
        file.sync_all().map_err(unwritable)?;
        match total {
            Some(total) if have < total => {
                Err(Failure::Passing(format!("the connection was cut after {have} of {total} bytes")))
            }
            _ => Ok(()),
        }
    }

    fn start_over<T>(&self, why: &str, effort: &mut Effort) -> Result<T, Failure> {
        forget(self.to).map_err(Failure::Final)?;
        effort.restart().map_err(|why| Failure::Final(self.failed(why)))?;
        Err(Failure::Passing(why.into()))
    }

    /// How many bytes are there, and of which version of the file, if that is known. If the version
    /// cannot be read, it starts over.
    fn beginning(&self) -> Result<(u64, Option<String>), DataError> {
        let have = self.have();
        let is_plain = |bytes: &Vec<u8>| bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
        match regular::read(&validator(self.to), LONGEST_VERSION) {
            _ if have == 0 => Ok((0, None)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((have, None)),
            Ok(bytes) if is_plain(&bytes) => Ok((have, String::from_utf8(bytes).ok())),
            _ => forget(self.to).map(|()| (0, None)),
        }
    }

    fn have(&self) -> u64 {
        self.to.symlink_metadata().ok().filter(fs::Metadata::is_file).map_or(0, |file| file.len())
    }

    fn failed(&self, why: String) -> DataError {
        DataError::Download { url: self.url.into(), why }
    }
}

/// Removes the bytes that have arrived.
pub(super) fn forget(partial: &Path) -> Result<(), DataError> {
    remove(&validator(partial))?;
    remove(partial)
}

/// The file that holds the version of the file that is being downloaded.
fn validator(partial: &Path) -> PathBuf {
    partial.with_added_extension("version")
}

/// Saves the strong validator of a response, if it has one.
fn remember(response: &Response<Body>, partial: &Path) -> Result<(), DataError> {
    let strong = header(response, "etag").filter(|tag| !tag.starts_with("W/"));
    match strong.or_else(|| header(response, "last-modified")) {
        Some(text) => write_whole(&validator(partial), text.as_bytes()),
        None => remove(&validator(partial)),
    }
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The start of the range and the length of the file: `bytes 5-9/10`.
fn range(response: &Response<Body>) -> Option<(u64, Option<u64>)> {
    let (span, total) = header(response, "content-range")?.strip_prefix("bytes ")?.split_once('/')?;
    Some((span.split_once('-')?.0.parse().ok()?, total.parse().ok()))
}

/// The length of the file: `bytes */10`.
fn range_total(response: &Response<Body>) -> Option<u64> {
    header(response, "content-range")?.strip_prefix("bytes */")?.parse().ok()
}
