//! Accuracy matrices as heat maps.

use super::{Figure, Named, PERCENT, Scene, thinned};
use crate::drawing::{HeatMap, HeatMaps};

/// The most rows and columns of a map.
const MOST: usize = 100;

/// The matrix of every group, mean over its seeds.
pub fn accuracy(scene: &Scene) -> Option<Figure> {
    let maps = HeatMaps {
        title: "Accuracy matrices".into(),
        subtitle: String::new(),
        rows: "after task".into(),
        columns: "on task".into(),
        unit: "accuracy, %".into(),
        highest: 100.0,
        maps: scene.groups.iter().map(map).collect(),
    };
    let most = scene.tasks();
    let part = if most > MOST { format!(" {MOST} of {most} tasks are shown.") } else { String::new() };
    let note = format!("Mean over seeds. Row: the last task learned; column: the tested task.{part}");
    scene.heat_maps("matrices", &note, maps)
}

fn map(named: &Named) -> HeatMap {
    let cell = |after: usize, task: usize| {
        let value = named.group.of_matrix(|matrix| matrix.get(after, task)).filter(|_| task <= after);
        let place = format!("task {} after task {}", task + 1, after + 1);
        named.point((0.0, &place), value, PERCENT).map(|point| (point.y, point.tip))
    };
    let tasks = thinned(0..named.group.tasks(), MOST);
    let row = |after: &usize| tasks.iter().map(|task| cell(*after, *task)).collect();
    let cells = tasks.iter().map(row).collect();
    HeatMap { title: named.name.clone(), cells, numbers: tasks.iter().map(|task| task + 1).collect() }
}
