//! What a group learned and under which conditions, and the differences from the paper.

use rehearsal_runs::Settings;

use crate::{
    readings,
    run::Run,
    settings::{self, Part},
    text::{epochs_text, thousands},
};

/// The paper's six data sets: name in settings, name in the paper, classes and tasks.
pub const PAPER_DATA: [(&str, &str, usize, usize); 6] = [
    ("cifar100", "CIFAR100", 100, 20),
    ("core50", "Core50", 50, 10),
    ("food100", "Food100", 100, 20),
    ("mini-imagenet", "Mini-ImageNet", 100, 20),
    ("places100", "Places100", 100, 20),
    ("tiny-imagenet", "Tiny-ImageNet", 100, 20),
];

/// The paper's memory, except in its Table 2.
pub const PAPER_MEMORY: f64 = 10_000.0;

/// The paper's conditions, without what does not change results (`device`, `kernels`) and what only
/// another schedule uses.
const PAPER_PROTOCOL: [(&str, &str); 11] = [
    ("epochs", "50"),
    ("width", "64"),
    ("batch", "10"),
    ("retrieved", "10"),
    ("lr", "0.1"),
    ("backbone", "resnet18"),
    ("momentum", "0.0"),
    ("weight-decay", "0.0"),
    ("schedule", "constant"),
    ("offer", "every-epoch"),
    ("recalibrate", "off"),
];

/// What differs from the paper in the online setting of the field.
const ONLINE: [(&str, &str); 2] = [("epochs", "1"), ("width", "20")];

/// The `BatchNorm` statistics that networks were tested with, in words.
pub const AS_TRAINED: &str = "statistics as trained";
/// The other ones.
pub const RECALIBRATED: &str = "statistics recalibrated from the memory";

/// Settings of data that a run writes only if they are not the default.
const UNUSUAL: [&str; 5] = ["size", "stream", "blur", "task-classes", "skip-bad"];

/// What was learned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Data {
    /// The place of the data set in the paper's tables; others follow.
    place: usize,
    settings: Part,
    /// SHA-256 of the data; empty if not known.
    sha256: String,
    /// What it lacked of the published data set.
    incomplete: Vec<String>,
    /// The number of classes; none for a run without a result.
    classes: Option<usize>,
}

impl Data {
    /// The data of a finished run.
    pub fn of_run(run: &Run) -> Self {
        let classes = Some(run.class_names.len()).filter(|&classes| classes > 0);
        let (sha256, incomplete) = (run.data_sha256.clone(), run.incomplete_data.clone());
        Self { sha256, incomplete, classes, ..Self::from_settings(&run.settings) }
    }

    /// The data of a run of which only the settings are known.
    pub fn from_settings(settings: &Settings) -> Self {
        let settings = settings::data(settings);
        let name = settings.get("dataset");
        let place = PAPER_DATA.iter().position(|(id, ..)| *id == name).unwrap_or(PAPER_DATA.len());
        let classes = settings.number("classes").map(|classes| classes as usize);
        Self { place, settings, sha256: String::new(), incomplete: Vec::new(), classes }
    }

    /// Whether both may be the same: the number of classes of a run without a result is not known.
    pub fn is_like(&self, other: &Self) -> bool {
        let both = |name: &str| (self.settings.get(name), other.settings.get(name));
        let may_agree = |name: &&str| matches!(both(name), (a, b) if a == b || a.is_empty() || b.is_empty());
        let agree = |name: &&str| matches!(both(name), (a, b) if a == b);
        ["dataset", "train-per-class", "test-per-class"].iter().chain(&UNUSUAL).all(agree)
            && ["tasks", "classes", "class-order"].iter().all(may_agree)
    }

    /// The data set's name in settings.
    pub fn dataset(&self) -> &str {
        self.settings.get("dataset")
    }

    /// The data set as the paper writes it.
    pub fn name(&self) -> &str {
        PAPER_DATA.get(self.place).map_or(self.dataset(), |(_, name, ..)| name)
    }

    /// The numbers of classes and tasks.
    pub fn classes_and_tasks(&self) -> (Option<usize>, Option<usize>) {
        (self.classes, self.settings.number("tasks").map(|tasks| tasks as usize))
    }

    /// The name, and what differs from the whole data set: "CIFAR100 (20 classes in 4 tasks, 300
    /// training images per class)".
    pub fn label(&self) -> String {
        let mut said = Vec::new();
        let (classes, tasks) = self.classes_and_tasks();
        let usual = PAPER_DATA.get(self.place).is_some_and(|&(.., k, t)| classes == Some(k) && tasks == Some(t));
        if let (Some(classes), Some(tasks), false) = (classes, tasks, usual) {
            said.push(format!("{classes} classes in {tasks} tasks"));
        }
        for (name, words) in
            [("train-per-class", "training images per class"), ("test-per-class", "test images per class")]
        {
            if !self.settings.get(name).is_empty() {
                said.push(format!("{} {words}", self.settings.get(name)));
            }
        }
        if self.settings.get("class-order") == "natural" {
            said.push("natural order".into());
        }
        if !self.incomplete.is_empty() {
            said.push("a part of the data".into());
        }
        said.extend(self.unusual().map(|name| format!("{name} {}", self.settings.get(name))));
        // Folders have no names: their contents distinguish them.
        if self.dataset().split('+').any(|name| name == "folder") && !self.sha256.is_empty() {
            said.push(format!("contents {}", self.sha256.chars().take(8).collect::<String>()));
        }
        if said.is_empty() { self.name().into() } else { format!("{} ({})", self.name(), said.join(", ")) }
    }

