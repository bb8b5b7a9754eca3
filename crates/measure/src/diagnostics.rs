//! What replay does to the embedding space, task by task: the lines of a run's `diagnostics.jsonl`.
//!
//! The file has one line of JSON per task, written when the task has been learned, in the order of tasks. Whoever writes
//! it and whoever reads it use [`TaskDiagnostics`]. What was not measured is left out of the line, or null.

use serde::{Deserialize, Serialize};

use crate::Distance;

/// What was seen while one task was learned. Tasks and classes are counted from 0, in order of appearance.
///
/// ```
/// let line = r#"{"task":1,"proxy_drift":[{"class":0,"raw":1.5,"normalised":0.25}],"class_mix":[30,10]}"#;
/// let task: measure::TaskDiagnostics = serde_json::from_str(line)?;
/// assert_eq!(task.proxy_drift[0].distance.raw, 1.5);
/// assert_eq!(task.inner_distance, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskDiagnostics {
    /// The task.
    pub task: usize,
    /// How far the proxy of each class seen so far moved from the end of the task before to the end of this one (for
    /// the first task: from the start). Methods without proxies have none.
    #[serde(default)]
    pub proxy_drift: Vec<ClassDrift>,
    /// Mean distance over all pairs of the embeddings retrieved in a step, averaged over the steps of the task.
    #[serde(default)]
    pub inner_distance: Option<Distance>,
    /// Mean distance of retrieved embeddings to the proxies of their classes, averaged over the steps of the task.
    #[serde(default)]
    pub distance_to_proxies: Option<Distance>,
    /// Cosines between the gradient of the batch and those of the samples picked for a *high* change of loss.
    #[serde(default)]
    pub alignment_high: Option<Histogram>,
    /// The same for the samples picked for a *low* change of loss.
    #[serde(default)]
    pub alignment_low: Option<Histogram>,
    /// Changes of loss of all candidates that were scored.
    #[serde(default)]
    pub loss_change: Option<Histogram>,
    /// How often each class was retrieved: one count per class seen so far.
    #[serde(default)]
    pub class_mix: Vec<u64>,
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

/// Counts of values in bins of equal width from `from` to `to`. A value on a boundary belongs to the higher bin, `to` to the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The lower end of the first bin.
    pub from: f64,
    /// The upper end of the last bin.
    pub to: f64,
    /// One count per bin.
    pub counts: Vec<u64>,
    /// How many values were below `from`.
    #[serde(default)]
    pub below: u64,
    /// How many values were above `to`.
    #[serde(default)]
    pub above: u64,
}

impl Histogram {
    /// An empty one.
    ///
    /// # Panics
    ///
    /// If it has no bins or no width.
    pub fn new(from: f64, to: f64, bins: usize) -> Self {
        assert!(from < to && bins > 0, "a histogram has bins, and its ends differ");
        Self { from, to, counts: vec![0; bins], below: 0, above: 0 }
    }

    /// Counts a value; one that is not a number is not counted.
    pub fn add(&mut self, value: f64) {
        let place = (value - self.from) / (self.to - self.from) * self.counts.len() as f64;
        if value < self.from {
            self.below += 1;
        } else if value > self.to {
            self.above += 1;
        } else if !value.is_nan() {
            let last = self.counts.len() - 1;
            self.counts[(place as usize).min(last)] += 1;
        }
    }

    /// How many values were counted, outside the bins included.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.below + self.above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_their_bins() {
        let mut histogram = Histogram::new(-1.0, 1.0, 4);
        for value in [-1.0, -0.6, -0.5, 0.0, 0.99, 1.0, 1.01, -3.0, f64::NAN] {
            histogram.add(value);
        }
        assert_eq!((histogram.below, &histogram.counts[..], histogram.above), (1, &[2, 1, 1, 2][..], 1));
        assert_eq!(histogram.total(), 8);
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let task = TaskDiagnostics {
            task: 2,
            proxy_drift: vec![ClassDrift { class: 4, distance: Distance { raw: 1.5, normalised: 0.25 } }],
            inner_distance: Some(Distance { raw: 9.0, normalised: 1.0 }),
            alignment_low: Some(Histogram::new(-1.0, 1.0, 2)),
            class_mix: vec![3, 0, 7],
            ..TaskDiagnostics::default()
        };
        let line = serde_json::to_string(&task).unwrap();
        assert!(line.contains(r#"{"class":4,"raw":1.5,"normalised":0.25}"#), "{line}");
        assert_eq!(serde_json::from_str::<TaskDiagnostics>(&line).unwrap(), task);
        let bare: TaskDiagnostics = serde_json::from_str(r#"{"task":2,"something new":1}"#).unwrap();
        assert_eq!(bare, TaskDiagnostics { task: 2, ..TaskDiagnostics::default() });
    }
}
