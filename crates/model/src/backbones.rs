//! The backbone of a model, by name and checksum.

use rehearsal_backbone::{Backbone, EfficientNetLite0, Extractor};
use rehearsal_data::home;
use rehearsal_kernels::Machine;

use crate::{ModelError, exact::BackboneId};

/// Of a new model.
pub const DEFAULT: &str = "efficientnet-lite0";
/// Features and thumbnail of a remembered photo, about.
pub(crate) const BYTES_PER_PHOTO: usize = 6_000;
/// Below the directory of all data.
const CACHE: &str = "features";

/// Which backbone that is.
pub(crate) fn id_of(backbone: &dyn Backbone) -> BackboneId {
    BackboneId {
        name: backbone.name().into(),
        sha256: backbone.sha256().into(),
        size: backbone.preprocessing().shape.height,
    }
}

/// A backbone by name, with the cache of features in the directory of all data.
///
/// # Errors
/// There is no such backbone, or it is not on this machine.
pub fn open_named(name: &str, threads: usize) -> Result<Extractor, ModelError> {
    if name != DEFAULT {
        return Err(ModelError::Refused(format!("there is no backbone `{name}`: choose {DEFAULT} or scratch")));
    }
    let cache = home::default_directory().ok().map(|home| home.join(CACHE));
    let backbone = EfficientNetLite0::new(Machine::new(threads))?;
    Ok(Extractor::new(Box::new(backbone), cache.as_deref()))
}

/// The backbone of a model.
pub(crate) fn open(id: &BackboneId, threads: usize) -> Result<Extractor, ModelError> {
    let extractor = open_named(&id.name, threads)?;
    let found = extractor.backbone().sha256();
    if found != id.sha256 {
        let (name, expected, found) = (id.name.clone(), id.sha256.clone(), found.to_owned());
        return Err(ModelError::OtherBackbone { name, expected, found });
    }
    Ok(extractor)
}
