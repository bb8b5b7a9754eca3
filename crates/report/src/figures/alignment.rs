//! Histograms: how the gradients of retrieved samples agree with the batch's, and how much candidates' losses would change.

use measure::{Histogram, TaskDiagnostics};

use super::{Figure, Named, Scene};
use crate::drawing::{Axis, Curve, Lines, Panel, Point, Shape};

/// The paper's gradient alignment of samples picked for a high and for a low change of loss: one figure per group.
pub fn alignment(scene: &Scene) -> Vec<Figure> {
    let figure = |named: &Named| {
        let kinds: [(usize, &str, Pick); 2] = [
            (1, "highest change of loss (conflicting)", |line| line.alignment_high.as_ref()),
            (0, "lowest change of loss (aligned)", |line| line.alignment_low.as_ref()),
        ];
        let series: Vec<(usize, String)> =
            kinds.iter().map(|(series, name, _)| (*series, (*name).to_owned())).collect();
        let curves =
            |task: usize| kinds.iter().filter_map(|&(series, name, of)| steps(named, task, series, name, of)).collect();
        let panels = panels(named.group.tasks(), "cosine with the batch's gradient", curves);
        let lines = Lines {
            title: format!("Gradient alignment of retrieved samples, {}", named.name),
            subtitle: scene.subtitle.clone(),
            series,
            panels,
        };
        let kind =
            format!("alignment-{}", scene.groups.iter().position(|one| one.place == named.place).unwrap_or(0) + 1);
        let note = "Share of picks, summed over seeds, on sampled steps. One panel per task.";
        let figure = scene.lines(&kind, note, &lines);
        (!lines.panels.is_empty()).then(|| Figure { sources: vec![named.source()], ..figure })
    };
    scene.groups.iter().filter_map(figure).collect()
}

/// How much the coming update would change the loss of candidates.
pub fn loss_change(scene: &Scene) -> Option<Figure> {
    let curves = |task: usize| {
        let of = |named: &Named| steps(named, task, named.place, &named.name, |line| line.loss_change.as_ref());
        scene.groups.iter().filter_map(of).collect()
    };
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let panels = panels(tasks, "change of loss", curves);
    let drawn: Vec<usize> = panels.iter().flat_map(|panel| &panel.curves).map(|curve| curve.series).collect();
    let series = scene.series().into_iter().filter(|(place, _)| drawn.contains(place)).collect();
    let title = "Change of loss of candidates under the coming update".to_owned();
    let lines = Lines { title, subtitle: scene.subtitle.clone(), series, panels };
    let note = "Share of all candidates scored while a task was learned, summed over seeds.";
    (!lines.panels.is_empty()).then(|| scene.lines("loss-change", note, &lines))
}

type Pick = fn(&TaskDiagnostics) -> Option<&Histogram>;

fn panels(tasks: usize, x: &str, curves: impl Fn(usize) -> Vec<Curve>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = (0..tasks)
        .map(|task| Panel {
            title: format!("task {}", task + 1),
            x: Axis::percent(x),
            y: Axis::percent(""),
            curves: curves(task),
        })
        .filter(|panel| !panel.curves.is_empty())
        .collect();
    let points = || panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let x = Axis::around(x, points().map(|point| point.x).collect::<Vec<_>>(), false);
    let y = Axis::around("share, %", points().map(|point| point.y).collect::<Vec<_>>(), true);
    for panel in &mut panels {
        (panel.x, panel.y) = (x.clone(), y.clone());
    }
    panels
}

/// The histogram of a group in a task, summed over seeds; none if no run has it. Runs with other bins are left out.
fn steps(named: &Named, task: usize, series: usize, name: &str, of: Pick) -> Option<Curve> {
    let lines = named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(|line| line.task == task);
    let mut histograms = lines.filter_map(of);
    let mut sum = histograms.next()?.clone();
    for other in histograms.filter(|other| same_bins(other, &sum)).cloned().collect::<Vec<_>>() {
        sum.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        sum.below += other.below;
        sum.above += other.above;
    }
    let (bins, total) = (sum.counts.len(), sum.total());
    let end = |bin: usize| sum.from + (sum.to - sum.from) * bin as f64 / bins as f64;
    let point = |bin: usize| {
        let share = 100.0 * sum.counts.get(bin).copied().unwrap_or(0) as f64 / total.max(1) as f64;
        let tip = format!("{name}: task {}: {:.2} to {:.2}: {share:.2} %", task + 1, end(bin), end(bin + 1));
        Point { x: end(bin), y: share, spread: None, tip }
    };
    (total > 0).then(|| Curve { series, points: (0..=bins).map(point).collect(), shape: Shape::Steps })
}

/// Ends come from the same settings and are equal to the bit, or are not the same bins.
fn same_bins(one: &Histogram, other: &Histogram) -> bool {
    one.counts.len() == other.counts.len()
        && one.from.to_bits() == other.from.to_bits()
        && one.to.to_bits() == other.to.to_bits()
}
