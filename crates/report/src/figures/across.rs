//! Accuracy against what conditions differ in: the size of the memory, and the time that more passes
//! take.

use std::collections::BTreeSet;

use rehearsal_measure::{OverSeeds, accuracy};

use super::{Figure, Named, Source, cost::accuracies, named};
use crate::{
    arm::{Arm, labels},
    drawing::{Axis, Curve, Lines, Panel, Point, Shape},
    protocol::{Data, Protocol, epochs_text, thousands},
    slug,
    study::{Group, Study},
};

/// What a figure is of: its name, what it says of itself, and its groups.
struct Set<'a> {
    id: String,
    title: &'static str,
    subtitle: String,
    note: &'static str,
    groups: Vec<&'a Group>,
}

/// Where a group stands: across, and in words.
type Place = fn(&Group) -> Option<(f64, String)>;

/// Accuracy against the size of the memory, for every data set that was run with more than one.
pub fn memory_size(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    let conditions: BTreeSet<(Protocol, &Data)> =
        study.groups.iter().map(|group| (group.protocol.but_memory(), &group.data)).collect();
    let mut conditions: Vec<(Protocol, &Data)> = conditions.into_iter().collect();
    conditions.sort_by_key(|(protocol, _)| protocol.is_reestimated());
    let data: Vec<&Data> = conditions.iter().map(|(_, data)| *data).collect();
    let among: Vec<Protocol> = conditions.iter().map(|(protocol, _)| protocol.clone()).collect();
    let mut figures: Vec<Figure> = Vec::new();
    for (protocol, learned) in &conditions {
        let here = |group: &&Group| {
            group.data == **learned && group.protocol.but_memory() == *protocol && group.protocol.memory() != Some(0.0)
        };
        let mut groups: Vec<&Group> = study.groups.iter().filter(here).collect();
        // One size of an arm is no curve.
        let sizes = |arm: &Arm| study.groups.iter().filter(here).filter(|group| group.arm == *arm).count();
        groups.retain(|group| sizes(&group.arm) > 1);
        let set = Set {
            id: unused(format!("{}memory-size-{}", protocol.prefix(), slug(learned, &data)), &figures),
            title: "Accuracy against the size of the memory",
            subtitle: format!("{}; {}", learned.label(), protocol.label(&among)),
            note: "",
            groups,
        };
        let place: Place =
            |group| group.protocol.memory().map(|memory| (memory, format!("memory {}", thousands(memory as u64))));
        figures.extend(set.figure(arms, bare, "stored samples", place));
    }
    figures
}

/// Accuracy against minutes, for every data set that was learned in more or fewer epochs.
pub fn time(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    let sets = study.by_epochs();
    let data: Vec<&Data> = sets.iter().map(|(_, data, _)| *data).collect();
    let among: Vec<Protocol> = sets.iter().map(|(protocol, ..)| protocol.clone()).collect();
    let mut figures: Vec<Figure> = Vec::new();
    for (protocol, learned, groups) in sets {
        let set = Set {
            id: unused(format!("{}minutes-{}", protocol.prefix(), slug(learned, &data)), &figures),
            title: "Accuracy against time, by the number of epochs",
            subtitle: format!("{}; {}", learned.label(), protocol.label(&among)),
            note: "Minutes of learning and testing, mean over seeds; they compare only if the machine was the same and had nothing else to do. ",
            groups,
        };
        let place: Place = |group| {
            let minutes = group.over_seeds(|run| run.seconds)?.mean / 60.0;
            let epochs = group.protocol.epochs().map(epochs_text).unwrap_or_default();
            Some((minutes, format!("{epochs}, {minutes:.1} min")))
        };
        figures.extend(set.figure(arms, bare, "minutes", place));
    }
    figures
}

/// A name that no figure has yet.
fn unused(id: String, figures: &[Figure]) -> String {
    if figures.iter().any(|figure| figure.id == id) { format!("{id}-p{}", figures.len() + 1) } else { id }
}

impl Set<'_> {
    /// A curve for every arm; none without a point.
    fn figure(self, arms: &[&Arm], bare: bool, unit: &str, place: Place) -> Option<Figure> {
        let own: Vec<&Arm> = self.groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect();
        let (mut curves, mut series, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for (arm, name) in own.iter().zip(labels(&own)) {
            let of_arm: Vec<&Group> = self.groups.iter().copied().filter(|group| group.arm == **arm).collect();
            let mut points: Vec<Point> = Vec::new();
            for one in named(&of_arm, arms) {
                let Some((x, said)) = place(one.group) else { continue };
                let one = Named { name: name.clone(), ..one };
                let value: Option<OverSeeds> = one.group.of_matrix(accuracy);
                points.extend(one.point(x, &said, value, 100.0, " %"));
                let runs = one.group.paths().map(Into::into).collect();
                sources.push(Source { name: format!("{name}, {said}"), runs });
            }
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let place = arms.iter().position(|other| other == arm).unwrap_or(arms.len());
            series.push((place, name));
            curves.push(Curve { series: place, points, shape: Shape::Line });
        }
        let across: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
        let has_points = !across.is_empty();
        let panel = Panel { title: String::new(), x: Axis::around(unit, across, true), y: accuracies(&curves), curves };
        let lines = Lines { title: self.title.into(), subtitle: self.subtitle, series, panels: vec![panel] };
        let note =
            format!("{}Bands, drawn for up to six series, are one sample standard deviation over seeds.", self.note);
        has_points.then(|| Figure { id: self.id, title: self.title.into(), note, svg: lines.svg(bare), sources })
    }
}
