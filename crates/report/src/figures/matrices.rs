//! Accuracy matrices as heat maps.

use super::{Figure, Named, Scene};
use crate::drawing::{HeatMap, HeatMaps};

/// Every group's matrix, mean over its seeds.
pub fn accuracy(scene: &Scene) -> Figure {
    let maps = HeatMaps {
        title: "Accuracy matrices".into(),
        subtitle: scene.subtitle.clone(),
        rows: "after task".into(),
        columns: "on task".into(),
        unit: "accuracy, %".into(),
        highest: 100.0,
        maps: scene.groups.iter().map(map).collect(),
    };
    scene.heat_maps("matrices", "Mean over seeds. Rows: after which task; columns: on which task.", &maps)
}

fn map(named: &Named) -> HeatMap {
    let cell = |after: usize, task: usize| {
        let value = named.group.of_matrix(|matrix| matrix.get(after, task));
        let place = format!("task {} after task {}", task + 1, after + 1);
        named.point(0.0, &place, value, 100.0, " %").map(|point| (point.y, point.tip))
    };
    let tasks = named.group.tasks();
    let row = |after: usize| (0..tasks).map(|task| if task <= after { cell(after, task) } else { None }).collect();
    HeatMap { title: named.name.clone(), cells: (0..tasks).map(row).collect() }
}
