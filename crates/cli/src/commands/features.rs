//! `rehearsal features`.

use std::{fmt::Write, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};
use rehearsal_data::{
    photos::{ScanOptions, find, lines},
    printable,
};
use rehearsal_files::threads::cores;
use rehearsal_model::{Input, InputReader, open_backbone};
use serde_json::json;

use crate::{
    args::model::Features,
    output, photos,
    printer::{message, plural, print},
    user_error::UserError,
};

/// The features of photos, row by row.
struct Table {
    paths: Vec<String>,
    dimensions: usize,
    values: Vec<f32>,
}

/// Writes the features of photos and prints where.
pub fn features(args: &Features) -> Result<ExitCode> {
    let extension = args.out.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["safetensors", "npy"].contains(&extension) {
        let wrong = format!("{} does not end in .safetensors or .npy", args.out.display());
        return Err(UserError(wrong).into());
    }
    let (files, ignored) = find(&args.paths, &ScanOptions { follow_links_outside: args.follow_links })?;
    if !args.quiet {
        lines(&ignored, Path::new("")).iter().for_each(|line| message(&printable(line)));
    }
    if files.is_empty() {
        return Err(UserError("no photos found".into()).into());
    }
    let extractor = open_backbone(&args.backbone, cores())?;
    let (name, sha256) = (extractor.backbone().name().to_owned(), extractor.backbone().sha256().to_owned());
    let dimensions = extractor.backbone().dimensions();
    let reader = InputReader::Features(extractor);
    let seen = photos::with_reader(args.follow_links, args.skip_bad, args.quiet, |with| with.read(&files, &reader))?;
    let mut table = Table { paths: Vec::new(), dimensions, values: Vec::new() };
    for (path, seen) in files.iter().zip(seen) {
        if let Some(Input::Features(feature)) = seen.map(|seen| seen.input) {
            table.paths.push(path.to_string_lossy().into_owned());
            table.values.extend(feature.values());
        }
    }
    write(&table, &args.out, extension, json!({ "backbone": name, "sha256": sha256 }))?;
    if args.json {
        let line = json!({ "features": args.out, "photos": table.paths.len(), "dimensions": dimensions });
        print(&format!("{line}\n"))?;
    } else {
        let photos = plural(table.paths.len(), "photo");
        let text = format!("{}: {photos}, {dimensions} features each", args.out.display());
        print(&format!("{}\n", printable(&text)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(table: &Table, out: &Path, extension: &str, about: serde_json::Value) -> Result<()> {
    let bytes = if extension == "npy" { npy(table) } else { safetensors(table, about)? };
    output::write(out, &bytes).with_context(|| format!("{} cannot be written", out.display()))?;
    if extension == "npy" {
        if table.paths.iter().any(|path| path.contains('\n')) {
            bail!("a path has a line break: write a .safetensors file instead");
        }
        let paths = table.paths.iter().fold(String::new(), |mut text, path| {
            let _ = writeln!(text, "{path}");
            text
        });
        let beside = out.with_extension("txt");
        output::write(&beside, paths.as_bytes()).with_context(|| format!("{} cannot be written", beside.display()))?;
    }
    Ok(())
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The format of `NumPy`, version 1.0.
fn npy(table: &Table) -> Vec<u8> {
    let shape = format!("({}, {})", table.paths.len(), table.dimensions);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let header = format!("{header:<width$}\n", width = padded - 1);
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(bytes(&table.values));
    file
}

fn safetensors(table: &Table, mut about: serde_json::Value) -> Result<Vec<u8>> {
    let values = bytes(&table.values);
    about["paths"] = json!(table.paths).to_string().into();
    let header = json!({
        "__metadata__": about,
        "features": {
            "dtype": "F32",
            "shape": [table.paths.len(), table.dimensions],
            "data_offsets": [0, values.len()],
        },
    });
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(values);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            paths: vec!["a.jpg".into(), "b \"x\".jpg".into()],
            dimensions: 3,
            values: (0..6u8).map(f32::from).collect(),
        }
    }

    #[test]
    fn an_npy_file_is_as_numpy_writes_it() {
        let file = npy(&table());
        let expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        assert!(file.starts_with(b"\x93NUMPY\x01\x00") && String::from_utf8_lossy(&file).contains(expected));
        let header = usize::from(u16::from_le_bytes([file[8], file[9]]));
        assert_eq!(((10 + header) % 64, file.len() - 10 - header, file[9 + header]), (0, 24, b'\n'));
    }

    #[test]
    fn a_safetensors_file_has_its_paths() {
        let file = safetensors(&table(), json!({ "backbone": "x" })).unwrap();
        let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
        let paths: Vec<String> = serde_json::from_str(header["__metadata__"]["paths"].as_str().unwrap()).unwrap();
        assert_eq!((paths, file.len() - 8 - length, length % 8), (table().paths, 24, 0));
    }
}
