//! Figures from runs: the usual ones of continual learning, and the paper's. One file per kind; a new
//! one is one file and one line of [`all`].

mod across;
mod alignment;
mod cost;
mod curves;
mod drift;
mod histograms;
mod matrices;
mod retrieved;
mod sides;

use std::{collections::BTreeSet, ops::Range, path::PathBuf};

use rehearsal_measure::OverSeeds;

use crate::{
    arm::{Arm, labels},
    drawing::{Axis, Curve, Form, HeatMap, HeatMaps, Lines, Panel, Point, Shape},
    protocol::Data,
    run::Run,
    slug,
    study::Group,
    tables::Conditions,
    text::counted,
};

pub use across::{by_memory, by_time};

const BANDS: &str = "Bands show one sample standard deviation over seeds and are drawn for up to six series.";

/// The factor from a measured value to the shown one, and the unit behind it.
type Unit = (f64, &'static str);
const PERCENT: Unit = (100.0, " %");
const PLAIN: Unit = (1.0, "");

/// A figure, drawn.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name in files and links.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How it is read.
    pub note: String,
    /// What it is about: the data.
    pub data: String,
    /// The drawing, as a file of its own.
    pub svg: String,
    /// The drawing for a page, below a heading.
    pub wide: String,
    /// The same for the screen of a phone.
    pub narrow: String,
    /// The runs behind each series.
    pub sources: Vec<Source>,
}

/// The runs behind a series.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the series.
    pub name: String,
    /// Its runs.
    pub runs: Vec<PathBuf>,
}

/// The groups that learned some data under some conditions, with their names.
#[derive(Clone)]
pub struct Scene<'a> {
    groups: Vec<Named<'a>>,
    /// The beginning and the end of the names of its figures.
    prefix: &'a str,
    slug: String,
    /// The data, and data and conditions, in words.
    data: String,
    subtitle: String,
    /// How figures stand in files.
    form: Form,
}

/// A group, the name of its arm, and the arm's place in the report, which decides its looks in every
/// figure.
#[derive(Clone)]
struct Named<'a> {
    group: &'a Group,
    name: String,
    place: usize,
}

/// The figures of one set of conditions, and a sentence about each that could not be made. `arms` are
/// those of the whole report.
pub fn all(conditions: &Conditions, arms: &[&Arm]) -> (Vec<Figure>, Vec<String>) {
    let (mut figures, mut notes) = (Vec::new(), Vec::new());
    for data in conditions.data() {
        let scene = Scene::new(conditions, data, arms);
        let in_tasks = scene.in_tasks();
        if in_tasks.groups.len() < scene.groups.len() {
            notes.push(format!(
                "Joint training on {} has no tasks, so figures over tasks leave it out; tables and costs include it.",
                data.label()
            ));
        }
        figures.extend(curves::all(&in_tasks));
        figures.extend([cost::time(&scene), cost::peak_memory(&scene)].into_iter().flatten());
        let diagnosed = scene.diagnosed();
        if scene.is_second_reading() {
            continue;
        }
        if diagnosed.groups.is_empty() {
            notes.push(format!(
                "No proxy drift, distances, alignment, loss change or class mix for {}: no run wrote diagnostics.jsonl.",
                data.label()
            ));
            continue;
        }
        let made = [
            ("proxy drift by task", drift::by_task(&diagnosed, drift::RAW)),
            ("normalised proxy drift by task", drift::by_task(&diagnosed, drift::NORMALISED)),
            ("proxy drift by class", drift::by_class(&diagnosed, drift::RAW)),
            ("normalised proxy drift by class", drift::by_class(&diagnosed, drift::NORMALISED)),
            ("inner distance", retrieved::inner_distance(&diagnosed)),
            ("distance to proxies", retrieved::distance_to_proxies(&diagnosed)),
            ("class mix", retrieved::class_mix(&diagnosed)),
            ("loss change", alignment::loss_change(&diagnosed)),
            ("age of tasks", sides::task_age(&diagnosed)),
            ("replays per slot", sides::replays(&diagnosed)),
        ];
        let aligned = alignment::alignment(&diagnosed);
        let mut missing: Vec<&str> =
            made.iter().filter(|(_, figure)| figure.is_none()).map(|(name, _)| *name).collect();
        if aligned.is_empty() {
            missing.push("gradient alignment");
        }
        if !missing.is_empty() {
            notes.push(format!(
                "No {} for {}: diagnostics.jsonl has no data for it.",
                missing.join(", "),
                data.label()
            ));
        }
        figures.extend(made.into_iter().filter_map(|(_, figure)| figure));
        figures.extend(aligned);
        // Only arms that score candidates have these.
        figures.extend([sides::class_mix(&diagnosed), sides::first_order(&diagnosed)].into_iter().flatten());
    }
    (figures, notes)
}

