//! Made-up directories of runs, whose numbers follow from the settings and the seed, and what tests ask
//! of their reports.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rehearsal_measure::{Distance, Histogram};
use rehearsal_report::{
    report::{Options, Report},
    study::Study,
    table::{Cell, Table},
};
use rehearsal_runs::{ClassDrift, Correlation, Picks, Stretch, TaskDiagnostics};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A run to be written.
pub struct Made {
    pub settings: Value,
    /// How good it is, from 0 to 1.
    pub quality: f64,
    pub diagnostics: bool,
}

impl Made {
    /// PCR at random on CIFAR100 as the paper runs it.
    pub fn paper() -> Self {
        let settings = json!({
            "dataset": "cifar100", "method": "pcr", "retrieval": "random", "ratio": "10:0", "tasks": 20, "class-order": "seeded",
            "epochs": 50, "memory": 10000, "batch": 10, "retrieved": 10, "candidates": 50, "lr": 0.1, "width": 64, "seed": 0,
            "threads": 2, "device": "cpu", "backbone": "resnet18", "kernels": "winograd", "memory-policy": "reservoir",
            "checkpoint-minutes": 10.0,
        });
        Self { settings, quality: 0.6, diagnostics: false }
    }

    /// With other settings; null takes one away.
    #[allow(clippy::needless_pass_by_value, reason = "so that a call reads `with(json!(…))`")]
    pub fn with(mut self, changes: Value) -> Self {
        for (name, value) in changes.as_object().unwrap() {
            self.settings[name] = value.clone();
        }
        self.settings.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        self
    }

    pub fn quality(mut self, quality: f64) -> Self {
        self.quality = quality;
        self
    }

    pub fn diagnosed(mut self) -> Self {
        self.diagnostics = true;
        self
    }

    pub fn seed(self, seed: u64) -> Self {
        self.with(json!({ "seed": seed }))
    }

    fn number(&self, name: &str) -> usize {
        self.settings[name].as_u64().unwrap() as usize
    }

    fn classes(&self) -> usize {
        match self.settings["dataset"].as_str() {
            _ if self.settings["classes"].is_u64() => self.number("classes"),
            Some("core50") => 50,
            Some("embedded") => 10,
            _ => 100,
        }
    }

