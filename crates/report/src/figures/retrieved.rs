//! What is retrieved: distances within it, distances to its proxies, and its classes.

use rehearsal_measure::Distance;
use rehearsal_runs::{Stretch, TaskDiagnostics};

use super::{
    BANDS, Figure, HeatMap, HeatMaps, Named, PLAIN, Scene,
    drift::{NORMALISED, RAW, Way},
    extents,
};
use crate::{
    drawing::{Axis, Curve, Panel, Shape},
    run::Run,
};

/// A distance of a whole task, and of a stretch of it.
type Kind = (fn(&TaskDiagnostics) -> Option<Distance>, fn(&Stretch) -> Option<Distance>);

/// The paper's average inner distance of retrieved samples.
pub fn inner_distance(scene: &Scene) -> Option<Figure> {
    let note = "Mean Euclidean distance over all pairs of embeddings retrieved in a step";
    let kind: Kind = (|line| line.inner_distance, |stretch| stretch.inner_distance);
    distances(scene, "inner-distance", ("Inner distance of retrieved samples", note), kind)
}

/// The paper's average distance from retrieved samples to their proxies.
pub fn distance_to_proxies(scene: &Scene) -> Option<Figure> {
    let note = "Mean Euclidean distance of retrieved embeddings to the proxies of their classes";
    let kind: Kind = (|line| line.distance_to_proxies, |stretch| stretch.distance_to_proxies);
    distances(scene, "distance-to-proxies", ("Distance of retrieved samples to their proxies", note), kind)
}

/// Along the steps of tasks, as the paper plots them; task by task for runs that wrote only that.
fn distances(scene: &Scene, kind: &str, (title, note): (&str, &str), (of_task, of_stretch): Kind) -> Option<Figure> {
    let tasks = scene.tasks();
    let lines = || scene.groups.iter().flat_map(|named| &named.group.runs).flat_map(|run| &run.diagnostics);
    let along = lines()
        .filter(|line| of_task(line).is_some())
        .all(|line| line.distances.iter().any(|one| of_stretch(one).is_some()));
    let panel = |(way, pick): Way| {
        let pick = |distance: Distance| pick(&distance);
        let curves = scene.curves(|named| {
            if along {
                return along_tasks(named, |stretch| of_stretch(stretch).map(pick));
            }
            let place = |task: usize| (task as f64 + 1.0, format!("task {}, {way}", task + 1));
            named.curve(0..named.group.tasks(), place, PLAIN, |run, task| of_task(run.diagnostics_of(task)?).map(pick))
        });
        let y = Axis::around("distance", extents(&curves), false);
        let mut x = Axis::whole("while learning task", 1, if along { tasks + 1 } else { tasks });
        // A task ends where the next would begin.
        x.ticks.retain(|&tick| tick <= tasks as f64);
        Panel { title: format!("{way} embeddings"), x, y, curves }
    };
    let panels = vec![panel(NORMALISED), panel(RAW)];
    let over = if along {
        "averaged over stretches of a task's steps: a task reaches from its number to the next"
    } else {
        "averaged over the steps of a task"
    };
    scene.lines(kind, title, &format!("{note}, {over}. {BANDS}"), scene.series(), panels)
}

/// A point for each stretch of each task, in the middle of its steps.
fn along_tasks(named: &Named, of: impl Fn(&Stretch) -> Option<f64>) -> Curve {
    let mut points = Vec::new();
    for task in 0..named.group.tasks() {
        let own = |run: &Run| run.diagnostics_of(task).map_or(Vec::new(), |line| line.distances.clone());
        let stretches = named.group.runs.iter().map(own).max_by_key(Vec::len).unwrap_or_default();
        let steps = stretches.last().map_or(1, |last| last.to) as f64;
        for (i, stretch) in stretches.iter().enumerate() {
            let same = |other: &&Stretch| (other.from, other.to) == (stretch.from, stretch.to);
            let value = named.group.over_seeds(|run| own(run).get(i).filter(same).and_then(&of));
            let middle = (stretch.from + stretch.to - 1) as f64 / 2.0;
            let place = format!("task {}, steps {} to {}", task + 1, stretch.from, stretch.to);
            points.extend(named.point((task as f64 + 1.0 + middle / steps, &place), value, PLAIN));
        }
    }
    Curve { series: named.place, points, shape: Shape::Line }
}

/// The classes of the retrieved samples, task by task.
pub fn class_mix(scene: &Scene) -> Option<Figure> {
    let maps: Vec<HeatMap> = scene.groups.iter().filter_map(|named| mix(named, |line| &line.class_mix[..])).collect();
    mixes(scene, "class-mix", "Class mix of retrieved samples", "was retrieved", maps)
}

/// Maps of class mixes on one scale.
pub(super) fn mixes(scene: &Scene, kind: &str, title: &str, verb: &str, maps: Vec<HeatMap>) -> Option<Figure> {
    let shares = maps.iter().flat_map(|map| map.cells.iter().flatten().flatten()).map(|(share, _)| *share);
    let highest = Axis::around("", shares, true).to;
    let maps = HeatMaps {
        title: title.into(),
        subtitle: String::new(),
        rows: "while learning task".into(),
        columns: "class, by appearance".into(),
        unit: "× even".into(),
        highest,
        maps,
    };
    let note = "while a task was learned, in multiples of an even share of the classes seen; summed over seeds.";
    scene.heat_maps(kind, &format!("How often each class {verb} {note}"), maps)
}

/// How often each class was picked in each task, in multiples of an even share; none if nothing was.
pub(super) fn mix(named: &Named, of: impl Fn(&TaskDiagnostics) -> &[u64]) -> Option<HeatMap> {
    let classes = named.group.runs.iter().map(|run| run.class_names.len()).max()?;
    let row = |task: usize| {
        let (mut counts, mut seen) = (vec![0_u64; classes], 0);
        for own in named.group.runs.iter().filter_map(|run| run.diagnostics_of(task)).map(&of) {
            counts.iter_mut().zip(own).for_each(|(count, more)| *count += more);
            seen = seen.max(own.len());
        }
        let total: u64 = counts.iter().sum();
        let cell = |(class, &count): (usize, &u64)| {
            let share = count as f64 / total as f64;
            let times = share * seen as f64;
            let place = format!("class {} in task {}", class + 1, task + 1);
            let tip = format!("{}: {place}: {times:.2} times its share, {:.2} % ({count})", named.name, 100.0 * share);
            (total > 0 && class < seen).then_some((times, tip))
        };
        counts.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let cells: Vec<_> = (0..named.group.tasks()).map(row).collect();
    let has_cells = cells.iter().flatten().any(Option::is_some);
    has_cells.then(|| HeatMap { title: named.name.clone(), cells, numbers: Vec::new() })
}
