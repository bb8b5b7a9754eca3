//! Figures from runs: those of this field, and the paper's. One file per kind; a new one is one file
//! and one line of [`all`].

mod across;
mod alignment;
mod cost;
mod curves;
mod drift;
mod histograms;
mod matrices;
mod retrieved;
mod sides;

use std::path::PathBuf;

use rehearsal_measure::OverSeeds;

use crate::{
    arm::{Arm, labels},
    drawing::{HeatMaps, Lines, Point},
    protocol::Data,
    slug,
    study::{Group, Study},
    tables::Conditions,
};

/// A figure, drawn.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name in files and links.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The drawing.
    pub svg: String,
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

/// What a figure is made of: the groups that learned some data under some conditions, with their
/// names.
pub struct Scene<'a> {
    /// The groups.
    pub groups: Vec<Named<'a>>,
    /// What they learned.
    pub data: &'a Data,
    /// Put before the figure's name.
    prefix: &'a str,
    /// Put behind it.
    slug: String,
    /// Data and conditions in words.
    subtitle: String,
    /// Whether figures go without their titles.
    bare: bool,
}

/// A group, its name, and its place in the report's list of arms, which decides its looks
/// everywhere.
pub struct Named<'a> {
    /// The group.
    pub group: &'a Group,
    /// The name of its arm.
    pub name: String,
    /// The place of its arm.
    pub place: usize,
}

/// The figures of one set of conditions, and sentences about those that could not be made. `arms`
/// are all of the report.
pub fn all(conditions: &Conditions, arms: &[&Arm]) -> (Vec<Figure>, Vec<String>) {
    let (mut figures, mut notes) = (Vec::new(), Vec::new());
    for data in conditions.data() {
        let scene = Scene::new(conditions, data, arms);
        let in_tasks = scene.in_tasks();
        if in_tasks.groups.len() < scene.groups.len() {
            notes.push(format!(
                "Joint training on {} has no tasks, so figures over tasks leave it out: it is in tables and costs.",
                data.label()
            ));
        }
        figures.push(curves::so_far(&in_tasks));
        figures.extend(curves::forgetting(&in_tasks));
        figures.push(curves::after(&in_tasks));
        figures.push(curves::retention(&in_tasks));
        figures.push(curves::tasks(&in_tasks));
        figures.push(matrices::accuracy(&in_tasks));
        figures.extend(curves::classes(&in_tasks));
        figures.extend(cost::time(&scene));
        figures.extend(cost::peak_memory(&scene));
        let diagnosed = scene.diagnosed();
        if scene.is_again() {
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
            ("proxy drift by task", drift::by_task(&diagnosed, drift::Way::Raw)),
            ("normalised proxy drift by task", drift::by_task(&diagnosed, drift::Way::Normalised)),
            ("proxy drift by class", drift::by_class(&diagnosed, drift::Way::Raw)),
            ("normalised proxy drift by class", drift::by_class(&diagnosed, drift::Way::Normalised)),
            ("inner distance", retrieved::inner_distance(&diagnosed)),
            ("distance to proxies", retrieved::distance_to_proxies(&diagnosed)),
            ("class mix", retrieved::class_mix(&diagnosed)),
            ("loss change", alignment::loss_change(&diagnosed)),
            ("age of tasks", sides::task_age(&diagnosed)),
            ("replays per slot", sides::replays(&diagnosed)),
        ];
        let missing: Vec<&str> = made.iter().filter(|(_, figure)| figure.is_none()).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            notes.push(format!("No {} for {}: diagnostics.jsonl does not hold it.", missing.join(", "), data.label()));
        }
        figures.extend(made.into_iter().filter_map(|(_, figure)| figure));
        let aligned = alignment::alignment(&diagnosed);
        if aligned.is_empty() {
            notes.push(format!("No gradient alignment for {}: diagnostics.jsonl does not hold it.", data.label()));
        }
        figures.extend(aligned);
        // Only of those that score.
        figures.extend(sides::class_mix(&diagnosed));
        figures.extend(sides::first_order(&diagnosed));
    }
    (figures, notes)
}

/// Accuracy against the size of the memory, where that differs.
pub fn by_memory(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    across::memory_size(study, arms, bare)
}

