//! What is retrieved: how far apart, how far from its proxies, and of which classes.

use rehearsal_measure::Distance;
use rehearsal_runs::{Stretch, TaskDiagnostics};

use super::{Figure, Named, Scene};
use crate::{
    drawing::{Axis, Curve, HeatMap, HeatMaps, Lines, Panel, Point, Shape},
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

/// Along the tasks, as the paper plots them; task by task if a run tells no more.
fn distances(scene: &Scene, name: &str, (title, note): (&str, &str), (of_task, of_stretch): Kind) -> Option<Figure> {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let lines = || scene.groups.iter().flat_map(|named| &named.group.runs).flat_map(|run| &run.diagnostics);
    let along = lines()
        .filter(|line| of_task(line).is_some())
        .all(|line| line.distances.iter().any(|one| of_stretch(one).is_some()));
    let panel = |way: &str, pick: fn(Distance) -> f64| {
        let of_stretch = |stretch: &Stretch| of_stretch(stretch).map(pick);
        let curve = |named: &Named| Curve {
            series: named.place,
            points: if along {
                along_tasks(named, &of_stretch)
            } else {
                let of_task = |line: &TaskDiagnostics| of_task(line).map(pick);
                by_task(named, way, &of_task)
            },
            shape: Shape::Line,
        };
        let curves: Vec<Curve> = scene.groups.iter().map(curve).collect();
        let values: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).flat_map(Point::extent).collect();
        let y = Axis::around("distance", values, false);
        let mut x = Axis::whole("while learning task", 1, if along { tasks + 1 } else { tasks });
        // A task goes on to where the next would begin.
        x.ticks.retain(|&tick| tick <= tasks as f64);
        Panel { title: format!("{way} embeddings"), x, y, curves }
    };
    let panels = vec![panel("normalised", |distance| distance.normalised), panel("raw", |distance| distance.raw)];
    let has_points = panels.iter().flat_map(|panel| &panel.curves).any(|curve| !curve.points.is_empty());
    let lines = Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels };
    let over = if along {
        "averaged over stretches of a task's steps: a task goes from its number to the next"
    } else {
        "averaged over the steps of a task"
    };
    let bands = "Bands, drawn for up to six series, are one sample standard deviation over seeds.";
    has_points.then(|| scene.lines(name, &format!("{note}, {over}. {bands}"), &lines))
}

/// A point for each task.
fn by_task(named: &Named, way: &str, of: &dyn Fn(&TaskDiagnostics) -> Option<f64>) -> Vec<Point> {
    let point = |task: usize| {
        let value = named.group.over_seeds(|run| run.diagnostics.iter().find(|line| line.task == task).and_then(of));
        named.point(task as f64 + 1.0, &format!("task {}, {way}", task + 1), value, 1.0, "")
    };
    (0..named.group.tasks()).filter_map(point).collect()
}

/// A point for each stretch of each task, at the share of the task's steps that its middle is.
fn along_tasks(named: &Named, of: &dyn Fn(&Stretch) -> Option<f64>) -> Vec<Point> {
    let mut points = Vec::new();
    for task in 0..named.group.tasks() {
        let own = |run: &Run| {
            run.diagnostics.iter().find(|line| line.task == task).map_or(Vec::new(), |line| line.distances.clone())
        };
        let stretches = named.group.runs.iter().map(own).max_by_key(Vec::len).unwrap_or_default();
        let steps = stretches.last().map_or(1, |last| last.to) as f64;
        for (i, stretch) in stretches.iter().enumerate() {
            let same = |other: &&Stretch| (other.from, other.to) == (stretch.from, stretch.to);
            let value = named.group.over_seeds(|run| own(run).get(i).filter(same).and_then(of));
            let middle = (stretch.from + stretch.to - 1) as f64 / 2.0;
            let place = format!("task {}, steps {} to {}", task + 1, stretch.from, stretch.to);
            points.extend(named.point(task as f64 + 1.0 + middle / steps, &place, value, 1.0, ""));
        }
    }
    points
}

/// Of which classes the retrieved samples were, task by task.
pub fn class_mix(scene: &Scene) -> Option<Figure> {
    let maps: Vec<HeatMap> = scene.groups.iter().filter_map(|named| mix(named, |line| &line.class_mix[..])).collect();
    let note = "How often each class was retrieved while a task was learned, in multiples of an even share of the classes seen; summed over seeds.";
    mixes(scene, "class-mix", "Class mix of retrieved samples", note, maps)
}

/// Maps of class mixes on one scale; none if there are none.
pub(super) fn mixes(scene: &Scene, kind: &str, title: &str, note: &str, maps: Vec<HeatMap>) -> Option<Figure> {
    let shares = maps.iter().flat_map(|map| map.cells.iter().flatten().flatten()).map(|(share, _)| *share);
    let highest = Axis::around("", shares.collect::<Vec<_>>(), true).to;
    let maps = HeatMaps {
        title: title.into(),
        subtitle: scene.subtitle.clone(),
        rows: "while learning task".into(),
        columns: "class, by appearance".into(),
        unit: "× even".into(),
        highest,
        maps,
    };
    (!maps.maps.is_empty()).then(|| scene.heat_maps(kind, note, &maps))
}

/// How often each class was picked in each task, in multiples of an even share; none if nothing was.
pub(super) fn mix(named: &Named, of: impl Fn(&TaskDiagnostics) -> &[u64]) -> Option<HeatMap> {
    let classes = named.group.runs.iter().map(|run| run.class_names.len()).max()?;
    let row = |task: usize| {
        let mut counts = vec![0_u64; classes];
        for line in named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(|line| line.task == task) {
            counts.iter_mut().zip(of(line)).for_each(|(count, more)| *count += more);
        }
        let total: u64 = counts.iter().sum();
        let seen = named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(|line| line.task == task);
        let seen = seen.map(|line| of(line).len()).max().unwrap_or(0);
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
    has_cells.then(|| HeatMap { title: named.name.clone(), cells })
}
