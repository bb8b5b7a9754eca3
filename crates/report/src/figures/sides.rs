//! What is replayed for a high and what for a low change of loss: how old its tasks are, of which
//! classes, how often the same slots; and whether the change of loss is what gradients say.

use rehearsal_measure::OverSeeds;
use rehearsal_runs::{Correlation, Picks, TaskDiagnostics};

use super::{
    Figure, Named, Scene, histograms,
    retrieved::{mix, mixes},
};
use crate::{
    drawing::{Axis, Curve, HeatMap, Lines, Panel, Point, Shape},
    protocol::thousands,
    run::Run,
};

/// Why samples were picked: the look of the series, its name, and where it stands in a line.
type Side = (usize, &'static str, fn(&TaskDiagnostics) -> Option<&Picks>);

/// The paper's red and blue, as near as our colours are, both with whole lines.
const SIDES: [Side; 3] = [
    (8, "highest change of loss (conflicting)", |line| line.picks_high.as_ref()),
    (0, "lowest change of loss (aligned)", |line| line.picks_low.as_ref()),
    (20, "at random, or for another reason", |line| line.picks_other.as_ref()),
];

/// Who is replayed so often or more is counted together.
const MOST_COUNTED: usize = 50;

const BANDS: &str = "Bands are one sample standard deviation over seeds.";

fn series() -> Vec<(usize, String)> {
    SIDES.iter().map(|(series, name, _)| (*series, (*name).to_owned())).collect()
}

/// How many tasks ago the replayed appeared, on average.
pub fn task_age(scene: &Scene) -> Option<Figure> {
    let curve = |named: &Named, (series, name, of): Side| {
        over_tasks(named, series, name, "tasks", move |run, task| {
            let ages = &of(line(run, task)?)?.task_age;
            let (total, sum) =
                ages.iter().enumerate().fold((0, 0), |(n, sum), (age, &count)| (n + count, sum + age as u64 * count));
            (total > 0).then(|| sum as f64 / total as f64)
        })
    };
    let panels = panels(scene, |named| SIDES.iter().map(|&side| curve(named, side)).collect());
    let values: Vec<f64> = points(&panels).flat_map(Point::extent).collect();
    let y = Axis::around("mean age, tasks", values.into_iter().map(|value| value.max(0.0)).collect::<Vec<_>>(), true);
    let note = "How many tasks before the one that is learned the replayed samples appeared, mean over a task's steps: 0 is the task itself. One panel per way of learning.";
    drawn(scene, ("task-age", "Age of what is replayed, by side"), series(), &y, panels, note)
}

/// Whether the change of loss of a picked sample goes with what its gradient and the batch's make of
/// it to first order.
pub fn first_order(scene: &Scene) -> Option<Figure> {
    type Of = fn(&TaskDiagnostics) -> Option<&Correlation>;
    type Way = fn(&Correlation) -> Option<f64>;
    let kinds: [(usize, &str, Of); 3] = [
        (20, "both sides", |line| line.first_order.as_ref()),
        (8, "highest change of loss (conflicting)", |line| line.first_order_high.as_ref()),
        (0, "lowest change of loss (aligned)", |line| line.first_order_low.as_ref()),
    ];
    let ways: [(&str, Way); 2] = [("Spearman's", |of| of.spearman), ("Pearson's", |of| of.pearson)];
    let mut all: Vec<Panel> = Vec::new();
    for (way, pick) in ways {
        let curve = |named: &Named, (series, name, of): (usize, &str, Of)| {
            over_tasks(named, series, name, "", move |run, task| pick(of(line(run, task)?)?))
        };
        let of_way = panels(scene, |named| kinds.iter().map(|&kind| curve(named, kind)).collect());
        all.extend(of_way.into_iter().map(|panel| Panel { title: format!("{}, {way}", panel.title), ..panel }));
    }
    let values: Vec<f64> = points(&all).flat_map(Point::extent).map(|value| value.clamp(-1.0, 1.0)).collect();
    let y = Axis::around("correlation", values, true);
    let names = kinds.iter().map(|(series, name, _)| (*series, (*name).to_owned())).collect();
    let note = "Between the change of loss of a picked sample, as it was scored, and −lr·g·g_x, what the gradients of the batch and of the sample make of it to first order; over the picks of every 50th step of a task. Within a side nothing comes from there being two ends. One panel per way of learning and kind of correlation.";
    drawn(scene, ("first-order", "Change of loss and its first order"), names, &y, all, note)
}

/// How often the same slots of the memory were replayed while a task was learned.
pub fn replays(scene: &Scene) -> Option<Figure> {
    let of_side = |named: &Named, (series, name, of): Side| {
        let picks = named.group.runs.iter().flat_map(|run| &run.diagnostics).filter_map(of);
        let mut slots: Vec<u64> = Vec::new();
        for picks in picks {
            slots.resize(slots.len().max(picks.slots_by_replays.len()), 0);
            slots.iter_mut().zip(&picks.slots_by_replays).for_each(|(slots, more)| *slots += more);
        }
        let total: u64 = slots.iter().sum();
        let point = |times: usize| {
            let count = slots.get(times).copied().unwrap_or(0);
            let share = 100.0 * count as f64 / total.max(1) as f64;
            let or_more = if times >= MOST_COUNTED { " or more" } else { "" };
            let tip = format!("{name}: {times}{or_more} times: {share:.2} % of {}", thousands(total));
            // The bar of a number stands about it.
            Point { x: times as f64 - 0.5, y: share, spread: None, tip }
        };
        let points = (0..=slots.len()).map(point).collect();
        (total > 0).then_some((Curve { series, points, shape: Shape::Steps }, total))
    };
    let of_group = |named: &Named| SIDES.iter().filter_map(|&side| of_side(named, side)).collect();
    let panels = scene.groups.iter().map(|named| (named.name.clone(), of_group(named))).collect();
    let note = "Share of the slots that were picked so often by a side while one task was learned, summed over tasks and seeds. One panel per way of learning.";
    let title = "How often a slot is replayed in a task, by side";
    histograms::drawn(scene, "replays", title, note, ("times replayed", panels), series())
}

/// Of which classes each side was.
pub fn class_mix(scene: &Scene) -> Option<Figure> {
    let of_side = |named: &Named, (_, name, of): Side| {
        let side = name.split(' ').next().unwrap_or(name);
        let map = mix(named, |line| of(line).map_or(&[][..], |picks| &picks.class_mix[..]))?;
        Some(HeatMap { title: format!("{}: {side}", named.name), ..map })
    };
    // What has no sides is in the figure of all.
    let has_sides = |named: &&Named| {
        let mut lines = named.group.runs.iter().flat_map(|run| &run.diagnostics);
        lines.any(|line| line.picks_high.is_some() || line.picks_low.is_some())
    };
    let maps: Vec<HeatMap> = scene
        .groups
        .iter()
        .filter(has_sides)
        .flat_map(|named| SIDES.iter().filter_map(|&side| of_side(named, side)).collect::<Vec<_>>())
        .collect();
    let note = "How often each class was picked for a high and for a low change of loss while a task was learned, in multiples of an even share of the classes seen; summed over seeds.";
    mixes(scene, "class-mix-sides", "Class mix of retrieved samples, by side", note, maps)
}

fn line(run: &Run, task: usize) -> Option<&TaskDiagnostics> {
    run.diagnostics.iter().find(|line| line.task == task)
}

/// A curve over tasks, mean over seeds.
fn over_tasks(named: &Named, series: usize, name: &str, unit: &str, of: impl Fn(&Run, usize) -> Option<f64>) -> Curve {
    let told = Named { group: named.group, name: name.to_owned(), place: series };
    let point = |task: usize| {
        let value: Option<OverSeeds> = named.group.over_seeds(|run| of(run, task));
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        told.point(task as f64 + 1.0, &format!("while learning task {}", task + 1), value, 1.0, &unit)
    };
    Curve { series, points: (0..named.group.tasks()).filter_map(point).collect(), shape: Shape::Line }
}

/// One panel per group that has something to show.
fn panels(scene: &Scene, curves: impl Fn(&Named) -> Vec<Curve>) -> Vec<Panel> {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max().unwrap_or(1);
    let panel = |named: &Named| Panel {
        title: named.name.clone(),
        x: Axis::whole("while learning task", 1, tasks),
        y: Axis::percent(""),
        curves: curves(named),
    };
    let has_points = |panel: &Panel| panel.curves.iter().any(|curve| !curve.points.is_empty());
    scene.groups.iter().map(panel).filter(has_points).collect()
}

fn points(panels: &[Panel]) -> impl Iterator<Item = &Point> {
    panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points)
}

/// Panels with the same vertical axis; none without a panel.
fn drawn(
    scene: &Scene,
    (kind, title): (&str, &str),
    series: Vec<(usize, String)>,
    y: &Axis,
    panels: Vec<Panel>,
    note: &str,
) -> Option<Figure> {
    let panels: Vec<Panel> = panels.into_iter().map(|panel| Panel { y: y.clone(), ..panel }).collect();
    let lines = Lines { title: title.into(), subtitle: scene.subtitle.clone(), series, panels };
    (!lines.panels.is_empty()).then(|| scene.lines(kind, &format!("{note} {BANDS}"), &lines))
}
