//! `rehearsal use`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_model::{Model, Score};
use serde_json::json;

use crate::{
    args::model::Use,
    printer::{self, print, score_text},
};

/// Makes a version the current one.
pub fn select(args: &Use) -> Result<ExitCode> {
    select_version(args)
}

fn select_version(args: &Use) -> Result<ExitCode> {
    let mut model = Model::open_to_change(&args.model)?;
    let before = model.settings().current;
    let version = model.select(args.version)?;
    let classes = version.classes().len();
    if args.json {
        print(&format!("{}\n", json!({ "version": args.version, "before": before, "classes": classes })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let holdout = Score::of(&version.holdout_answers()?);
    print(&format!("version {}: {}, {}\n", args.version, printer::classes(classes), score_text(holdout)))?;
    Ok(ExitCode::SUCCESS)
}