    /// Whether it is Split CIFAR-100 as the online setting of the field has it: whole, in 10 tasks.
    pub fn is_online(&self) -> bool {
        let limits = ["train-per-class", "test-per-class"];
        self.dataset() == "cifar100"
            && self.classes_and_tasks() == (Some(100), Some(10))
            && self.incomplete.is_empty()
            && self.settings.get("class-order") != "natural"
            && limits.iter().chain(&UNUSUAL).all(|name| self.settings.get(name).is_empty())
    }

    /// The settings of data that are not the default.
    fn unusual(&self) -> impl Iterator<Item = &'static str> {
        UNUSUAL.into_iter().filter(|name| !self.settings.get(name).is_empty())
    }

    /// The differences from the paper's data of that name, or that the paper has none.
    pub fn differences_from_paper(&self) -> Vec<String> {
        let Some(&(_, name, paper_classes, paper_tasks)) = PAPER_DATA.get(self.place) else {
            return vec![format!("the paper has no {}", self.dataset())];
        };
        let (classes, tasks) = self.classes_and_tasks();
        let mut differences = Vec::new();
        if classes != Some(paper_classes) || tasks != Some(paper_tasks) {
            let or_all = |number: Option<usize>| number.map_or("?".to_owned(), |number| number.to_string());
            let (classes, tasks) = (or_all(classes), or_all(tasks));
            differences
                .push(format!("{name} {classes} classes in {tasks} tasks (paper {paper_classes} in {paper_tasks})"));
        }
        for limit in ["train-per-class", "test-per-class"] {
            if !self.settings.get(limit).is_empty() {
                differences.push(format!("{limit} {} (paper all)", self.settings.get(limit)));
            }
        }
        differences.extend(self.incomplete.iter().map(|part| format!("only {part} (paper all)")));
        if self.settings.get("class-order") == "natural" {
            differences.push("class-order natural (paper seeded)".into());
        }
        differences.extend(self.unusual().map(|name| format!("{name} {} (paper as usual)", self.settings.get(name))));
        differences
    }
}

/// The settings that must agree in a fair comparison: epochs, memory, width and the like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Protocol(Part);

impl Protocol {
    /// The protocol of a run.
    pub fn from_settings(settings: &Settings) -> Self {
        Self(settings::protocol(settings))
    }

    /// The size of the memory in samples.
    pub fn memory(&self) -> Option<f64> {
        self.0.number("memory")
    }

    /// Whether it differs from another only in having no memory.
    pub fn is_without_memory_of(&self, other: &Self) -> bool {
        self.memory() == Some(0.0) && self.0.without("memory") == other.0.without("memory")
    }

    /// All but the size of the memory.
    pub fn but_memory(&self) -> Self {
        Self(self.0.without("memory"))
    }

    /// The number of epochs per task.
    pub fn epochs(&self) -> Option<f64> {
        self.0.number("epochs")
    }

    /// All but the number of epochs.
    pub fn but_epochs(&self) -> Self {
        Self(self.0.without("epochs"))
    }

    /// Whether networks are tested with recalibrated `BatchNorm` statistics.
    pub fn is_recalibrated(&self) -> bool {
        self.0.get(readings::SETTING) == readings::MEMORY
    }

    /// The beginning of the names of files about such conditions.
    pub fn prefix(&self) -> &'static str {
        if self.is_recalibrated() { "recalibrated-" } else { "" }
    }

    /// All but the `BatchNorm` statistics that networks are tested with.
    pub fn but_statistics(&self) -> Self {
        Self(self.0.without(readings::SETTING))
    }

    /// "50 epochs, memory 10,000, width 64", and the other settings that differ among some protocols.
    pub fn label(&self, among: &[Self]) -> String {
        let mut said: Vec<String> = self.epochs().map(epochs_text).into_iter().collect();
        if let Some(memory) = self.memory() {
            said.push(format!("memory {}", thousands(memory as u64)));
        }
        said.push(format!("width {}", self.0.get("width")));
        let mut rest: Vec<&str> = among.iter().flat_map(|other| self.0.differing(&other.0)).collect();
        rest.retain(|name| !["epochs", "memory", "width", readings::SETTING].contains(name));
        rest.sort_unstable();
        rest.dedup();
        said.extend(rest.iter().map(|name| format!("{name} {}", self.0.get(name))));
        if self.is_recalibrated() {
            said.push(RECALIBRATED.into());
        } else if among.iter().any(Self::is_recalibrated) {
            said.push(AS_TRAINED.into());
        }
        said.join(", ")
    }

    /// Whether it is the online setting of the field, whatever the size of the memory.
    pub fn is_online(&self) -> bool {
        let is_papers = |(name, _): &&(&str, &str)| !ONLINE.iter().any(|(own, _)| own == name);
        let mut wanted = PAPER_PROTOCOL.iter().filter(is_papers).chain(&ONLINE);
        // A version without the setting behaves as the published code does.
        wanted.all(|(name, value)| self.0.get(name).is_empty() || self.0.has(name, value))
    }

    /// The differences from the paper's Table 1.
    pub fn differences_from_paper(&self) -> Vec<String> {
        let mut differences = self.differences_but_memory();
        if self.memory().is_some_and(|memory| (memory - PAPER_MEMORY).abs() > 0.5) {
            differences.push(format!("memory {} (paper {})", self.0.get("memory"), PAPER_MEMORY));
        }
        differences
    }

    /// The differences from the paper's Table 2, which varies the memory.
    pub fn differences_but_memory(&self) -> Vec<String> {
        let differs = |(name, paper): &&(&str, &str)| {
            // A version without the setting behaves as the paper does.
            !self.0.get(name).is_empty() && !self.0.has(name, paper)
        };
        let differing = PAPER_PROTOCOL.iter().filter(differs);
        differing.map(|(name, paper)| format!("{name} {} (paper {paper})", self.0.get(name))).collect()
    }
}
