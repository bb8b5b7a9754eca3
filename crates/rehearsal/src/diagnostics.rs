//! Looking into a run while it learns: what is retrieved, where it lies in the embedding space, and
//! how the proxies move.
//!
//! Nothing here changes what is learned. All series come from what a step computes anyway, but for
//! the alignment of gradients, which takes passes of its own and is therefore measured in every
//! 50th step only.

mod first_order;
mod picks;
mod series;

use burn::tensor::Tensor;
use first_order::FirstOrder;
use picks::PickCounters;
use rehearsal_measure::{Distance, Histogram, distance_to_proxies, inner_distance, proxy_drift};
use rehearsal_runs::{ClassDrift, TaskDiagnostics};
use serde::{Deserialize, Serialize};
use series::Series;

use crate::{
    device::read,
    learner::{Learner, Replayed, Step},
    network::Network,
    retrieval::Side,
    sample::TaskId,
    sample_probe::{NetworkProbe, SampleProbe},
};

/// Gradients are compared in every step whose number this divides; where nothing was picked by its change of loss in
/// that one, in the next in which something was.
const ALIGNMENT_EVERY: u64 = 50;
/// Bins of cosines from −1 to 1.
const ALIGNMENT_BINS: usize = 40;
/// Changes of loss are counted between −this and this; what is beyond is counted beside.
const LOSS_CHANGE: f64 = 8.0;
/// Bins of changes of loss.
const LOSS_CHANGE_BINS: usize = 80;

/// What was seen so far. It is part of a checkpoint, so that a resumed run goes on counting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// The tasks that have been learned.
    finished: Vec<TaskDiagnostics>,
    /// `[K, d]`: where the proxies were when the task began; nothing if the head has none.
    proxies: Vec<f32>,
    inner: Sum,
    to_proxies: Sum,
    alignment_high: Option<Histogram>,
    alignment_low: Option<Histogram>,
    loss_change: Option<Histogram>,
    class_mix: Vec<u64>,
    /// The time for comparing gradients has come.
    #[serde(default)]
    alignment_due: bool,
    #[serde(default)]
    first_order: FirstOrder,
    #[serde(default)]
    picks_high: PickCounters,
    #[serde(default)]
    picks_low: PickCounters,
    #[serde(default)]
    picks_other: PickCounters,
    #[serde(default)]
    distances: Series,
}

/// Of distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sum {
    raw: f64,
    normalised: f64,
    count: u64,
}

impl Diagnostics {
    /// Of a run that begins with `network`.
    pub fn new(network: &Network) -> Self {
        let proxies = proxies(network).map_or_else(Vec::new, |(proxies, _)| proxies);
        Self { proxies, ..Self::default() }
    }

    /// The tasks that have been learned, as lines of `diagnostics.jsonl`.
    pub fn lines(&self) -> String {
        TaskDiagnostics::lines(&self.finished)
    }

    /// Counts what a step did; `before` is the network before the step, `learner` the one after it.
    pub fn observe(&mut self, step: &Step, before: &Network, learner: &Learner) {
        let (seen, shape) = (learner.classes().seen(), learner.input());
        self.count(step, seen, learner.cursor().task);
        self.alignment_due |= learner.cursor().steps.is_multiple_of(ALIGNMENT_EVERY);
        if self.alignment_due {
            self.compare_gradients(step, &mut NetworkProbe { network: before, seen, shape });
        }
        match (&step.features, step.replayed.first()) {
            (Some(features), Some(first)) => self.measure_distances(features.clone(), first, before),
            _ => self.distances.add(None, None),
        }
    }

    /// Counts what was replayed while `task` is learned, and the changes of loss that were looked at.
    fn count(&mut self, step: &Step, seen: usize, task: usize) {
        self.class_mix.resize(self.class_mix.len().max(seen), 0);
        for replayed in step.replayed.iter().flatten() {
            self.class_mix[replayed.sample.label.index()] += 1;
            let counters = match replayed.retrieved.side {
                Some(Side::High) => &mut self.picks_high,
                Some(Side::Low) => &mut self.picks_low,
                None => &mut self.picks_other,
            };
            counters.add(replayed, task);
        }
        for candidate in &step.candidates {
            let histogram = || Histogram::new(-LOSS_CHANGE, LOSS_CHANGE, LOSS_CHANGE_BINS);
            self.loss_change.get_or_insert_with(histogram).add(f64::from(candidate.loss_change));
        }
    }

    /// Counts the cosines between the gradient of the batch and that of each sample of the first
    /// draw that was chosen from an end of loss change, and notes what the two gradients make of its
    /// change to first order.
    fn compare_gradients(&mut self, step: &Step, network: &mut NetworkProbe) {
        let first = step.replayed.first().map_or(&[][..], Vec::as_slice);
        let chosen: Vec<(Side, &Replayed)> =
            first.iter().filter_map(|replayed| Some((replayed.retrieved.side?, replayed))).collect();
        if chosen.is_empty() {
            return;
        }
        self.alignment_due = false;
        let batch = network.gradient(&step.incoming).flat();
        for (side, Replayed { sample, retrieved }) in chosen {
            let gradient = network.gradient(std::slice::from_ref(sample)).flat();
            if let Some(change) = retrieved.loss_change {
                self.first_order.add(side, change, -step.lr * gradient.dot(&batch));
            }
            let cosine = gradient.cosine(&batch);
            let histogram = match side {
                Side::High => &mut self.alignment_high,
                Side::Low => &mut self.alignment_low,
            };
            histogram.get_or_insert_with(|| Histogram::new(-1.0, 1.0, ALIGNMENT_BINS)).add(f64::from(cosine));
        }
    }

