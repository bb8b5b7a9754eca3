//! `rehearsal export`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::Model;
use serde_json::json;

use super::predict::version;
use crate::{args::model::Export, printer::print};

/// Writes a model for other programs and prints where.
pub fn export(args: &Export) -> Result<ExitCode> {
    write(args)
}

fn write(args: &Export) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let version = version(&model, &args.which)?;
    if let Some(path) = &args.onnx {
        version.export_onnx(path)?;
    }
    if let Some(path) = &args.safetensors {
        version.export_safetensors(path)?;
    }
    if args.json {
        print(&format!("{}\n", json!({ "onnx": args.onnx, "safetensors": args.safetensors })))?;
    } else {
        let written = [&args.onnx, &args.safetensors].into_iter().flatten();
        print(&written.map(|path| printable(&path.to_string_lossy()) + "\n").collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}