impl<'a> Scene<'a> {
    fn new(conditions: &'a Conditions<'a>, data: &Data, arms: &[&Arm]) -> Self {
        Self {
            groups: named(&conditions.groups_on(data), arms),
            prefix: &conditions.prefix,
            slug: slug(data, &conditions.data()),
            data: data.label(),
            subtitle: format!("{}; {}", data.label(), conditions.label),
            form: if conditions.bare { Form::Bare } else { Form::Titled },
        }
    }

    /// Without the groups that learned the data at once instead of task by task, unless all did.
    fn in_tasks(&self) -> Self {
        let most = self.tasks();
        self.only(|group| group.tasks() == most)
    }

    /// Only the groups that wrote diagnostics.
    fn diagnosed(&self) -> Self {
        self.only(|group| group.runs.iter().any(|run| !run.diagnostics.is_empty()))
    }

    /// Whether the first reading of all runs is reported elsewhere, with what both readings share.
    fn is_second_reading(&self) -> bool {
        self.groups.iter().flat_map(|named| &named.group.runs).all(|run| run.is_again)
    }

    fn only(&self, wanted: impl Fn(&Group) -> bool) -> Self {
        let mut scene = self.clone();
        scene.groups.retain(|named| wanted(named.group));
        scene
    }

    /// The number of tasks of the group that has most.
    fn tasks(&self) -> usize {
        self.groups.iter().map(|named| named.group.tasks()).max().unwrap_or(0)
    }

    /// An axis of tasks from the `first` on, counted from 1.
    fn task_axis(&self, label: &str, first: usize) -> Axis {
        Axis::whole(label, first, self.tasks().max(first))
    }

    fn series(&self) -> Vec<(usize, String)> {
        self.groups.iter().map(|named| (named.place, named.name.clone())).collect()
    }

    /// A curve for each group.
    fn curves(&self, of: impl Fn(&Named) -> Curve) -> Vec<Curve> {
        self.groups.iter().map(of).collect()
    }

    /// A figure of one panel with a series for each group; none without a point.
    fn one_panel(
        &self,
        kind: &str,
        title: &str,
        note: &str,
        (x, y): (Axis, Axis),
        curves: Vec<Curve>,
    ) -> Option<Figure> {
        self.lines(kind, title, note, self.series(), vec![Panel { title: String::new(), x, y, curves }])
    }

    /// A figure of panels, those without a point left out; none if no panel has one.
    fn lines(
        &self,
        kind: &str,
        title: &str,
        note: &str,
        series: Vec<(usize, String)>,
        panels: Vec<Panel>,
    ) -> Option<Figure> {
        let has_points = |panel: &Panel| panel.curves.iter().any(|curve| !curve.points.is_empty());
        let panels: Vec<Panel> = panels.into_iter().filter(has_points).collect();
        if panels.is_empty() {
            return None;
        }
        let lines = Lines { title: title.into(), subtitle: self.subtitle.clone(), series, panels };
        let series: Vec<&str> = lines.shown().into_iter().map(|(_, name)| name).collect();
        let panels: Vec<&str> = lines.panels.iter().map(|panel| panel.title.as_str()).collect();
        Some(self.figure((kind, title, note), &series, &panels, |form| lines.svg(form)))
    }

    /// A figure of heat maps on one scale; none without a map.
    fn heat_maps(&self, kind: &str, note: &str, maps: HeatMaps) -> Option<Figure> {
        let maps = HeatMaps { subtitle: self.subtitle.clone(), ..maps };
        let panels: Vec<&str> = maps.maps.iter().map(|map| map.title.as_str()).collect();
        let figure = || self.figure((kind, &maps.title, note), &[], &panels, |form| maps.svg(form));
        (!maps.maps.is_empty()).then(figure)
    }

