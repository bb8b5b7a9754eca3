//! `rehearsal class`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_files::path_text::quoted;
use rehearsal_model::Model;
use serde_json::json;

use crate::{
    args::model::{Class, ClassVerb},
    photos,
    printer::{message, print},
};

/// Renames a class, or retires it.
pub fn class(args: &Class) -> Result<ExitCode> {
    change(args)
}

fn change(args: &Class) -> Result<ExitCode> {
    let mut model = Model::open_to_change(&args.model)?;
    let (version, what, is_json) = match &args.verb {
        ClassVerb::Rename { from, to, json } => (model.rename_class(from, to)?, format!("{from} is now {to}"), json),
        ClassVerb::Merge { from, to, json } => {
            (model.merge_classes(from, to)?, format!("{from} is merged into {to}"), json)
        }
        ClassVerb::Retire { name, photos, json } => {
            let given = photos::given(&model, photos.as_deref())?;
            (model.retire_class(name, &given)?, format!("{name} is retired: never predicted"), json)
        }
    };
    if *is_json {
        print(&format!("{}\n", json!({ "version": version })))?;
    } else {
        print(&format!("version {version}: {}\n", printable(&what)))?;
        if let ClassVerb::Retire { name, .. } = &args.verb {
            let remove = format!("rehearsal memory {} remove --class {}", quoted(&args.model), quoted(name));
            message("its images left memory and holdout set; older versions keep them until");
            message(&printable(&format!("  {remove}")));
        }
    }
    Ok(ExitCode::SUCCESS)
}
