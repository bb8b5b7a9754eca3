//! `rehearsal memory sheet`.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result};
use rehearsal::sample::Image;
use rehearsal_data::{DataError, ImageShape, Source, Split, preview, printable};
use rehearsal_model::Model;
use serde_json::json;

use crate::{
    output,
    printer::{Font, print},
    user_error::UserError,
};

/// Draws what a model remembers and prints where.
pub fn sheet(model: &Path, out: &Path, per_class: usize, is_json: bool) -> Result<ExitCode> {
    let version = Model::open(model)?.current()?;
    let known = version.learner.classes();
    let active: Vec<_> = known.active().collect();
    let number = |class| active.iter().position(|active| *active == class).map_or(0, |number| number as u16);
    let stored: Vec<_> = version.memory().collect();
    if stored.is_empty() {
        return Err(UserError("the memory is empty".into()).into());
    }
    let remembered = Remembered {
        shape: version.learner.shape(),
        names: active.iter().map(|class| known.name(*class).to_string()).collect(),
        labels: stored.iter().map(|(class, ..)| number(*class)).collect(),
        images: stored.iter().map(|(_, image, _)| (*image).clone()).collect(),
    };
    // No wider than what there is.
    let most = (0..active.len() as u16).map(|class| remembered.labels.iter().filter(|label| **label == class).count());
    let per_class = per_class.min(most.max().unwrap_or(1));
    let png = preview::sheet_in(&Font, &remembered, Split::Train, per_class)?;
    output::write(out, &png).with_context(|| format!("{} cannot be written", out.display()))?;
    if is_json {
        print(&format!("{}\n", json!({ "sheet": out, "classes": active.len(), "per_class": per_class })))?;
    } else {
        print(&format!("{}\n", printable(&out.to_string_lossy())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A memory as a data set of which a sheet can be drawn.
struct Remembered {
    shape: ImageShape,
    names: Vec<String>,
    labels: Vec<u16>,
    images: Vec<Image>,
}

impl Source for Remembered {
    fn shape(&self) -> ImageShape {
        self.shape
    }
    fn class_names(&self) -> &[String] {
        &self.names
    }
    fn labels(&self, split: Split) -> &[u16] {
        if split == Split::Train { &self.labels } else { &[] }
    }
    fn image(&self, _: Split, index: usize) -> Result<Image, DataError> {
        Ok(self.images[index].clone())
    }
    fn sha256(&self) -> &'static str {
        ""
    }
}
