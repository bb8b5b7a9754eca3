//! `rehearsal export`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use serde_json::json;

use super::predict::open;
use crate::{args::model::Export, output::with_path, printer::print};

/// Writes a model for other programs and prints where.
pub fn export(args: &Export) -> Result<ExitCode> {
    write(args)
}

fn write(args: &Export) -> Result<ExitCode> {
    let (_, version) = open(&args.model, &args.which, &[])?;
    if let Some(path) = &args.onnx {
        version.export_onnx(path)?;
    }
    if let Some(path) = &args.safetensors {
        version.export_safetensors(path)?;
    }
    if args.json {
        let paths = [("onnx", &args.onnx), ("safetensors", &args.safetensors)];
        let named = paths.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
        let none = json!({ "onnx": null, "safetensors": null });
        print(&format!("{}\n", named.fold(none, |line, (name, path)| with_path(line, name, path))))?;
    } else {
        let written = [&args.onnx, &args.safetensors].into_iter().flatten();
        print(&written.map(|path| printable(&path.to_string_lossy()) + "\n").collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}
