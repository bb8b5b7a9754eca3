//! Exports every backbone of the catalogue with a head on photos, and what it predicts, for `scripts/check_export.py`.
//! The weights of those that are fetched are generated.
//!
//!     cargo run --release -p rehearsal-backbone --example export_backbones -- PHOTOS OUT
//!
//! `PHOTOS` has a folder per class. `OUT` gets `NAME.onnx` and `NAME.jsonl`.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use rehearsal_backbone::{BackboneName, Extractor, Limits, Published, export_onnx};
use rehearsal_data::choice::Choice;
use rehearsal_gaussian::{Feature, Head, Sums};
use rehearsal_kernels::Machine;
use serde_json::json;

#[path = "../tests/generated/mod.rs"]
mod generated;

const TEMPERATURE: f64 = 10.0;

fn main() -> Result<(), Box<dyn Error>> {
    let [photos, out] = [1, 2].map(|at| std::env::args().nth(at).map(PathBuf::from));
    let (photos, out) = photos.zip(out).ok_or("give PHOTOS and OUT")?;
    let paths = photo_paths(&photos)?;
    fs::create_dir_all(&out)?;
    for &name in BackboneName::ALL {
        export(name, &paths, &out)?;
    }
    Ok(())
}

/// Each photo with its class.
fn photo_paths(folder: &Path) -> Result<BTreeMap<PathBuf, String>, Box<dyn Error>> {
    let mut paths = BTreeMap::new();
    for class in fs::read_dir(folder)? {
        let class = class?;
        for photo in fs::read_dir(class.path())? {
            paths.insert(photo?.path(), class.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(paths)
}

fn export(name: BackboneName, paths: &BTreeMap<PathBuf, String>, out: &Path) -> Result<(), Box<dyn Error>> {
    let backbone = Published::from_safetensors(name, Machine::new(2), generated::weights(name))?;
    let extractor = Extractor::new(Box::new(backbone), None);
    let photos: Vec<&PathBuf> = paths.keys().collect();
    let features: Vec<Feature> = extractor
        .extract(&photos, &())?
        .into_iter()
        .map(|extracted| extracted.map(|extracted| extracted.feature))
        .collect::<Result<_, _>>()?;
    let mut sums = Sums::new(extractor.backbone().dimensions());
    for (class, feature) in paths.values().zip(&features) {
        sums.add(class, std::slice::from_ref(feature));
    }
    let head = Head::new(&sums);
    export_onnx(extractor.backbone(), &head, Limits::none(TEMPERATURE), &out.join(format!("{name}.onnx")))?;
    let lines: String = photos.iter().zip(&features).map(|(path, feature)| line(&head, path, feature)).collect();
    Ok(fs::write(out.join(format!("{name}.jsonl")), lines)?)
}

/// As `rehearsal predict --json` prints it.
fn line(head: &Head, path: &Path, feature: &Feature) -> String {
    let distances = head.distances(feature);
    let distance = distances.iter().copied().fold(f32::INFINITY, f32::min);
    let probabilities = Head::probabilities(&distances, TEMPERATURE);
    let mut all: Vec<_> = head.names().iter().zip(probabilities).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (class, probability) = &all[0];
    let named = |(class, probability): &(&String, f64)| json!({ "class": class, "probability": probability });
    let others: Vec<_> = all[1..].iter().map(named).collect();
    format!(
        "{}\n",
        json!({ "path": path, "class": class, "probability": probability, "distance": distance, "others": others })
    )
}