    /// Between −1 and 1, the same for the same run and place.
    fn noise(&self, place: usize) -> f64 {
        let name = format!("{}{}{place}", self.settings["method"], self.settings["seed"]);
        let hash = name
            .bytes()
            .fold(17_u64, |hash, byte| hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(byte)));
        ((hash >> 33) % 2001) as f64 / 1000.0 - 1.0
    }

    /// Accuracy on a task after another, in whole percents so that predictions can say the same.
    pub fn accuracy(&self, after: usize, task: usize) -> f64 {
        let age = (after - task) as f64;
        let value = (0.5 + 0.4 * self.quality) * (0.35 + 0.3 * self.quality + 0.45 / (1.0 + age / 2.0));
        ((value + 0.03 * self.noise(after * 31 + task)).clamp(0.0, 1.0) * 100.0).round() / 100.0
    }

    /// The same with recalibrated statistics: three percentage points better, or four in an odd seed.
    pub fn recalibrated(&self, after: usize, task: usize) -> f64 {
        (self.accuracy(after, task) + 0.03 + 0.01 * (self.number("seed") % 2) as f64).min(1.0)
    }

    /// Whether it was tested with both statistics, and had a memory to recalibrate from.
    fn has_both(&self) -> bool {
        self.settings["recalibrate"] == "both" && self.settings["memory"] != 0
    }

    /// Joint training learns all as one task.
    fn matrix(&self, accuracy: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
        let tasks = if self.settings["method"] == "joint" { 1 } else { self.number("tasks") };
        let row = |after| (0..tasks).map(|task| if task > after { 0.0 } else { accuracy(after, task) }).collect();
        (0..tasks).map(row).collect()
    }

    /// A hundred test images per task.
    fn predictions(&self, accuracy: impl Fn(usize, usize) -> f64) -> Vec<u8> {
        let tasks = self.number("tasks");
        let accuracy = &accuracy;
        let correct = |task: usize, image: usize| {
            let turned = (image * 37 + self.number("seed") * 11) % 100;
            u8::from((turned as f64) < accuracy(tasks - 1, task) * 100.0)
        };
        (0..tasks)
            .flat_map(|task| (0..100).map(move |image| (task, image)))
            .map(|(task, image)| correct(task, image))
            .collect()
    }

    fn diagnostics_of(&self, task: usize) -> String {
        let seen = self.classes() / self.number("tasks") * (task + 1);
        let drift = |class: usize| {
            let normalised =
                (1.4 - self.quality) * (0.2 + 0.6 / (1.0 + class as f64 / 7.0)) + 0.05 * self.noise(task * 7 + class);
            ClassDrift { class, distance: Distance { raw: normalised * 3.0, normalised } }
        };
        let spread = |offset: f64| {
            let normalised = offset + 0.2 * self.quality + 0.02 * self.noise(task);
            Some(Distance { raw: normalised * 8.0, normalised })
        };
        let bell = |centre: f64| {
            let mut histogram = Histogram::new(-1.0, 1.0, 20);
            (0..400).for_each(|i| histogram.add(centre + 0.4 * self.noise(i + task) + 0.2 * self.noise(i * 3)));
            Some(histogram)
        };
        let picks = |near: u64| Picks {
            task_age: (0..=task as u64).map(|age| 10 + near * (task as u64 - age)).collect(),
            class_mix: (0..seen as u64).map(|class| 10 + near * class).collect(),
            slots_by_replays: vec![40, 30 + near, 20, 10],
        };
        let correlated = |rho: f64| Some(Correlation { n: 40, pearson: Some(rho), spearman: Some(rho + 0.1) });
        let stretch = |i: u64| Stretch {
            from: i * 4 + 1,
            to: i * 4 + 4,
            inner_distance: spread(0.8 + 0.01 * i as f64),
            distance_to_proxies: spread(0.6 + 0.01 * i as f64),
        };
        let scored = self.settings["retrieval"] != "random";
        let line = TaskDiagnostics {
            task,
            picks_high: scored.then(|| picks(0)),
            picks_low: scored.then(|| picks(5)),
            picks_other: (!scored).then(|| picks(2)),
            first_order: if scored { correlated(0.8) } else { None },
            first_order_high: if scored { correlated(0.5) } else { None },
            first_order_low: if scored { correlated(0.4) } else { None },
            distances: (0..10).map(stretch).collect(),
            proxy_drift: (0..seen).map(drift).collect(),
            inner_distance: spread(0.9),
            distance_to_proxies: spread(0.7),
            alignment_high: bell(-0.25),
            alignment_low: bell(0.3),
            loss_change: bell(0.05),
            class_mix: (0..seen).map(|class| 20 + ((1.0 + self.noise(class + task)) * 40.0) as u64).collect(),
        };
        serde_json::to_string(&line).unwrap()
    }

    /// Writes the directory of a finished run.
    pub fn write(&self, directory: &Path) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let predictions = self.predictions(|after, task| self.accuracy(after, task));
        let names: Vec<String> = (0..self.classes()).map(|class| format!("thing {class}")).collect();
        // An epoch with scores takes three times as long.
        let scores = if matches!(self.settings["retrieval"].as_str(), None | Some("random")) { 1.0 } else { 3.0 };
        let seconds = 60.0 + scores * self.number("epochs") as f64 + self.noise(1);
        let mut result = json!({
            "format": 1, "version": "0.1.0", "config": self.settings, "data_sha256": format!("{}", self.settings["dataset"]),
            "class_names": names, "matrix": self.matrix(|after, task| self.accuracy(after, task)), "steps": 1000 * self.number("epochs"), "seconds": { "total": seconds, "tasks": [], "phases": {} },
            "samples_per_second": 2000.0 / seconds, "peak_memory_bytes": 700_000_000 + (self.quality * 1e8) as u64,
            "test_images": predictions.len(), "something_new": [1, 2, 3],
        });
        if self.has_both() {
            let again = |after: usize, task: usize| self.recalibrated(after, task);
            result["recalibrated"] = json!({ "matrix": self.matrix(again) });
            fs::write(directory.join("predictions-recalibrated.bin"), self.predictions(again)).unwrap();
        } else if self.settings["recalibrate"] == "both" {
            result["recalibration"] = json!({ "images": [null], "why_not": "there is no memory" });
        }
        fs::write(directory.join("result.json"), serde_json::to_string_pretty(&result).unwrap()).unwrap();
        fs::write(directory.join("predictions.bin"), predictions).unwrap();
        if self.diagnostics {
            let lines: Vec<String> = (0..self.number("tasks")).map(|task| self.diagnostics_of(task)).collect();
            fs::write(directory.join("diagnostics.jsonl"), lines.join("\n")).unwrap();
        }
        directory.to_owned()
    }

    /// Writes the directory of a run without a result.
    pub fn begin(&self, directory: &Path) {
        fs::create_dir_all(directory).unwrap();
        let settings: toml::Table = serde_json::from_value(self.settings.clone()).unwrap();
        fs::write(directory.join("config.toml"), settings.to_string()).unwrap();
        fs::write(directory.join("steps.jsonl"), "").unwrap();
    }
}

