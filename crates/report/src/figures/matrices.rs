//! Accuracy matrices as heat maps.

use super::{Figure, Named, PERCENT, Scene};
use crate::drawing::{HeatMap, HeatMaps};

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
    scene.heat_maps("matrices", "Mean over seeds. Row: the last task learned; column: the tested task.", maps)
}

fn map(named: &Named) -> HeatMap {
    let cell = |after: usize, task: usize| {
        let value = named.group.of_matrix(|matrix| matrix.get(after, task)).filter(|_| task <= after);
        let place = format!("task {} after task {}", task + 1, after + 1);
        named.point((0.0, &place), value, PERCENT).map(|point| (point.y, point.tip))
    };
    let tasks = named.group.tasks();
    let row = |after: usize| (0..tasks).map(|task| cell(after, task)).collect();
    HeatMap { title: named.name.clone(), cells: (0..tasks).map(row).collect() }
}