/// Accuracy against time, where runs of an arm differ in epochs or the like.
pub fn by_time(study: &Study, arms: &[&Arm], bare: bool) -> Vec<Figure> {
    across::time(study, arms, bare)
}

impl<'a> Scene<'a> {
    fn new(conditions: &'a Conditions<'a>, data: &'a Data, arms: &[&Arm]) -> Self {
        let mut groups = conditions.groups.iter().copied().filter(|group| group.data == *data).collect::<Vec<_>>();
        groups.sort_by_key(|group| &group.arm);
        Self {
            groups: named(&groups, arms),
            data,
            prefix: &conditions.prefix,
            slug: slug(data, &conditions.data()),
            subtitle: format!("{}; {}", data.label(), conditions.label),
            bare: conditions.bare,
        }
    }

    /// Only the groups that learned the data task by task, not all at once; all if none did.
    fn in_tasks(&self) -> Self {
        let most = self.groups.iter().map(|named| named.group.tasks()).max();
        self.only(|group| Some(group.tasks()) == most)
    }

    /// Only the groups that wrote diagnostics.
    fn diagnosed(&self) -> Self {
        self.only(|group| group.runs.iter().any(|run| !run.diagnostics.is_empty()))
    }

    /// Whether all runs were read before: what does not depend on the statistics of the norm was
    /// drawn then.
    fn is_again(&self) -> bool {
        self.groups.iter().flat_map(|named| &named.group.runs).all(|run| run.is_again)
    }

    fn only(&self, wanted: impl Fn(&Group) -> bool) -> Self {
        let groups = self.groups.iter().filter(|named| wanted(named.group));
        let groups = groups.map(|named| Named { group: named.group, name: named.name.clone(), place: named.place });
        let (slug, subtitle) = (self.slug.clone(), self.subtitle.clone());
        Self { groups: groups.collect(), data: self.data, prefix: self.prefix, slug, subtitle, bare: self.bare }
    }

    /// The series of a figure.
    fn series(&self) -> Vec<(usize, String)> {
        self.groups.iter().map(|named| (named.place, named.name.clone())).collect()
    }

    fn id(&self, kind: &str) -> String {
        format!("{}{kind}-{}", self.prefix, self.slug)
    }

    fn sources(&self) -> Vec<Source> {
        self.groups.iter().map(Named::source).collect()
    }

    fn lines(&self, kind: &str, note: &str, lines: &Lines) -> Figure {
        let (id, title, note) = (self.id(kind), lines.title.clone(), note.to_owned());
        Figure { id, title, note, svg: lines.svg(self.bare), sources: self.sources() }
    }

    fn heat_maps(&self, kind: &str, note: &str, maps: &HeatMaps) -> Figure {
        let (id, title, note) = (self.id(kind), maps.title.clone(), note.to_owned());
        Figure { id, title, note, svg: maps.svg(self.bare), sources: self.sources() }
    }
}

impl Named<'_> {
    fn source(&self) -> Source {
        Source { name: self.name.clone(), runs: self.group.paths().map(Into::into).collect() }
    }

    /// A point of its series over seeds; none where no run has a value.
    fn point(&self, x: f64, where_: &str, value: Option<OverSeeds>, scale: f64, unit: &str) -> Option<Point> {
        let value = value?;
        let (y, spread) = (value.mean * scale, value.deviation.map(|deviation| deviation * scale));
        // What has no unit is about 1.
        let digits = if unit.is_empty() { 3 } else { 2 };
        let spread_said = spread.map_or(String::new(), |spread| format!(" ± {spread:.digits$}"));
        let seeds = if value.n == 1 { "1 seed".to_owned() } else { format!("{} seeds", value.n) };
        let tip = format!("{}: {where_}: {y:.digits$}{spread_said}{unit} ({seeds})", self.name);
        Some(Point { x, y, spread, tip })
    }
}

/// Groups with their names and places.
fn named<'a>(groups: &[&'a Group], arms: &[&Arm]) -> Vec<Named<'a>> {
    let names = labels(&groups.iter().map(|group| &group.arm).collect::<Vec<_>>());
    let place = |group: &Group| arms.iter().position(|arm| **arm == group.arm).unwrap_or(arms.len());
    groups.iter().zip(names).map(|(&group, name)| Named { group, name, place: place(group) }).collect()
}
