//! What Prometheus reads: requests, latency, and how sure the answers are, beside what the holdout set lets expect.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rehearsal_model::{Verdict, Version};

/// The upper ends of the buckets, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// The share of photos of known classes that are called unknown, by the choice of the limit.
const UNKNOWN: f64 = 0.05;

/// Of a route: how often each bucket, and the sum of seconds.
#[derive(Clone, Copy, Default)]
struct Latency {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// Counters since the server was started.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    latency: Mutex<BTreeMap<String, Latency>>,
    answers: [AtomicU64; 3],
}

const WORDS: [Verdict; 3] = [Verdict::Sure, Verdict::Unsure, Verdict::Unknown];

impl Metrics {
    /// Counts a request that was answered.
    pub fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let key = (method.to_owned(), route.to_owned(), status);
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        let mut all = self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = all.entry(route.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        BUCKETS.iter().zip(&mut latency.buckets).for_each(|(end, count)| *count += u64::from(seconds <= *end));
        latency.count += 1;
        latency.seconds += seconds;
    }

    /// Counts an answer of the model.
    pub fn answer(&self, verdict: Verdict) {
        let index = WORDS.iter().position(|word| *word == verdict).unwrap_or(0);
        self.answers[index].fetch_add(1, Ordering::Relaxed);
    }

    /// All of it as Prometheus reads it.
    pub fn text(&self, version: Option<(u32, &Version)>) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        };
        head(&mut text, "rehearsal_requests_total", "counter", "Requests that were answered.");
        for ((method, route, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(
                text,
                "rehearsal_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        head(&mut text, "rehearsal_request_seconds", "histogram", "Time from the head of a request to its answer.");
        for (route, latency) in &*self.latency.lock().unwrap_or_else(PoisonError::into_inner) {
            for (end, count) in BUCKETS.iter().zip(latency.buckets) {
                let _ = writeln!(text, "rehearsal_request_seconds_bucket{{route=\"{route}\",le=\"{end}\"}} {count}");
            }
            let Latency { count, seconds, .. } = latency;
            let _ = writeln!(text, "rehearsal_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "rehearsal_request_seconds_sum{{route=\"{route}\"}} {seconds}");
            let _ = writeln!(text, "rehearsal_request_seconds_count{{route=\"{route}\"}} {count}");
        }
        head(&mut text, "rehearsal_answers_total", "counter", "Photos that were predicted, by how sure the answer is.");
        for (word, count) in WORDS.iter().zip(&self.answers) {
            let (word, count) = (word.word(), count.load(Ordering::Relaxed));
            let _ = writeln!(text, "rehearsal_answers_total{{answer=\"{word}\"}} {count}");
        }
        let Some((number, version)) = version else { return text };
        head(&mut text, "rehearsal_version", "gauge", "The current version.");
        let _ = writeln!(text, "rehearsal_version {number}");
        if let Some(expected) = expected(version) {
            let help = "The share of answers that the holdout set lets expect: other shares are a sign of drift.";
            head(&mut text, "rehearsal_expected_share", "gauge", help);
            for (word, share) in WORDS.iter().zip(expected) {
                let _ = writeln!(text, "rehearsal_expected_share{{answer=\"{}\"}} {share:.4}", word.word());
            }
        }
        text
    }
}

/// The shares of sure, unsure and unknown answers on the holdout set; none if it is too small to tell.
fn expected(version: &Version) -> Option<[f64; 3]> {
    let threshold = version.threshold()?;
    let answers = version.holdout_answers().ok()?;
    let unknown = version.farthest_known().map_or(0.0, |_| UNKNOWN);
    let sure = answers.iter().filter(|answer| f64::from(answer.probability) >= threshold).count();
    let sure = (1.0 - unknown) * sure as f64 / answers.len().max(1) as f64;
    Some([sure, 1.0 - unknown - sure, unknown])
}
