//! `rehearsal data list`.

use std::{fs, path::Path, process::ExitCode};

use anyhow::Result;
use rehearsal_data::{
    Dataset,
    catalogue::{State, card, state},
    choice::Choice,
    home,
};
use serde_json::json;

use crate::{
    args::data::List,
    output::with_path,
    printer::{bytes, print},
};

/// Prints every data set.
pub fn list(args: &List) -> Result<ExitCode> {
    let home = home::directory(args.data.as_deref())?;
    let mut rows = Vec::new();
    let mut text = format!(
        "{:<14}{:>8}{:>9}{:>9}{:>7}{:>10}  {:<24}{}\n",
        "name", "classes", "train", "test", "size", "on disk", "state", "terms"
    );
    for &dataset in Dataset::ALL {
        let card = card(dataset);
        let (state, found) = state(dataset, &home);
        let own = home.join(dataset.name());
        let disk = if own.is_dir() { size(&own) } else { found.iter().map(|path| size(path)).sum() };
        let number = |number: Option<usize>| number.map_or_else(|| "any".into(), |number| number.to_string());
        let is_yours = dataset == Dataset::Folder;
        text += &format!(
            "{:<14}{:>8}{:>9}{:>9}{:>7}{:>10}  {:<24}{}\n",
            dataset.name(),
            number(card.classes),
            number(card.images.map(|images| images.0)),
            number(card.images.map(|images| images.1)),
            card.size,
            if disk == 0 { "-".into() } else { bytes(disk) },
            if is_yours { "yours".into() } else { state.to_string() },
            card.terms
        );
        rows.push(json!({
            "name": dataset.name(),
            "classes": card.classes,
            "train": card.images.map(|images| images.0),
            "test": card.images.map(|images| images.1),
            "size": card.size,
            "bytes_on_disk": disk,
            "state": if is_yours { "yours" } else { state.name() },
            "incomplete": if let State::Incomplete(part) = state { json!(part) } else { json!(null) },
            "terms": card.terms,
            "about": card.about,
            "archives": card.archives.iter().map(|archive| json!({"file": archive.file, "url": archive.url()})).collect::<Vec<_>>(),
        }));
    }
    if args.json {
        text = format!("{}\n", with_path(json!({ "datasets": rows }), "home", &home));
    } else {
        text += &format!("\ndata directory: {}\n", home.display());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes of all files below a directory. Files that cannot be read count nothing, and links are not
/// followed.
fn size(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(file) if file.is_dir() => {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
        }
        Ok(file) if file.is_file() => file.len(),
        _ => 0,
    }
}
