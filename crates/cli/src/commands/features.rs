//! `rehearsal features`.

use std::{collections::HashMap, path::Path, process::ExitCode};

use anyhow::{Context, Result};
use rehearsal_data::{
    photos::{ScanOptions, find, lines},
    printable,
};
use rehearsal_files::threads;
use rehearsal_model::{Input, InputReader, open_backbone};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};

use crate::{
    args::features::Features,
    output::{self, with_path},
    photos,
    printer::{message, plural, print},
    user_error::UserError,
};

/// The entry of a safetensors file's metadata.
const ENTRY: &str = "rehearsal-features";

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
    let extractor = open_backbone(&args.backbone, threads::current())?;
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
    let about = json!({ "backbone": name, "sha256": sha256, "paths": table.paths });
    write(&table, &args.out, extension, &about)?;
    if args.json {
        let line = json!({ "photos": table.paths.len(), "dimensions": dimensions });
        print(&format!("{}\n", with_path(line, "features", &args.out)))?;
    } else {
        let photos = plural(table.paths.len(), "photo");
        let text = format!("{}: {photos}, {dimensions} features each", args.out.display());
        print(&format!("{}\n", printable(&text)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(table: &Table, out: &Path, extension: &str, about: &Value) -> Result<()> {
    let put = |path: &Path, bytes: &[u8]| {
        output::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
    };
    if extension == "safetensors" {
        return put(out, &safetensors(table, about)?);
    }
    if table.paths.iter().any(|path| path.contains('\n')) {
        return Err(UserError("a path has a line break: write a .safetensors file instead".into()).into());
    }
    put(out, &npy(table))?;
    put(&out.with_extension("txt"), table.paths.iter().map(|path| format!("{path}\n")).collect::<String>().as_bytes())
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

/// One entry of metadata: the order of several would differ from run to run.
fn safetensors(table: &Table, about: &Value) -> Result<Vec<u8>> {
    let values = bytes(&table.values);
    let features = TensorView::new(Dtype::F32, vec![table.paths.len(), table.dimensions], &values)?;
    let metadata = HashMap::from([(ENTRY.to_owned(), about.to_string())]);
    Ok(safetensors::serialize([("features", features)], Some(metadata))?)
}

#[cfg(test)]
mod tests {
    use safetensors::SafeTensors;

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
        let about = json!({ "paths": table().paths });
        let file = safetensors(&table(), &about).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
        let kept = metadata.metadata().as_ref().unwrap()[ENTRY].clone();
        assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), about);
        let tensors = SafeTensors::deserialize(&file).unwrap();
        let features = tensors.tensor("features").unwrap();
        assert_eq!((features.shape(), features.data()), (&[2, 3][..], &bytes(&table().values)[..]));
    }
}
