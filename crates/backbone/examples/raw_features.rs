//! The features of photos by EfficientNet-lite0 as the network gives them, little-endian `f32`, for `scripts/check_top1.py`.
//!
//!     cargo run --release -p rehearsal-backbone --example raw_features -- OUT PHOTO...

use std::{env::args_os, error::Error, fs, path::Path};

use rehearsal_backbone::{Backbone, Published};
use rehearsal_data::PhotoFile;
use rehearsal_kernels::Machine;

fn main() -> Result<(), Box<dyn Error>> {
    let backbone = Published::efficientnet_lite0(Machine::new(2))?;
    let out = args_os().nth(1).ok_or("give OUT and PHOTO...")?;
    let mut bytes = Vec::new();
    for path in args_os().skip(2) {
        let image = backbone.preprocessing().decode(&PhotoFile::read(Path::new(&path))?)?;
        bytes.extend(backbone.features(&[image])?.into_iter().flat_map(f32::to_le_bytes));
    }
    Ok(fs::write(out, bytes)?)
}
