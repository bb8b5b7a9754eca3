//! What accuracy costs: time, the machine's memory, and stored samples.

use std::collections::BTreeSet;

use rehearsal_measure::accuracy;

use super::{Figure, Named, Scene, named};
use crate::{
    arm::Arm,
    drawing::{Axis, Curve, Lines, Panel, Point, Shape},
    protocol::{Data, Protocol, thousands},
    run::Run,
    slug,
    study::{Group, Study},
};

/// Accuracy against wall time.
pub fn time(scene: &Scene) -> Option<Figure> {
    let note = "Seconds of learning and testing, mean over seeds; they compare only if the machine was the same and had nothing else to do.";
    scatter(scene, "time", ("Accuracy against wall time", note), ("seconds", true), |run| run.seconds)
}

/// Accuracy against the highest resident memory.
pub fn peak_memory(scene: &Scene) -> Option<Figure> {
    let note = "The highest resident memory of the process, mean over seeds.";
    let of = |run: &Run| run.peak_memory_bytes.map(|bytes| bytes as f64 / 1_048_576.0);
    scatter(scene, "peak-memory", ("Accuracy against peak memory", note), ("peak memory, MiB", false), of)
}

fn scatter(
    scene: &Scene,
    kind: &str,
    (title, note): (&str, &str),
    (unit, from_zero): (&str, bool),
    cost: impl Fn(&Run) -> Option<f64>,
) -> Option<Figure> {
    let curve = |named: &Named| {
        let x = named.group.over_seeds(&cost)?.mean;
        let point = named.point(x, &format!("{x:.1} {unit}"), named.group.of_matrix(accuracy), 100.0, " %")?;
        Some(Curve { series: named.place, points: vec![point], shape: Shape::Points })
    };
    let curves: Vec<Curve> = scene.groups.iter().filter_map(curve).collect();
    let x: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
    let panel = Panel { title: String::new(), x: Axis::around(unit, x, from_zero), y: accuracies(&curves), curves };
    let lines =
        Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels: vec![panel] };
    let has_points = lines.panels.iter().any(|panel| !panel.curves.is_empty());
    has_points
        .then(|| scene.lines(kind, &format!("{note} Bars are one sample standard deviation of accuracy."), &lines))
}

fn accuracies(curves: &[Curve]) -> Axis {
    let values = curves.iter().flat_map(|curve| &curve.points).flat_map(Point::extent);
    Axis::around("accuracy, %", values.collect::<Vec<_>>(), true)
}

/// Accuracy against the size of the memory, for every data set that was run with more than one.
pub fn memory_size(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    let conditions: BTreeSet<(Protocol, &Data)> =
        study.groups.iter().map(|group| (group.protocol.but_memory(), &group.data)).collect();
    let data: Vec<&Data> = conditions.iter().map(|(_, data)| *data).collect();
    let mut figures: Vec<Figure> = Vec::new();
    for (protocol, learned) in &conditions {
        let here = |group: &&Group| {
            group.data == **learned && group.protocol.but_memory() == *protocol && group.protocol.memory() != Some(0.0)
        };
        let groups: Vec<&Group> = study.groups.iter().filter(here).collect();
        let sizes: BTreeSet<u64> =
            groups.iter().filter_map(|group| group.protocol.memory()).map(|m| m as u64).collect();
        if sizes.len() >= 2 {
            let mut id = format!("memory-size-{}", slug(learned, &data));
            if figures.iter().any(|figure| figure.id == id) {
                id = format!("{id}-p{}", figures.len() + 1);
            }
            let among: Vec<Protocol> = conditions.iter().map(|(protocol, _)| protocol.clone()).collect();
            let subtitle = format!("{}; {}", learned.label(), protocol.label(&among));
            figures.extend(of_sizes(id, subtitle, &groups, arms, bare));
        }
    }
    figures
}

/// None if no arm was run at two sizes.
fn of_sizes(id: String, subtitle: String, groups: &[&Group], arms: &[&Arm], bare: bool) -> Option<Figure> {
    let of_arms: BTreeSet<&Arm> = groups.iter().map(|group| &group.arm).collect();
    let (mut curves, mut series, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for arm in of_arms {
        let of_arm: Vec<&Group> = groups.iter().copied().filter(|group| group.arm == *arm).collect();
        if of_arm.len() < 2 {
            continue;
        }
        let mut points: Vec<Point> = Vec::new();
        for one in named(&of_arm, arms) {
            let memory = one.group.protocol.memory().unwrap_or(0.0);
            let place = format!("memory {}", thousands(memory as u64));
            let one = Named { name: arm.label(), ..one };
            points.extend(one.point(memory, &place, one.group.of_matrix(accuracy), 100.0, " %"));
            sources.push(super::Source {
                name: format!("{}, {place}", one.name),
                runs: one.group.paths().map(Into::into).collect(),
            });
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let place = arms.iter().position(|other| *other == arm).unwrap_or(arms.len());
        series.push((place, arm.label()));
        curves.push(Curve { series: place, points, shape: Shape::Line });
    }
    let sizes: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
    let title = "Accuracy against the size of the memory".to_owned();
    let panel =
        Panel { title: String::new(), x: Axis::around("stored samples", sizes, true), y: accuracies(&curves), curves };
    let lines = Lines { title: title.clone(), subtitle, series, panels: vec![panel] };
    let note = "Bands, drawn for up to six series, are one sample standard deviation over seeds.".to_owned();
    (!lines.series.is_empty()).then(|| Figure { id, title, note, svg: lines.svg(bare), sources })
}
