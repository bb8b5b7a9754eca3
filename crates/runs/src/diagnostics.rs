//! What replay does to the embedding space, task by task: the lines of a run's `diagnostics.jsonl`.
//!
//! The file has one line of JSON per task, written when the task has been learned, in the order of
//! tasks. A quantity that was not measured is absent from the line, or null.

use rehearsal_measure::{Distance, Histogram};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Measurements while one task was learned. Tasks and classes are counted from 0, in order of
/// appearance.
///
/// ```
/// let line = r#"{"task":1,"proxy_drift":[{"class":0,"raw":1.5,"normalised":0.25}],"class_mix":[30,10]}"#;
/// let task: rehearsal_runs::TaskDiagnostics = serde_json::from_str(line)?;
/// assert_eq!(task.proxy_drift[0].distance.raw, 1.5);
/// assert_eq!(task.inner_distance, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskDiagnostics {
    /// The task.
    pub task: usize,
    /// How far the proxy of each class seen so far moved from the end of the task before to the end
    /// of this one (for the first task: from the start). Methods without proxies have none.
    #[serde(default)]
    pub proxy_drift: Vec<ClassDrift>,
    /// Mean distance over all pairs of the embeddings retrieved in a step, averaged over the steps
    /// of the task.
    #[serde(default)]
    pub inner_distance: Option<Distance>,
    /// Mean distance of retrieved embeddings to the proxies of their classes, averaged over the
    /// steps of the task.
    #[serde(default)]
    pub distance_to_proxies: Option<Distance>,
    /// Cosines between the gradient of the batch and those of the samples picked for a *high*
    /// change of loss.
    #[serde(default)]
    pub alignment_high: Option<Histogram>,
    /// The same for the samples picked for a *low* change of loss.
    #[serde(default)]
    pub alignment_low: Option<Histogram>,
    /// Changes of loss of all candidates that were scored, as the retrieval estimated them.
    #[serde(default)]
    pub loss_change: Option<Histogram>,
    /// How often each class was retrieved: one count per class seen so far.
    #[serde(default)]
    pub class_mix: Vec<u64>,
    /// Samples picked for a *high* change of loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks_high: Option<Picks>,
    /// Samples picked for a *low* change of loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks_low: Option<Picks>,
    /// Samples picked for another reason, such as at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks_other: Option<Picks>,
    /// The correlation between the change of loss of a picked sample and its first-order estimate
    /// `−lr·⟨g, g_x⟩` from the gradients of the sample and of the batch: over the picks of both sides, in
    /// the steps whose gradients were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_order: Option<Correlation>,
    /// The same over the picks of the high side alone, so that the difference between the two sides
    /// does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_order_high: Option<Correlation>,
    /// The same over the picks of the low side alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_order_low: Option<Correlation>,
    /// Both distances along the task: means over stretches of equally many steps, at most 50 of
    /// them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<Stretch>,
}

/// Samples that were picked for one reason while a task was learned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picks {
    /// How many of them are from the n-th task before the one that is learned, from n = 0.
    #[serde(default)]
    pub task_age: Vec<u64>,
    /// How many of each class: one count per class seen so far.
    #[serde(default)]
    pub class_mix: Vec<u64>,
    /// How many slots were picked n times, of those filled when the task ended, from n = 0; the last entry counts n or
    /// more.
    #[serde(default)]
    pub slots_by_replays: Vec<u64>,
}

/// Correlations of two quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// How many pairs.
    pub n: u64,
    /// Pearson's; `None` if all values of one quantity are equal.
    #[serde(default)]
    pub pearson: Option<f64>,
    /// Spearman's: the correlation of their ranks.
    #[serde(default)]
    pub spearman: Option<f64>,
}

/// Consecutive steps of a task, and the distances of the samples replayed in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// The first step, from 1 in each task.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// See [`TaskDiagnostics::inner_distance`].
    #[serde(default)]
    pub inner_distance: Option<Distance>,
    /// See [`TaskDiagnostics::distance_to_proxies`].
    #[serde(default)]
    pub distance_to_proxies: Option<Distance>,
}

impl Picks {
    /// How many samples.
    pub fn total(&self) -> u64 {
        self.class_mix.iter().sum()
    }
}

/// How far one class's proxy moved while a task was learned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassDrift {
    /// The class.
    pub class: usize,
    /// The distance, written as `raw` and `normalised` beside the class.
    #[serde(flatten)]
    pub distance: Distance,
}

impl TaskDiagnostics {
    /// Some tasks as the text of `diagnostics.jsonl`.
    pub fn lines(tasks: &[Self]) -> String {
        let line = |task| serde_json::to_string(task).expect("diagnostics are plain data") + "\n";
        tasks.iter().map(line).collect()
    }

    /// Reads the text of `diagnostics.jsonl`. Unknown fields and empty lines are ignored.
    ///
    /// # Errors
    /// A line is not what [`lines`](Self::lines) writes.
    pub fn parse(text: &str) -> Result<Vec<Self>, DiagnosticsError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(i, line)| serde_json::from_str(line).map_err(|error| DiagnosticsError { line: i + 1, error });
        lines.map(read).collect()
    }
}

/// Why a text is not the content of a `diagnostics.jsonl`.
#[derive(Debug, Error)]
#[error("line {line}: {error}")]
pub struct DiagnosticsError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub error: serde_json::Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let task = TaskDiagnostics {
            task: 2,
            proxy_drift: vec![ClassDrift { class: 4, distance: Distance { raw: 1.5, normalised: 0.25 } }],
            inner_distance: Some(Distance { raw: 9.0, normalised: 1.0 }),
            alignment_low: Some(Histogram::new(-1.0, 1.0, 2)),
            class_mix: vec![3, 0, 7],
            picks_low: Some(Picks { task_age: vec![4, 0, 1], class_mix: vec![1, 0, 4], slots_by_replays: vec![7, 5] }),
            first_order: Some(Correlation { n: 10, pearson: Some(0.5), spearman: None }),
            distances: vec![Stretch { from: 1, to: 4, inner_distance: None, distance_to_proxies: None }],
            ..TaskDiagnostics::default()
        };
        assert_eq!(task.picks_low.as_ref().unwrap().total(), 5);
        let line = serde_json::to_string(&task).unwrap();
        assert!(line.contains(r#"{"class":4,"raw":1.5,"normalised":0.25}"#), "{line}");
        assert_eq!(serde_json::from_str::<TaskDiagnostics>(&line).unwrap(), task);
        let bare: TaskDiagnostics = serde_json::from_str(r#"{"task":2,"something new":1}"#).unwrap();
        assert_eq!(bare, TaskDiagnostics { task: 2, ..TaskDiagnostics::default() });
    }

    #[test]
    fn an_error_names_the_damaged_line() {
        let tasks = [0, 1].map(|task| TaskDiagnostics { task, ..TaskDiagnostics::default() });
        let text = TaskDiagnostics::lines(&tasks);
        assert_eq!(TaskDiagnostics::parse(&format!("{text}\n")).unwrap(), tasks);
        let damaged = TaskDiagnostics::parse(text.trim_end().trim_end_matches('}')).unwrap_err();
        assert!(damaged.to_string().starts_with("line 2: EOF"), "{damaged}");
    }
}
