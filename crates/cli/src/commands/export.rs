//! `rehearsal export`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::{Model, ModelError};
use serde_json::json;

use super::predict::version;
use crate::{args::model::Export, printer::print};

/// Writes a model for other programs and prints where.
pub fn export(args: &Export) -> Result<ExitCode> {
    write(args)
}

fn write(args: &Export) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let learner = version(&model, &args.which)?.learner;
    if let Some(path) = &args.onnx {
        learner.export_onnx(path).map_err(ModelError::from)?;
    }
    if let Some(path) = &args.safetensors {
        learner.export_safetensors(path).map_err(ModelError::from)?;
    }
    if args.json {
        print(&format!("{}\n", json!({ "onnx": args.onnx, "safetensors": args.safetensors })))?;
    } else {
        let written = [&args.onnx, &args.safetensors].into_iter().flatten();
        print(&written.map(|path| printable(&path.to_string_lossy()) + "\n").collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}