    /// Its sources are the groups that have something drawn: a series, or a panel.
    fn figure(
        &self,
        (kind, title, note): (&str, &str, &str),
        series: &[&str],
        panels: &[&str],
        svg: impl Fn(Form) -> String,
    ) -> Figure {
        // The title of a panel is the name of its group, perhaps with a number or a part behind it.
        let of_panel = |panel: &&str| {
            let names = self.groups.iter().map(|named| named.name.as_str());
            names.filter(|name| panel.starts_with(name)).max_by_key(|name| name.len())
        };
        let drawn: BTreeSet<&str> = series.iter().copied().chain(panels.iter().filter_map(of_panel)).collect();
        let source = |named: &Named| named.source(&named.name);
        let mut sources: Vec<Source> =
            self.groups.iter().filter(|named| drawn.contains(named.name.as_str())).map(source).collect();
        if sources.is_empty() {
            // Neither series nor panels are groups: what is drawn is of all.
            sources = self.groups.iter().map(source).collect();
        }
        Figure {
            id: format!("{}{kind}-{}", self.prefix, self.slug),
            title: title.into(),
            note: note.into(),
            data: self.data.clone(),
            svg: svg(self.form),
            wide: svg(Form::Bare),
            narrow: svg(Form::Narrow),
            sources,
        }
    }
}

impl Named<'_> {
    fn source(&self, name: &str) -> Source {
        Source { name: name.into(), runs: self.group.paths().map(Into::into).collect() }
    }

    /// The same group as another series.
    fn renamed(&self, place: usize, name: &str) -> Self {
        Self { group: self.group, name: name.into(), place }
    }

    /// A point of its series over seeds; none if no run has a value.
    fn point(&self, (x, place): (f64, &str), value: Option<OverSeeds>, (scale, unit): Unit) -> Option<Point> {
        let value = value?;
        let (y, spread) = (value.mean * scale, value.deviation.map(|deviation| deviation * scale));
        // Values without a unit are about 1.
        let digits = if unit.is_empty() { 3 } else { 2 };
        let spread_text = spread.map_or(String::new(), |spread| format!(" ± {spread:.digits$}"));
        let seeds = counted(value.n, "seed");
        let tip = format!("{}: {place}: {y:.digits$}{spread_text}{unit} ({seeds})", self.name);
        Some(Point { x, y, spread, tip })
    }

    /// A line with a point for each number of a range: where it is, and its value in a run.
    fn curve(
        &self,
        places: impl IntoIterator<Item = usize>,
        place: impl Fn(usize) -> (f64, String),
        unit: Unit,
        of: impl Fn(&Run, usize) -> Option<f64>,
    ) -> Curve {
        let point = |i: usize| {
            let (x, place) = place(i);
            self.point((x, &place), self.group.over_seeds(|run| of(run, i)), unit)
        };
        Curve { series: self.place, points: places.into_iter().filter_map(point).collect(), shape: Shape::Line }
    }
}

/// Where a task is drawn that is counted from 0: "while learning task 3".
fn at_task(words: &str) -> impl Fn(usize) -> (f64, String) {
    move |task| (task as f64 + 1.0, format!("{words} task {}", task + 1))
}

/// At most so many numbers of a range, evenly apart, with the first and the last: a figure of thousands of tasks would
/// need gigabytes.
fn thinned(range: Range<usize>, most: usize) -> Vec<usize> {
    let (count, last) = (range.len(), most.min(range.len()).saturating_sub(1).max(1));
    (0..most.min(count)).map(|i| range.start + i * (count - 1) / last).collect()
}

/// Both ends of the spread of every point: what an axis must hold.
fn extents(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves.iter().flat_map(|curve| &curve.points).flat_map(Point::extent)
}

fn accuracy_axis(values: impl Iterator<Item = f64>) -> Axis {
    Axis::around("accuracy, %", values, true)
}

/// Groups with their names and places.
fn named<'a>(groups: &[&'a Group], arms: &[&Arm]) -> Vec<Named<'a>> {
    let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
    let place = |group: &Group| arms.iter().position(|arm| **arm == group.arm).unwrap_or(arms.len());
    groups.iter().zip(names).map(|(&group, name)| Named { group, name, place: place(group) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_range_is_thinned_evenly_with_both_ends() {
        assert_eq!(thinned(2..6, 10), [2, 3, 4, 5]);
        assert_eq!(thinned(0..1, 10), [0]);
        assert_eq!(thinned(3..3, 10), [] as [usize; 0]);
        assert_eq!(thinned(0..101, 5), [0, 25, 50, 75, 100]);
        let many = thinned(7..2007, 200);
        assert!(many.len() == 200 && many[0] == 7 && many[199] == 2006 && many.is_sorted_by(|a, b| a < b));
    }
}