/// The configurations of the paper's Table 1, from worst to best.
pub fn table1() -> Vec<Made> {
    let plain = |method: &str, quality: f64| Made::paper().with(json!({ "method": method })).quality(quality);
    let balanced =
        |method: &str, quality: f64| plain(method, quality).with(json!({ "retrieval": "balanced", "ratio": "5:5" }));
    vec![
        plain("fine-tune", 0.0).with(json!({ "retrieval": null, "ratio": null, "memory": 0 })),
        plain("er", 0.2),
        plain("a-gem", 0.05),
        plain("der-pp", 0.25),
        plain("er", 0.22).with(json!({ "retrieval": "aser", "ratio": null, "memory-policy": "aser" })),
        plain("er-ace", 0.5),
        balanced("er-ace", 0.52),
        plain("cls-er", 0.48),
        balanced("cls-er", 0.49),
        plain("pcr", 0.6),
        balanced("pcr", 0.66),
    ]
}

/// Writes some runs and reads them again.
pub fn study(made: impl IntoIterator<Item = Made>) -> (TempDir, Study) {
    let directory = tempfile::tempdir().unwrap();
    for (i, made) in made.into_iter().enumerate() {
        made.write(&directory.path().join(format!("run{i:03}")));
    }
    let study = Study::read(&[directory.path().into()]).unwrap();
    (directory, study)
}

/// The report of some runs.
pub fn report_with(made: impl IntoIterator<Item = Made>, options: Options) -> (TempDir, Report) {
    let (directory, study) = study(made);
    (directory, Report::new(study, options))
}

/// A table of a report.
pub fn table<'a>(report: &'a Report, id: &str) -> &'a Table {
    let mut tables = report.parts.iter().flat_map(|part| &part.tables);
    tables.find(|table| table.id == id).unwrap_or_else(|| panic!("there is no {id}"))
}

/// The labels of the rows of a table.
pub fn rows(table: &Table) -> Vec<&str> {
    table.rows.iter().map(|row| row.label.as_str()).collect()
}

/// A cell of a table.
pub fn cell<'a>(table: &'a Table, row: &str, column: &str) -> &'a Cell {
    let row = table.rows.iter().find(|one| one.label == row).unwrap_or_else(|| panic!("no {row}: {:?}", rows(table)));
    let names = table.column_names();
    let column = names.iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}: {names:?}"));
    &row.cells[column]
}

/// The text of a cell.
pub fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text { text, .. } => text,
        other => panic!("{other:?} is not text"),
    }
}
