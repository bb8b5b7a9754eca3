//! Checkpoints that were changed and sealed again, so that their checksum is right: whatever they
//! claim is checked before it is believed, and nothing panics or fills memory.

use std::path::{Path, PathBuf};

use rehearsal::{
    Learner,
    config::PartialConfig,
    experiment::{Experiment, Outcome},
    sample::Image,
};
use rehearsal_runs::RunDirectory;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stop_after::StopAfter;

/// A run that was stopped in its first task, after nine of twelve steps.
fn stopped(place: &Path) -> PathBuf {
    let settings = "backbone = 'tiny'\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 20\n\
                    epochs = 2\nwidth = 4\nmemory = 25\ncandidates = 12";
    let path = place.join("run");
    let experiment = Experiment::new(&PartialConfig::parse(settings).unwrap(), Some(&path)).unwrap();
    assert!(matches!(experiment.run(&mut StopAfter(9)).unwrap(), Outcome::Stopped));
    path
}

/// The header of a model, and the table that it stands in.
struct Opened {
    table: Value,
    header: Value,
    data: Vec<u8>,
}

impl Opened {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let table: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let header = serde_json::from_str(table["__metadata__"]["rehearsal"].as_str().unwrap()).unwrap();
        Self { table, header, data: bytes[8 + length..].to_vec() }
    }

    /// Every number of the arrays whose names contain `name` becomes `value`.
    fn set(&mut self, name: &str, value: f32) {
        for (_, info) in self.table.as_object().unwrap().iter().filter(|(array, _)| array.contains(name)) {
            let [from, to] = [0, 1].map(|end| info["data_offsets"][end].as_u64().unwrap() as usize);
            self.data[from..to].chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&value.to_le_bytes()));
        }
    }

    /// Writes it with the checksum of what it says now.
    fn write(&self, path: &Path) {
        let mut header = self.header.clone();
        header.as_object_mut().unwrap().remove("sha256");
        let rest = header.to_string();
        let sealed = |sum: &str| {
            let mut table = self.table.clone();
            table["__metadata__"]["rehearsal"] = json!(format!("{{\"sha256\":\"{sum}\",{}", &rest[1..]));
            let mut json = table.to_string().into_bytes();
            json.resize(json.len().next_multiple_of(8), b' ');
            [&(json.len() as u64).to_le_bytes(), &json[..], &self.data].concat()
        };
        let sum: String = Sha256::digest(sealed(&"0".repeat(64))).iter().map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(path, sealed(&sum)).unwrap();
    }
}

#[test]
fn what_a_resealed_header_claims_is_checked() {
    let place = tempfile::tempdir().unwrap();
    let path = stopped(place.path());
    let file = RunDirectory::checkpoint_path(&path);
    let whole = Opened::read(&file);
    whole.write(&file);
    assert!(Experiment::resume(&path, |_| {}).is_ok(), "sealed again without a change");
    let most = json!(u64::MAX);
    for (place, value) in [
        ("/position/epoch", most.clone()),
        ("/position/batch", most.clone()),
        ("/position/task", most.clone()),
        ("/position/steps", most.clone()),
        ("/position/epoch", json!(u64::MAX / 6)),
        ("/position", json!({"task": 0, "epoch": 2, "batch": 0, "steps": 9})),
        ("/position", json!({"task": 1, "epoch": 1, "batch": 0, "steps": 18})),
        ("/position", json!({"task": 2, "epoch": 0, "batch": 0, "steps": 24})),
        ("/seen", json!(4)),
        ("/seen", most.clone()),
        ("/image/height", most.clone()),
        ("/image", json!({"height": 1u64 << 32, "width": 1u64 << 32, "channels": 3})),
        ("/image", json!({"height": 14, "width": 56, "channels": 1})),
        ("/image", json!({"height": 0, "width": 28, "channels": 1})),
        ("/config/width", json!(4096)),
        ("/config/width", most.clone()),
        ("/config/lr", json!(0.2)),
        ("/config/epochs", most.clone()),
        ("/config/batch", most.clone()),
        ("/config/candidates", json!(999_999_999)),
        ("/config/memory", most.clone()),
        ("/config/backbone", json!("resnet18")),
        ("/config/method", json!("er")),
        ("/memory/capacity", most.clone()),
        ("/memory/presented_by_class", json!([u64::MAX, u64::MAX])),
        ("/memory/presented_by_class", json!([])),
        ("/classes", json!(["a", "b", "c", "d"])),
        ("/run", json!(null)),
        ("/run/settings/lr", json!(0.2)),
        ("/run/data_sha256", json!("0".repeat(64))),
        ("/run/progress/log/length", most.clone()),
        ("/run/progress/log/length", json!(0)),
        ("/run/progress/matrix", json!([[0.5]])),
    ] {
        let mut edited = Opened { table: whole.table.clone(), header: whole.header.clone(), data: whole.data.clone() };
        *edited.header.pointer_mut(place).unwrap() = value.clone();
        edited.write(&file);
        let error = Experiment::resume(&path, |_| {}).err().unwrap_or_else(|| panic!("{place} = {value} was believed"));
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        // It is a model, too, which has no run to be compared with: no panic is all that is asked.
        drop(Learner::load(&file));
    }
    whole.write(&file);
    assert!(matches!(Experiment::resume(&path, |_| {}).unwrap().run(&mut ()), Ok(Outcome::Finished(..))));
}

