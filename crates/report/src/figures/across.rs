//! Accuracy against what conditions differ in: the size of the memory, and the time that more epochs
//! take.

use std::collections::BTreeSet;

use rehearsal_measure::accuracy;

use super::{BANDS, Figure, Named, PERCENT, accuracy_axis, extents, named};
use crate::{
    arm::{Arm, labels},
    drawing::{Axis, Curve, Form, Lines, Panel, Point, Shape},
    study::{Group, Study, Varied},
    text::{epochs_text, thousands},
};

/// A kind of figure: its name, its title, its note, the unit of its horizontal axis, and where a group
/// is on it, also in words.
type Kind = (&'static str, &'static str, &'static str, &'static str, fn(&Group) -> Option<(f64, String)>);

/// Accuracy against the size of the memory, for every data set that was run with several.
pub fn by_memory(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    let place =
        |group: &Group| group.protocol.memory().map(|size| (size, format!("memory {}", thousands(size as u64))));
    let kind: Kind = ("memory-size", "Accuracy against the size of the memory", "", "stored samples", place);
    let mut sets = study.by_memory();
    for set in &mut sets {
        // One size of an arm is not a curve.
        let all = set.groups.clone();
        set.groups.retain(|group| all.iter().filter(|other| other.arm == group.arm).count() > 1);
    }
    sets.iter().filter_map(|set| figure(set, kind, arms, bare)).collect()
}

/// Accuracy against minutes, for every data set that was run with several numbers of epochs.
pub fn by_time(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    let place = |group: &Group| {
        let minutes = group.over_seeds(|run| run.seconds)?.mean / 60.0;
        let epochs = group.protocol.epochs().map(epochs_text).unwrap_or_default();
        Some((minutes, format!("{epochs}, {minutes:.1} min")))
    };
    let note = "Minutes of training and testing, mean over seeds; comparable only on the same idle machine. ";
    let kind: Kind = ("minutes", "Accuracy against time, by the number of epochs", note, "minutes", place);
    study.by_epochs().iter().filter_map(|set| figure(set, kind, arms, bare)).collect()
}

/// A curve for every arm; none without a point.
fn figure(set: &Varied, (kind, title, note, unit, place): Kind, arms: &[&Arm], bare: bool) -> Option<Figure> {
    let own: Vec<&Arm> = set.groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect();
    let (mut curves, mut series, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for (arm, name) in own.iter().zip(labels(&own)) {
        let of_arm: Vec<&Group> = set.groups.iter().copied().filter(|group| group.arm == **arm).collect();
        let mut points: Vec<Point> = Vec::new();
        for one in named(&of_arm, arms) {
            let Some((x, words)) = place(one.group) else { continue };
            let one = Named { name: name.clone(), ..one };
            points.extend(one.point((x, &words), one.group.of_matrix(accuracy), PERCENT));
            sources.push(one.source(&format!("{name}, {words}")));
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let place = arms.iter().position(|other| other == arm).unwrap_or(arms.len());
        series.push((place, name));
        curves.push(Curve { series: place, points, shape: Shape::Line });
    }
    let across: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
    if across.is_empty() {
        return None;
    }
    let (x, y) = (Axis::around(unit, across, true), accuracy_axis(extents(&curves)));
    let panels = vec![Panel { title: String::new(), x, y, curves }];
    let subtitle = format!("{}; {}", set.data.label(), set.label);
    let lines = Lines { title: title.into(), subtitle, series, panels };
    Some(Figure {
        id: set.id(kind),
        title: title.into(),
        note: format!("{note}{BANDS}"),
        data: lines.subtitle.clone(),
        svg: lines.svg(if bare { Form::Bare } else { Form::Titled }),
        wide: lines.svg(Form::Bare),
        narrow: lines.svg(Form::Narrow),
        sources,
    })
}