    /// Measures where the replayed samples of the first draw lie. `features` `[n, d]` begin with
    /// one row for each of them: their raw views, if the method trains on those.
    fn measure_distances(&mut self, features: Tensor<2>, replayed: &[Replayed], before: &Network) {
        let size = features.dims()[1];
        let rows = read(features);
        let rows = &rows[..replayed.len() * size];
        let inner = inner_distance(rows, size);
        let to_proxies = proxies(before).and_then(|(proxies, _)| {
            let labels: Vec<usize> = replayed.iter().map(|replayed| replayed.sample.label.index()).collect();
            distance_to_proxies(rows, &labels, &proxies, size)
        });
        self.inner.add(inner);
        self.to_proxies.add(to_proxies);
        self.distances.add(inner, to_proxies);
    }

    /// Closes the counters of a task that has been learned.
    pub fn task_learned(&mut self, task: TaskId, learner: &Learner) {
        self.close(task, learner.classes().seen(), learner.memory().len(), learner.network());
    }

    fn close(&mut self, task: TaskId, seen: usize, slots: usize, network: &Network) {
        let moved = proxies(network).map_or_else(Vec::new, |(after, size)| {
            // The proxy of a class that came during the task had no place before it.
            let drift = proxy_drift(&self.proxies, &after[..self.proxies.len().min(after.len())], size);
            self.proxies = after;
            drift
        });
        let drift = moved.into_iter().take(seen).enumerate();
        let finished = TaskDiagnostics {
            task: task.index(),
            proxy_drift: drift.map(|(class, distance)| ClassDrift { class, distance }).collect(),
            inner_distance: self.inner.mean(),
            distance_to_proxies: self.to_proxies.mean(),
            alignment_high: self.alignment_high.take(),
            alignment_low: self.alignment_low.take(),
            loss_change: self.loss_change.take(),
            class_mix: std::mem::take(&mut self.class_mix),
            picks_high: self.picks_high.close(seen, slots),
            picks_low: self.picks_low.close(seen, slots),
            picks_other: self.picks_other.close(seen, slots),
            first_order: self.first_order.both(),
            first_order_high: self.first_order.of(Side::High),
            first_order_low: self.first_order.of(Side::Low),
            distances: self.distances.close(),
        };
        self.first_order = FirstOrder::default();
        (self.inner, self.to_proxies) = (Sum::default(), Sum::default());
        self.finished.push(finished);
    }

    /// Whether it can be that of a run with this network after this many tasks.
    pub(crate) fn fits(&self, network: &Network, tasks: usize) -> bool {
        let histograms = [&self.alignment_high, &self.alignment_low, &self.loss_change];
        self.finished.len() == tasks
            && self.proxies.len() == proxies(network).map_or(0, |(proxies, _)| proxies.len())
            && histograms.into_iter().flatten().all(|histogram| !histogram.counts.is_empty())
            && self.distances.is_possible()
    }
}

impl Sum {
    fn add(&mut self, distance: Option<Distance>) {
        if let Some(Distance { raw, normalised }) = distance {
            self.raw += raw;
            self.normalised += normalised;
            self.count += 1;
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            raw: self.raw + other.raw,
            normalised: self.normalised + other.normalised,
            count: self.count + other.count,
        }
    }

    fn mean(&self) -> Option<Distance> {
        let count = self.count as f64;
        (self.count > 0).then(|| Distance { raw: self.raw / count, normalised: self.normalised / count })
    }
}

