//! `rehearsal export`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_model::{Model, ModelError};

use super::predict::version;
use crate::{args::model::Export, printer::print, user_error::exit_code};

/// Writes a model for other programs and prints where.
pub fn export(args: &Export) -> Result<ExitCode> {
    exit_code(write(args))
}

fn write(args: &Export) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let learner = version(&model, &args.which)?.learner;
    if let Some(path) = &args.onnx {
        learner.export_onnx(path).map_err(ModelError::from)?;
        print(&format!("{}\n", path.display()))?;
    }
    if let Some(path) = &args.safetensors {
        learner.export_safetensors(path).map_err(ModelError::from)?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
