//! `rehearsal memory sheet`.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result};
use rehearsal_data::{InMemory, Split, preview, printable};
use rehearsal_model::Model;
use serde_json::json;

use crate::{
    output::{self, with_path},
    printer::{draw_text, print},
    user_error::UserError,
};

/// Draws what a model remembers and prints where.
pub fn sheet(model: &Path, out: &Path, per_class: usize, is_json: bool) -> Result<ExitCode> {
    let (_, version) = Model::open_version(model, None)?;
    let active = version.classes();
    let number = |class| active.iter().position(|active| active == class).map_or(0, |number| number as u16);
    let stored = version.memory();
    if stored.is_empty() {
        return Err(UserError("the memory is empty".into()).into());
    }
    let labels: Vec<u16> = stored.iter().map(|(class, ..)| number(class)).collect();
    let most = (0..active.len() as u16).map(|class| labels.iter().filter(|label| **label == class).count());
    // Not wider than the longest row.
    let per_class = per_class.min(most.max().unwrap_or(1));
    let remembered = InMemory {
        shape: stored[0].1.pixels().1,
        class_names: active.iter().map(ToString::to_string).collect(),
        labels: [labels, Vec::new()],
        images: [stored.iter().map(|(_, picture, _)| picture.pixels().0).collect(), Vec::new()],
        sha256: String::new(),
    };
    let png = preview::sheet(&remembered, Split::Train, per_class, &draw_text)?;
    output::write(out, &png).with_context(|| format!("{} cannot be written", out.display()))?;
    if is_json {
        let line = json!({ "classes": active.len(), "per_class": per_class });
        print(&format!("{}\n", with_path(line, "sheet", out)))?;
    } else {
        print(&format!("{}\n", printable(&out.to_string_lossy())))?;
    }
    Ok(ExitCode::SUCCESS)
}