/// The proxies `[K, d]` on the host, and d; nothing if the head has none.
fn proxies(network: &Network) -> Option<(Vec<f32>, usize)> {
    let proxies = network.head().proxies()?;
    let size = proxies.dims()[1];
    Some((read(proxies), size))
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::{
        learner::training_device,
        network::{Architecture, Array, BackboneKind, HeadKind, Kernels},
        probe::Candidate,
        retrieval::Retrieved,
        sample::{Class, ImageShape, Sample, Slot},
    };

    const SHAPE: ImageShape = ImageShape { height: 1, width: 2, channels: 1 };

    /// Two pixels are the features; two classes with proxies along the axes.
    fn network() -> Network {
        let (backbone, head) = (BackboneKind::Pixels, HeadKind::Proxies { temperature: 0.5 });
        let (kernels, input) = (Kernels::Composed, SHAPE);
        let architecture = Architecture { backbone, width: 0, head, classes: 2, input, kernels, threads: 1 };
        with_proxies(Network::new(&architecture, 0, &training_device(&Device::flex())), &[1.0, 0.0, 0.0, 1.0])
    }

    fn with_proxies(mut network: Network, values: &[f32]) -> Network {
        let mut state = network.state();
        state.0.insert("head.proxies".into(), Array { shape: vec![2, 2], values: values.to_vec() });
        network.load(&state).unwrap();
        network
    }

    fn sample(pixels: [u8; 2], label: u16) -> Sample {
        Sample { image: pixels.into(), label: Class(label), task: TaskId(0) }
    }

    fn replayed(sample: Sample, side: Option<Side>) -> Replayed {
        Replayed { sample, retrieved: Retrieved { slot: Slot(0), side, loss_change: side.map(|_| 0.5) } }
    }

    #[test]
    fn v11_distances_of_the_replayed_are_means_over_steps() {
        let (network, samples) = (network(), [0, 1, 0].map(|label| replayed(sample([0, 0], label), None)));
        let step = |diagnostics: &mut Diagnostics, rows: &[f32]| {
            let features = Tensor::from_data(TensorData::new(rows.to_vec(), [rows.len() / 2, 2]), &Device::flex());
            diagnostics.measure_distances(features, &samples, &network);
        };
        let mut diagnostics = Diagnostics::new(&network);
        // The fourth row is the augmented view of the first sample: it does not count.
        step(&mut diagnostics, &[3.0, 4.0, 0.0, 2.0, 1.0, 0.0, 9.0, 9.0]);
        let first = (diagnostics.inner.mean().unwrap(), diagnostics.to_proxies.mean().unwrap());
        assert!((first.0.raw - 3.437_918_40).abs() < 1e-8 && (first.0.normalised - 0.980_365_43).abs() < 1e-8);
        step(&mut diagnostics, &[0.0; 6]);
        diagnostics.close(TaskId(0), 2, 4, &network);
        let task = &diagnostics.finished[0];
        let half = |distance: Distance, other: f64| f64::midpoint(distance.raw, other);
        assert!((task.inner_distance.unwrap().raw - half(first.0, 0.0)).abs() < 1e-12);
        assert!((task.distance_to_proxies.unwrap().raw - half(first.1, 1.0)).abs() < 1e-12);
        diagnostics.close(TaskId(1), 2, 4, &network);
        assert_eq!(diagnostics.finished[1].inner_distance, None, "every task has its own counters");
    }

    #[test]
    fn proxies_drift_from_task_to_task() {
        let before = network();
        let mut diagnostics = Diagnostics::new(&before);
        let after = with_proxies(before.clone(), &[4.0, 4.0, 0.0, 3.0]);
        diagnostics.close(TaskId(0), 1, 4, &after);
        diagnostics.close(TaskId(1), 2, 4, &with_proxies(before, &[4.0, 4.0, 0.0, 5.0]));
        let raw = |task: usize| -> Vec<f64> {
            diagnostics.finished[task].proxy_drift.iter().map(|drift| drift.distance.raw).collect()
        };
        assert_eq!(raw(0), [5.0], "of classes that have appeared");
        assert_eq!(raw(1), [0.0, 2.0]);
        assert_eq!(diagnostics.lines().lines().count(), 2);
    }

    #[test]
    fn gradients_of_the_chosen_are_compared_with_that_of_the_batch() {
        let network = network();
        let (new, other) = (sample([200, 30], 0), sample([200, 30], 1));
        let mut diagnostics = Diagnostics::new(&network);
        let step = |sides: [Option<Side>; 3]| Step {
            loss: None,
            lr: 0.5,
            incoming: vec![new.clone()],
            replayed: vec![
                [&other, &new, &new].into_iter().zip(sides).map(|(s, side)| replayed(s.clone(), side)).collect(),
            ],
            candidates: [-0.1, 17.0].map(|loss_change| Candidate { slot: Slot(0), loss_change }).to_vec(),
            features: None,
        };
        let probe = &mut NetworkProbe { network: &network, seen: 2, shape: SHAPE.into() };
        diagnostics.count(&step([None; 3]), 2, 0);
        diagnostics.compare_gradients(&step([None; 3]), probe);
        assert!(diagnostics.alignment_high.is_none(), "chosen for another reason");
        assert_eq!(diagnostics.first_order.both(), None);
        diagnostics.compare_gradients(&step([Some(Side::High), Some(Side::Low), Some(Side::Low)]), probe);
        assert_eq!(diagnostics.class_mix, [2, 1]);
        let pairs = |side| diagnostics.first_order.of(side).map(|correlation| correlation.n);
        assert_eq!((pairs(Side::High), pairs(Side::Low)), (Some(1), Some(2)));
        let changes = diagnostics.loss_change.unwrap();
        assert_eq!((changes.total(), changes.above, changes.counts[LOSS_CHANGE_BINS / 2 - 1]), (2, 1, 1));
        let (high, low) = (diagnostics.alignment_high.unwrap(), diagnostics.alignment_low.unwrap());
        assert_eq!(
            (low.total(), low.counts[ALIGNMENT_BINS - 1]),
            (2, 2),
            "the batch's own image points where the batch does"
        );
        assert_eq!((high.total(), high.counts[0]), (1, 1), "with the other label, it points the other way");
    }
}
