//! Histograms: how gradients of retrieved samples agree with the batch's, and how much the losses of
//! candidates would change.

use rehearsal_measure::Histogram;
use rehearsal_runs::TaskDiagnostics;

use super::{
    Figure, Named, Scene,
    histograms::{Counted, drawn},
    sides::{HIGH, LOW, Series, names},
};
use crate::{
    drawing::{Curve, Point, Shape},
    text::thousands,
};

type Pick = fn(&TaskDiagnostics) -> Option<&Histogram>;

const KINDS: [Series<Histogram>; 2] =
    [(HIGH.0, HIGH.1, |line| line.alignment_high.as_ref()), (LOW.0, LOW.1, |line| line.alignment_low.as_ref())];

const COSINE: &str = "cosine with the batch's gradient";

/// The paper's gradient alignment of samples picked for a high and for a low change of loss: one
/// figure that compares groups over all tasks, then one per group, task by task.
pub fn alignment(scene: &Scene) -> Vec<Figure> {
    let title = "Gradient alignment of retrieved samples";
    let panels = scene.groups.iter().map(|named| (named.name.clone(), kinds(named, None))).collect();
    let note = "Share of picks on sampled steps of all tasks, summed over seeds. One panel per configuration.";
    let mut figures: Vec<Figure> =
        drawn(scene, ("alignment", title), note, (COSINE, panels), names(&KINDS)).into_iter().collect();
    for (i, named) in scene.groups.iter().enumerate() {
        let panels = tasks(named.group.tasks(), |task| kinds(named, Some(task)));
        let (kind, title) = (format!("alignment-{}", i + 1), format!("{title}, {}", named.name));
        let note = "Share of picks on sampled steps, summed over seeds. One panel per task.";
        let figure = drawn(scene, (&kind, &title), note, (COSINE, panels), names(&KINDS));
        figures.extend(figure.map(|figure| Figure { sources: vec![named.source(&named.name)], ..figure }));
    }
    figures
}

/// How much the next update would change the loss of candidates.
pub fn loss_change(scene: &Scene) -> Option<Figure> {
    let of =
        |named: &Named, task| steps(named, Some(task), (named.place, &named.name, |line| line.loss_change.as_ref()));
    let panels = tasks(scene.tasks(), |task| scene.groups.iter().filter_map(|named| of(named, task)).collect());
    let note = "Share of all candidates scored while a task was learned, summed over seeds.";
    let title = "Change of loss of candidates under the next update";
    drawn(scene, ("loss-change", title), note, ("change of loss", panels), scene.series())
}

fn kinds(named: &Named, task: Option<usize>) -> Vec<Counted> {
    KINDS.iter().filter_map(|&kind| steps(named, task, kind)).collect()
}

fn tasks(tasks: usize, curves: impl Fn(usize) -> Vec<Counted>) -> Vec<(String, Vec<Counted>)> {
    (0..tasks).map(|task| (format!("task {}", task + 1), curves(task))).collect()
}

/// The histogram of a group in a task, or in all, summed over seeds; none if no run has it. Runs with
/// other bins are left out.
fn steps(named: &Named, task: Option<usize>, (series, name, of): (usize, &str, Pick)) -> Option<Counted> {
    let wanted = |line: &&TaskDiagnostics| task.is_none_or(|task| line.task == task);
    let mut histograms = named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(wanted).filter_map(of);
    let mut sum = histograms.next()?.clone();
    for other in histograms.filter(|other| same_bins(other, &sum)).cloned().collect::<Vec<_>>() {
        sum.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        sum.below += other.below;
        sum.above += other.above;
    }
    let (bins, total) = (sum.counts.len(), sum.total());
    let end = |bin: usize| sum.from + (sum.to - sum.from) * bin as f64 / bins as f64;
    let place = task.map_or("all tasks".to_owned(), |task| format!("task {}", task + 1));
    let point = |bin: usize| {
        let share = 100.0 * sum.counts.get(bin).copied().unwrap_or(0) as f64 / total.max(1) as f64;
        let (from, to, n) = (end(bin), end(bin + 1), thousands(total));
        let tip = format!("{name}: {place}: {from:.2} to {to:.2}: {share:.2} % of {n}");
        Point { x: end(bin), y: share, spread: None, tip }
    };
    (total > 0).then(|| (Curve { series, points: (0..=bins).map(point).collect(), shape: Shape::Steps }, total))
}

/// The same bins come from the same settings and are equal to the bit.
fn same_bins(one: &Histogram, other: &Histogram) -> bool {
    one.counts.len() == other.counts.len()
        && one.from.to_bits() == other.from.to_bits()
        && one.to.to_bits() == other.to.to_bits()
}
