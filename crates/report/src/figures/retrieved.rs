//! What is retrieved: how far apart, how far from its proxies, and of which classes.

use rehearsal_measure::Distance;
use rehearsal_runs::TaskDiagnostics;

use super::{Figure, Named, Scene};
use crate::drawing::{Axis, Curve, HeatMap, HeatMaps, Lines, Panel, Point, Shape};

/// The paper's average inner distance of retrieved samples.
pub fn inner_distance(scene: &Scene) -> Option<Figure> {
    let note =
        "Mean Euclidean distance over all pairs of embeddings retrieved in a step, averaged over the steps of a task.";
    distances(scene, "inner-distance", ("Inner distance of retrieved samples", note), |line| line.inner_distance)
}

/// The paper's average distance from retrieved samples to their proxies.
pub fn distance_to_proxies(scene: &Scene) -> Option<Figure> {
    let note = "Mean Euclidean distance of retrieved embeddings to the proxies of their classes, averaged over the steps of a task.";
    let title = "Distance of retrieved samples to their proxies";
    distances(scene, "distance-to-proxies", (title, note), |line| line.distance_to_proxies)
}

fn distances(
    scene: &Scene,
    kind: &str,
    (title, note): (&str, &str),
    of: fn(&TaskDiagnostics) -> Option<Distance>,
) -> Option<Figure> {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let panel = |way: &str, pick: fn(Distance) -> f64| {
        let curve = |named: &Named| {
            let point = |task: usize| {
                let value = named
                    .group
                    .over_seeds(|run| run.diagnostics.iter().find(|line| line.task == task).and_then(of).map(pick));
                named.point(task as f64 + 1.0, &format!("task {}, {way}", task + 1), value, 1.0, "")
            };
            Curve {
                series: named.place,
                points: (0..named.group.tasks()).filter_map(point).collect(),
                shape: Shape::Line,
            }
        };
        let curves: Vec<Curve> = scene.groups.iter().map(curve).collect();
        let values: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).flat_map(Point::extent).collect();
        let y = Axis::around("distance", values, false);
        Panel { title: format!("{way} embeddings"), x: Axis::whole("while learning task", 1, tasks), y, curves }
    };
    let panels = vec![panel("normalised", |distance| distance.normalised), panel("raw", |distance| distance.raw)];
    let has_points = panels.iter().flat_map(|panel| &panel.curves).any(|curve| !curve.points.is_empty());
    let lines = Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels };
    has_points.then(|| {
        scene.lines(
            kind,
            &format!("{note} Bands, drawn for up to six series, are one sample standard deviation over seeds."),
            &lines,
        )
    })
}

/// Of which classes the retrieved samples were, task by task.
pub fn class_mix(scene: &Scene) -> Option<Figure> {
    let maps: Vec<HeatMap> = scene.groups.iter().filter_map(mix).collect();
    let shares = maps.iter().flat_map(|map| map.cells.iter().flatten().flatten()).map(|(share, _)| *share);
    let highest = Axis::around("", shares.collect::<Vec<_>>(), true).to;
    let maps = HeatMaps {
        title: "Class mix of retrieved samples".into(),
        subtitle: scene.subtitle.clone(),
        rows: "while learning task".into(),
        columns: "class, by appearance".into(),
        unit: "× even".into(),
        highest,
        maps,
    };
    let note = "How often each class was retrieved while a task was learned, in multiples of an even share of the classes seen; summed over seeds.";
    (!maps.maps.is_empty()).then(|| scene.heat_maps("class-mix", note, &maps))
}

fn mix(named: &Named) -> Option<HeatMap> {
    let classes = named.group.runs.iter().map(|run| run.class_names.len()).max()?;
    let row = |task: usize| {
        let mut counts = vec![0_u64; classes];
        for line in named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(|line| line.task == task) {
            counts.iter_mut().zip(&line.class_mix).for_each(|(count, more)| *count += more);
        }
        let total: u64 = counts.iter().sum();
        let seen = named.group.runs.iter().flat_map(|run| &run.diagnostics).filter(|line| line.task == task);
        let seen = seen.map(|line| line.class_mix.len()).max().unwrap_or(0);
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
