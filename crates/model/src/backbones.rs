//! The backbone of a model, by name and checksum.

use std::path::Path;

use rehearsal_backbone::{BackboneError, BackboneName, Extractor, FEATURES, open as open_published, open_file};
use rehearsal_data::home;
use rehearsal_kernels::Machine;

use crate::{ModelError, exact::BackboneId};

/// Of a new model.
pub const DEFAULT: &str = "efficientnet-lite0";
/// Features and thumbnail of a remembered photo, about.
pub(crate) const BYTES_PER_PHOTO: usize = 6_000;

/// A backbone by its name in the catalogue, or by the path of an ONNX file, with the cache of features
/// in the directory of all data.
///
/// # Errors
/// There is no such backbone, or it is not on this machine.
pub fn open_named(name: &str, threads: usize) -> Result<Extractor, ModelError> {
    let home = home::default_directory();
    let backbone = if is_file(name) {
        open_file(Path::new(name), threads)?
    } else {
        let published: BackboneName = name.parse().map_err(|error| ModelError::Refused(format!("{error}")))?;
        // What is inside the program needs no directory.
        let home = home.as_deref().unwrap_or(Path::new(""));
        open_published(published, home, Machine::new(threads))?
    };
    Ok(Extractor::new(backbone, home.ok().map(|home| home.join(FEATURES)).as_deref()))
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// The backbone of a model.
pub(crate) fn open(id: &BackboneId, threads: usize) -> Result<Extractor, ModelError> {
    let extractor = open_named(&id.name, threads).map_err(|error| match error {
        ModelError::Backbone(BackboneError::File { path, error }) if is_file(&id.name) => {
            ModelError::BackboneFile { path, sha256: id.sha256.clone(), error }
        }
        error => error,
    })?;
    let found = extractor.backbone().sha256();
    if found != id.sha256 {
        let (name, expected, found) = (id.name.clone(), id.sha256.clone(), found.to_owned());
        return Err(ModelError::OtherBackbone { name, expected, found });
    }
    Ok(extractor)
}
