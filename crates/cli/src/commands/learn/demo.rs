//! `rehearsal learn --demo`: the story of a model, on images inside the program.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result};
use clap::Parser;
use rehearsal_data::{Dataset, Request, Source, Split};
use rehearsal_model::{Event, Model, write_png};

use super::learn_folders;
use crate::{
    args::{Args, Command, model::Learn},
    interrupt::Asked,
    printer::{columns, message, percent, print},
    user_error::UserError,
};

/// Where it is all written.
const PLACE: &str = "rehearsal-demo";
/// Photos of each class to learn from, and new ones.
const LEARNED: usize = 60;
const NEW: usize = 4;
/// Which classes come when.
const SESSIONS: [(&str, &[&str]); 2] =
    [("january", &["ankle boot", "sandal", "sneaker"]), ("february", &["bag", "dress"])];

/// With a memory and without.
const WAYS: [(&str, [&str; 4]); 2] = [
    ("shop.model", ["--memory", "60", "--epochs", "8"]),
    ("without-memory.model", ["--method", "fine-tune", "--epochs", "8"]),
];

/// Writes folders of images, learns them in two sessions, and the same without a memory.
pub fn demo(args: &Learn, asked: &Asked) -> Result<ExitCode> {
    let place = Path::new(PLACE);
    if place.exists() {
        let advice = "remove it to see the demonstration again, or go on with its model";
        return Err(UserError(format!("{PLACE} exists: {advice}, {PLACE}/shop.model")).into());
    }
    write_photos(place).with_context(|| format!("{PLACE} cannot be written"))?;
    for (model, more) in WAYS {
        if more[0] == "--method" {
            message("\nthe same without a memory, which forgets:");
        }
        for (session, _) in SESSIONS {
            let (model, folder) = (format!("{PLACE}/{model}"), format!("{PLACE}/{session}"));
            let words = [&["rehearsal", "learn", &model, &folder], &more[..]].concat();
            message(&format!("$ {}", words.join(" ")));
            let flags = [args.quiet.then_some("--quiet"), args.json.then_some("--json")];
            let typed = words.iter().copied().chain(flags.into_iter().flatten());
            let Command::Learn(learn) = Args::parse_from(typed).command else { continue };
            let ended = learn_folders(&learn, Path::new(&model), asked)?;
            if ended != ExitCode::SUCCESS {
                return Ok(ended);
            }
        }
    }
    if !args.quiet && !args.json {
        print(&beside_each_other()?)?;
    }
    message(&format!("\nnow try: rehearsal predict {PLACE}/shop.model {PLACE}/new"));
    message(&format!("         rehearsal show {PLACE}/shop.model"));
    Ok(ExitCode::SUCCESS)
}

/// What was left of the first classes after the second session, with a memory and without.
fn beside_each_other() -> Result<String> {
    let mut rows = vec![["", "before february", "after it"].map(String::from).to_vec()];
    for ((model, _), name) in WAYS.iter().zip(["with a memory", "without"]) {
        let last = Model::open(&Path::new(PLACE).join(model))?.history()?.pop();
        let Some(Event::Learned(report)) = last.map(|entry| entry.event) else { continue };
        let scores = report.old.map(|change| [change.before.share(), change.after.share()]).unwrap_or_default();
        let scores = scores.map(|share| percent(share) + " %");
        rows.push([&[name.to_owned()], &scores[..]].concat());
    }
    let lines = columns(&rows, &[false, true, true]).into_iter().map(|line| format!("  {line}\n"));
    Ok(std::iter::once("\nhow well the three classes of january are known:\n".to_owned()).chain(lines).collect())
}

/// `january/CLASS/*.png`, `february/CLASS/*.png`, and images of all of them in `new`.
fn write_photos(place: &Path) -> Result<()> {
    let source = Dataset::Embedded.open(&Request::default())?;
    for (session, classes) in SESSIONS {
        for class in classes {
            write_class(&*source, class, Split::Train, LEARNED, &place.join(session).join(class), "")?;
            write_class(&*source, class, Split::Test, NEW, &place.join("new"), class)?;
        }
    }
    Ok(())
}

fn write_class(source: &dyn Source, class: &str, split: Split, count: usize, into: &Path, name: &str) -> Result<()> {
    std::fs::create_dir_all(into)?;
    let known = source.class_names().iter().position(|known| known == class);
    let number = known.with_context(|| format!("there is no class {class}"))?;
    let labels = source.labels(split).iter().enumerate();
    let shape = source.shape();
    for (i, (index, _)) in labels.filter(|(_, label)| usize::from(**label) == number).take(count).enumerate() {
        let file = if name.is_empty() { format!("{i:03}.png") } else { format!("{name} {i}.png") };
        write_png(&into.join(file), &source.image(split, index)?, shape)?;
    }
    Ok(())
}
