//! Learns a head from folders of photos, exports it, and predicts other photos, for another program to
//! compare: `scripts/check_export.py` does that with onnxruntime.
//!
//!     cargo run --release -p rehearsal-backbone --example export -- OUT TEMPERATURE TRAIN... -- TEST...
//!
//! `TRAIN` and `TEST` hold one folder per class. `OUT` gets `model.onnx` and `predictions.jsonl`.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use rehearsal_backbone::{EfficientNetLite0, Extractor, export_onnx};
use rehearsal_gaussian::{Feature, Head, Sums};
use rehearsal_kernels::Machine;
use serde_json::json;

type Done<T> = Result<T, Box<dyn Error>>;
/// Classes by name, and their photos.
type Classes = Vec<(String, Vec<PathBuf>)>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.splitn(2, |argument| argument == "--");
    let [out, temperature, train @ ..] = parts.next().unwrap_or_default() else {
        return Err("OUT TEMPERATURE TRAIN... -- TEST...".into());
    };
    let (out, temperature) = (Path::new(out), temperature.parse()?);
    let extractor = Extractor::new(Box::new(EfficientNetLite0::new(Machine::new(1))?), None);
    let mut sums = Sums::new(EfficientNetLite0::features());
    for (class, photos) in classes(train)? {
        sums.add(&class, &features(&extractor, &photos)?);
    }
    let head = Head::new(&sums);
    fs::create_dir_all(out)?;
    export_onnx(extractor.backbone(), &head, temperature, &out.join("model.onnx"))?;
    let mut lines = String::new();
    for (_, photos) in classes(parts.next().unwrap_or_default())? {
        for (photo, feature) in photos.iter().zip(features(&extractor, &photos)?) {
            lines += &line(&head, photo, &feature, temperature);
        }
    }
    fs::write(out.join("predictions.jsonl"), lines)?;
    Ok(())
}

/// As `rehearsal predict --json` prints it.
fn line(head: &Head, photo: &Path, feature: &Feature, temperature: f64) -> String {
    let distances = head.distances(feature);
    let named = head.names().iter().zip(Head::probabilities(&distances, temperature));
    let mut named: Vec<(&String, f64)> = named.collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (class, probability) = named[0];
    let others = named[1..].iter().map(|(class, probability)| json!({"class": class, "probability": probability}));
    let others: Vec<_> = others.collect();
    let distance = distances.iter().copied().fold(f32::INFINITY, f32::min);
    let photo = photo.display().to_string();
    let line =
        json!({"path": photo, "class": class, "probability": probability, "others": others, "distance": distance});
    format!("{line}\n")
}

fn features(extractor: &Extractor, photos: &[PathBuf]) -> Done<Vec<Feature>> {
    let found = extractor.extract(photos, &()).into_iter();
    Ok(found.map(|found| found.map(|photo| photo.feature)).collect::<Result<_, _>>()?)
}

/// The classes in some folders, and their photos.
fn classes(folders: &[String]) -> Done<Classes> {
    let mut classes = Vec::new();
    for folder in folders {
        for class in sorted(Path::new(folder))? {
            let name = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
            classes.push((name, sorted(&class)?));
        }
    }
    Ok(classes)
}

fn sorted(folder: &Path) -> Done<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
