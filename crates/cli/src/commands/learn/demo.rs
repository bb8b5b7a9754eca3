//! `rehearsal learn --demo`: the story of a model, on images inside the program.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result};
use clap::Parser;
use rehearsal_data::{Dataset, Request, Source, Split};
use rehearsal_model::{Event, Features, Forget, Model, write_png};

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

/// The photo that is deleted.
const DELETED: &str = "january/sneaker/007.png";
/// A model, and the flags that make it.
const EXACT: (&str, &[&str]) = ("shop.model", &[]);
const FINE_TUNED: (&str, &[&str]) =
    ("fine-tuned.model", &["--backbone", "scratch", "--method", "fine-tune", "--epochs", "8", "--accept"]);

/// Writes folders of images, learns them in two sessions, then the same by plain fine-tuning, and deletes
/// a photo.
pub fn demo(args: &Learn, asked: &Asked) -> Result<ExitCode> {
    let place = Path::new(PLACE);
    if place.exists() {
        let advice = "remove it to see the demonstration again, or go on with its model";
        return Err(UserError(format!("{PLACE} exists: {advice}, {PLACE}/shop.model")).into());
    }
    write_photos(place).with_context(|| format!("{PLACE} cannot be written"))?;
    let flags = [args.quiet.then_some("--quiet"), args.json.then_some("--json")];
    let flags: Vec<&str> = flags.into_iter().flatten().collect();
    let mut ways = vec![EXACT];
    if cfg!(feature = "training") {
        ways.push(FINE_TUNED);
    }
    for way in &ways {
        if *way == FINE_TUNED {
            message("\nthe same by plain fine-tuning of a network, which forgets:");
        }
        for (session, _) in SESSIONS {
            let ended = learn_again(&flags, asked, *way, session)?;
            if ended != ExitCode::SUCCESS {
                return Ok(ended);
            }
        }
    }
    if flags.is_empty() {
        print(&beside_each_other(&ways)?)?;
    }
    delete_one(args, asked)?;
    message(&format!("\nnow try: rehearsal predict {PLACE}/shop.model {PLACE}/new"));
    message(&format!("         rehearsal show {PLACE}/shop.model"));
    Ok(ExitCode::SUCCESS)
}

/// One session, as a command.
fn learn_again(flags: &[&str], asked: &Asked, (model, more): (&str, &[&str]), session: &str) -> Result<ExitCode> {
    let (model, folder) = (format!("{PLACE}/{model}"), format!("{PLACE}/{session}"));
    let words = [&["rehearsal", "learn", &model, &folder], more].concat();
    message(&format!("$ {}", words.join(" ")));
    let typed = words.iter().chain(flags).copied();
    let Command::Learn(learn) = Args::parse_from(typed).command else { return Ok(ExitCode::SUCCESS) };
    learn_folders(&learn, Path::new(&model), asked)
}

/// How well the first classes are known before and after the second session.
fn beside_each_other(ways: &[(&str, &[&str])]) -> Result<String> {
    let mut rows = vec![["", "before february", "after it"].map(String::from).to_vec()];
    for ((model, _), name) in ways.iter().zip(["rehearsal learn", "plain fine-tuning"]) {
        let last = Model::open(&Path::new(PLACE).join(model))?.history()?.pop();
        let Some(Event::Learned(report)) = last.map(|entry| entry.event) else { continue };
        let scores = report.old.map(|change| [change.before.share(), change.after.share()]).unwrap_or_default();
        let scores = scores.map(|share| percent(share) + " %");
        rows.push([&[name.to_owned()], &scores[..]].concat());
    }
    let lines = columns(&rows, &[false, true, true]).into_iter().map(|line| format!("  {line}\n"));
    Ok(std::iter::once("\nhow well the three classes of january are known:\n".to_owned()).chain(lines).collect())
}

/// Deletes a photo from the model, and compares the head with that of a model that never saw it.
fn delete_one(args: &Learn, asked: &Asked) -> Result<()> {
    message(&format!("\n$ rehearsal memory {PLACE}/shop.model remove {DELETED}"));
    let path = Path::new(PLACE).join(EXACT.0);
    Model::open_to_change(&path)?.forget(&Forget::Source(DELETED.into()), &Features::new())?;
    std::fs::remove_file(Path::new(PLACE).join(DELETED))?;
    for (session, _) in SESSIONS {
        learn_again(&["--quiet"], asked, ("never-seen.model", &[]), session)?;
    }
    let head = |model: &str| -> Result<serde_json::Value> {
        Ok(Model::open(&Path::new(PLACE).join(model))?.current()?.config()["head_sha256"].clone())
    };
    let (deleted, never) = (head(EXACT.0)?, head("never-seen.model")?);
    let same = if deleted == never { "the same bits" } else { "other bits" };
    let shown = |value: &serde_json::Value| value.as_str().unwrap_or_default().chars().take(12).collect::<String>();
    if !args.quiet && !args.json {
        print(&format!("\nafter deleting the photo, the head is    {}\n", shown(&deleted)))?;
        print(&format!("of a model that never saw it, it is      {}: {same}\n", shown(&never)))?;
    }
    Ok(())
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
