//! What is retrieved for a high and for a low change of loss: the age of its tasks, its classes, how
//! often the same slots are replayed; and whether the change of loss is what gradients predict.

use rehearsal_runs::{Correlation, Picks, TaskDiagnostics};

use super::{
    Figure, HeatMap, Named, PLAIN, Scene, Unit, at_task, extents,
    histograms::{self, Counted},
    retrieved::{mix, mixes},
};
use crate::{
    drawing::{Axis, Curve, Panel, Point, Shape},
    run::Run,
    text::thousands,
};

/// A series of a figure: its looks, its name, and what it takes from a line of diagnostics.
pub(super) type Series<T> = (usize, &'static str, fn(&TaskDiagnostics) -> Option<&T>);

/// The paper's red and blue, as near as our colours are, both with solid lines.
pub(super) const HIGH: (usize, &str) = (8, "highest change of loss (conflicting)");
pub(super) const LOW: (usize, &str) = (0, "lowest change of loss (aligned)");

const SIDES: [Series<Picks>; 3] = [
    (HIGH.0, HIGH.1, |line| line.picks_high.as_ref()),
    (LOW.0, LOW.1, |line| line.picks_low.as_ref()),
    (20, "at random, or for another reason", |line| line.picks_other.as_ref()),
];

/// Slots that are replayed this often or more are counted together.
const MOST_COUNTED: usize = 50;

pub(super) fn names<T>(series: &[Series<T>]) -> Vec<(usize, String)> {
    series.iter().map(|(place, name, _)| (*place, (*name).to_owned())).collect()
}

/// The mean age, in tasks, of the replayed samples.
pub fn task_age(scene: &Scene) -> Option<Figure> {
    let age = |picks: &Picks| {
        let ages = picks.task_age.iter().enumerate();
        let (total, sum) = ages.fold((0, 0), |(n, sum), (age, &count)| (n + count, sum + age as u64 * count));
        (total > 0).then(|| sum as f64 / total as f64)
    };
    let panels = panels(scene, "", &SIDES, (1.0, " tasks"), age);
    let note = "How many tasks before the current one the replayed samples appeared, mean over a task's steps: 0 is the current task.";
    drawn(
        scene,
        ("task-age", "Age of replayed samples, by side"),
        names(&SIDES),
        ("mean age, tasks", 0.0, f64::MAX),
        panels,
        note,
    )
}

/// The correlation of the change of loss of picked samples with its first-order approximation.
pub fn first_order(scene: &Scene) -> Option<Figure> {
    let kinds: [Series<Correlation>; 3] = [
        (20, "both sides", |line| line.first_order.as_ref()),
        (HIGH.0, HIGH.1, |line| line.first_order_high.as_ref()),
        (LOW.0, LOW.1, |line| line.first_order_low.as_ref()),
    ];
    let mut all = panels(scene, ", Spearman's", &kinds, PLAIN, |of| of.spearman);
    all.extend(panels(scene, ", Pearson's", &kinds, PLAIN, |of| of.pearson));
    let note = "Between the scored change of loss of a picked sample and −lr·g·g_x, its first-order approximation by the gradients of the \
                batch and of the sample; over the picks of every 50th step of a task. A correlation within one side does not come from the \
                gap between the sides.";
    drawn(
        scene,
        ("first-order", "Change of loss and its first-order approximation"),
        names(&kinds),
        ("correlation", -1.0, 1.0),
        all,
        note,
    )
}

/// How often the same slots of the memory were replayed while a task was learned.
pub fn replays(scene: &Scene) -> Option<Figure> {
    let of_side = |named: &Named, (series, name, of): Series<Picks>| -> Option<Counted> {
        let mut slots: Vec<u64> = Vec::new();
        for picks in named.group.runs.iter().flat_map(|run| &run.diagnostics).filter_map(of) {
            slots.resize(slots.len().max(picks.slots_by_replays.len()), 0);
            slots.iter_mut().zip(&picks.slots_by_replays).for_each(|(slots, more)| *slots += more);
        }
        let total: u64 = slots.iter().sum();
        let point = |times: usize| {
            let count = slots.get(times).copied().unwrap_or(0);
            let share = 100.0 * count as f64 / total.max(1) as f64;
            let or_more = if times >= MOST_COUNTED { " or more" } else { "" };
            let tip = format!("{name}: {times}{or_more} times: {share:.2} % of {}", thousands(total));
            // The bar of a number is centred on it.
            Point { x: times as f64 - 0.5, y: share, spread: None, tip }
        };
        let points = (0..=slots.len()).map(point).collect();
        (total > 0).then_some((Curve { series, points, shape: Shape::Steps }, total))
    };
    let of_group = |named: &Named| SIDES.iter().filter_map(|&side| of_side(named, side)).collect();
    let panels = scene.groups.iter().map(|named| (named.name.clone(), of_group(named))).collect();
    let note = "Share of the slots that a side picked this often while one task was learned, summed over tasks and seeds. One panel per configuration.";
    let title = "How often a slot is replayed in a task, by side";
    histograms::drawn(scene, ("replays", title), note, ("times replayed", panels), names(&SIDES))
}

/// The classes of each side.
pub fn class_mix(scene: &Scene) -> Option<Figure> {
    let of_side = |named: &Named, (_, name, of): Series<Picks>| {
        let side = name.split(' ').next().unwrap_or(name);
        let map = mix(named, |line| of(line).map_or(&[][..], |picks| &picks.class_mix[..]))?;
        Some(HeatMap { title: format!("{}: {side}", named.name), ..map })
    };
    // Arms without sides are in the figure of all retrieved samples.
    let has_sides = |named: &&Named| {
        let mut lines = named.group.runs.iter().flat_map(|run| &run.diagnostics);
        lines.any(|line| line.picks_high.is_some() || line.picks_low.is_some())
    };
    let of_group = |named| SIDES.iter().filter_map(|&side| of_side(named, side)).collect::<Vec<_>>();
    let maps: Vec<HeatMap> = scene.groups.iter().filter(has_sides).flat_map(of_group).collect();
    let (title, verb) =
        ("Class mix of retrieved samples, by side", "was picked for a high and for a low change of loss");
    mixes(scene, "class-mix-sides", title, verb, maps)
}

/// A panel for each group, with a curve over tasks for each series.
fn panels<T>(
    scene: &Scene,
    title: &str,
    series: &[Series<T>],
    unit: Unit,
    value: impl Fn(&T) -> Option<f64>,
) -> Vec<Panel> {
    let curve = |named: &Named, &(place, name, of): &Series<T>| {
        let side = named.renamed(place, name);
        let of_run = |run: &Run, task: usize| value(of(run.diagnostics_of(task)?)?);
        side.curve(0..named.group.tasks(), at_task("while learning"), unit, of_run)
    };
    let panel = |named: &Named| Panel {
        title: format!("{}{title}", named.name),
        x: scene.task_axis("while learning task", 1),
        y: Axis::around("", [], true),
        curves: series.iter().map(|series| curve(named, series)).collect(),
    };
    scene.groups.iter().map(panel).collect()
}

/// Panels with the same vertical axis, given by its name and its possible values.
fn drawn(
    scene: &Scene,
    (kind, title): (&str, &str),
    series: Vec<(usize, String)>,
    (label, least, most): (&str, f64, f64),
    mut panels: Vec<Panel>,
    note: &str,
) -> Option<Figure> {
    let values = panels.iter().flat_map(|panel| extents(&panel.curves)).map(|value| value.clamp(least, most));
    let y = Axis::around(label, values, true);
    panels.iter_mut().for_each(|panel| panel.y = y.clone());
    let note = format!("{note} One panel per configuration. Bands show one sample standard deviation over seeds.");
    scene.lines(kind, title, &note, series, panels)
}