/// A saved model stands alone, and nothing else says what it should be: what cannot be is refused.
#[test]
fn a_resealed_model_predicts_with_numbers_and_classes_that_can_be() {
    let place = tempfile::tempdir().unwrap();
    let mut learner = Learner::builder().size(8).width(4).memory(30).build().unwrap();
    let images: Vec<Image> = (0..40u8).map(|i| vec![i; 8 * 8 * 3].into()).collect();
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b"][i % 2]).collect();
    learner.learn_task(&images, &labels).unwrap();
    learner.recalibrate();
    assert!(learner.is_finite());
    let file = place.path().join("model.safetensors");
    learner.save(&file).unwrap();
    let whole = Opened::read(&file);
    let copy = || Opened { table: whole.table.clone(), header: whole.header.clone(), data: whole.data.clone() };
    let refused = |edited: &Opened, what: &str| {
        edited.write(&file);
        let error = Learner::load(&file).err().unwrap_or_else(|| panic!("{what} was believed")).to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    whole.write(&file);
    assert!(Learner::load(&file).is_ok(), "sealed again without a change");
    for (name, value) in [
        ("network.backbone.stem.weight", f32::NAN),
        ("network.head.", f32::INFINITY),
        ("network.backbone.stem.running_variance", -1.0),
        ("calibration.backbone.stem.running_variance", -1.0),
        ("calibration.backbone.stem.running_mean", f32::NAN),
    ] {
        let mut edited = copy();
        edited.set(name, value);
        assert!(edited.data != whole.data, "there is {name}");
        refused(&edited, &format!("{name} = {value}"));
    }
    for (place, value) in [
        ("/classes", json!(["a", "a"])),
        ("/head", json!({"kind": "linear"})),
        ("/head/temperature", json!(0.5)),
        ("/predictor", json!("method.stable.")),
        ("/preprocessing/std", json!([127.0, 127.0, 127.0])),
    ] {
        let mut edited = copy();
        *edited.header.pointer_mut(place).unwrap() = value.clone();
        refused(&edited, &format!("{place} = {value}"));
    }
    let mut edited = copy();
    edited.header["retired"] = json!([7]);
    refused(&edited, "a retired class that never was");
}

#[test]
fn a_log_that_was_cut_or_edited_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = stopped(place.path());
    let file = path.join("steps.jsonl");
    let log = std::fs::read_to_string(&file).unwrap();
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let error = Experiment::resume(&path, |_| {}).err().unwrap().to_string();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "it is left alone");
        error
    };
    assert!(refused(&log[..log.len() - 1]).contains("it cannot be resumed"));
    assert!(refused("").contains("it cannot be resumed"));
    assert!(refused(&log.replacen("\"step\":1", "\"step\":7", 1)).contains("is not as it was"));
    std::fs::write(&file, format!("{log}{{\"half a li")).unwrap();
    assert!(Experiment::resume(&path, |_| {}).is_ok(), "what came after the checkpoint is cut off");
}
