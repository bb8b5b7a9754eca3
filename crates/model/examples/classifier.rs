//! A classifier of photos without a directory of versions: learns the photos `FOLDER/CLASS/*` and writes a file.
//! `scripts/compare_python.py` compares it with what Python and the command line write.
//!
//!     cargo run --release -p rehearsal-model --example classifier -- FOLDER FILE

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use rehearsal_model::{BackboneId, Labelled, PhotoClassifier, open_backbone};

const BACKBONE: &str = "efficientnet-lite0";

fn main() -> Result<(), Box<dyn Error>> {
    let [folder, file] = &env::args_os().skip(1).map(PathBuf::from).collect::<Vec<_>>()[..] else {
        return Err("expected a folder and a file".into());
    };
    let extractor = open_backbone(BACKBONE, 2)?;
    let backbone = BackboneId::of(BACKBONE, extractor.backbone());
    let mut classifier = PhotoClassifier::new(backbone, extractor.backbone().dimensions());
    for class in entries(folder)? {
        let name = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let paths = entries(&class)?;
        let photos = extractor.extract(&paths, &())?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let labelled = paths.iter().zip(photos).map(|(path, photo)| {
            let source = path.display().to_string();
            Labelled { class: name.clone(), source, photo }
        });
        classifier.learn(labelled)?;
    }
    Ok(classifier.save(file)?)
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}
