//! `rehearsal learn`.

mod demo;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Result, anyhow};
use rehearsal::{
    config::PartialConfig,
    learner::Defaults,
    observer::{Observer, StepEvent},
};
use rehearsal_data::printable;
use rehearsal_model::{LearnObserver, Model, ModelError, Notice, Outcome, Photo, Report, Session, Version};

use crate::{
    args::{learning::How, model::Learn},
    commands::run::read_file,
    exit_code,
    interrupt::Asked,
    photos,
    printer::{self, LearningBar, message, plural, print, session_text},
    user_error::{UserError, model_first},
};

/// Learns from folders and prints the result.
pub fn learn(args: &Learn) -> Result<ExitCode> {
    let asked = Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?;
    match &args.model {
        Some(model) => learn_folders(args, model, &asked),
        None => demo::demo(args, &asked),
    }
}

fn learn_folders(args: &Learn, path: &Path, asked: &Asked) -> Result<ExitCode> {
    let mut settings = settings(&args.how)?;
    check(args, &settings)?;
    let mut model = model_first(Model::open_or_create(path), &args.folders)?;
    if let Some(threads) = settings.threads {
        model = model.on_threads(threads);
    }
    let photos = read(args, &model, settings.size.take())?;
    let mut display = Display { bar: LearningBar::new(args.quiet), asked: asked.clone(), quiet: args.quiet };
    let session = Session {
        photos,
        settings,
        memory: args.memory,
        holdout_per_class: args.holdout_per_class,
        keep: args.keep.map(|keep| keep as usize),
        max_forgetting: args.max_forgetting,
        recalibrate: !args.how.no_recalibration,
        checkpoint_every: Duration::try_from_secs_f64(args.how.checkpoint_every).unwrap_or_default(),
    };
    let outcome = model.learn(session, &mut display);
    display.bar.end();
    match outcome? {
        Outcome::Learned(report) => show(args, path, &report),
        Outcome::NothingNew { images } => {
            if args.json {
                print(&format!("{}\n", serde_json::json!({ "version": null, "seen_before": images })))?;
            } else if !args.quiet {
                let used = model.settings().current;
                message(&format!("nothing new to learn in {}: version {used} stays current", plural(images, "image")));
            }
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped => {
            message("stopped: the model is unchanged, and the same command continues from here");
            Ok(exit_code::STOPPED.into())
        }
    }
}

fn show(args: &Learn, path: &Path, report: &Report) -> Result<ExitCode> {
    if args.json {
        print(&format!("{}\n", serde_json::to_string(report)?))?;
    } else if !args.quiet {
        print(&printable_lines(&session_text(path, report)))?;
    }
    Ok(if report.accepted { exit_code::DONE } else { exit_code::REJECTED }.into())
}

/// Refuses numbers out of range before a photo is read.
fn check(args: &Learn, settings: &PartialConfig) -> Result<()> {
    let ranges = [
        ("epochs", settings.epochs, 1..=1_000_000),
        ("size", settings.size, 8..=1024),
        ("threads", settings.threads, 1..=1024),
    ];
    let wrong = ranges.into_iter().find_map(|(name, value, range)| {
        let value = value.filter(|value| !range.contains(value))?;
        Some(format!("`{name}` is {value}, not between {} and {}", range.start(), range.end()))
    });
    let points = args.max_forgetting.filter(|points| !(0.0..=100.0).contains(points));
    let wrong =
        wrong.or_else(|| Some(format!("`--max-forgetting` is {}, not between 0 and 100 percentage points", points?)));
    wrong.map_or(Ok(()), |wrong| Err(UserError(wrong).into()))
}

/// Every line made safe to print.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// The settings given for training; flags override the file.
fn settings(how: &How) -> Result<PartialConfig> {
    let file = how.settings.as_deref().map_or_else(|| Ok(PartialConfig::default()), read_file)?;
    Ok(file.overridden_by(&how.flags.settings()?))
}

/// The photos of all folders, of the model's size.
fn read(args: &Learn, model: &Model, size: Option<usize>) -> Result<Vec<Photo>> {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for folder in &args.folders {
        let scanned = photos::scan(folder, photos::For::Learning, args.follow_links, args.quiet)?;
        found.extend(scanned.photos.into_iter().map(|photo| (photo.path, photo.class)));
    }
    if found.is_empty() {
        return Err(ModelError::NoImages.into());
    }
    let current = if model.is_empty() { None } else { Some(model.current()?) };
    let size = size_of(size, current.as_ref(), &found)?;
    let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
    let images = photos::read(&paths, photos::square(size), args.skip_bad, args.quiet)?;
    let photos: Vec<Photo> = found
        .into_iter()
        .zip(images)
        .filter_map(|((path, class), image)| Some(Photo { class, source: path.display().to_string(), image: image? }))
        .collect();
    if !args.quiet {
        let mut classes: Vec<&str> = photos.iter().map(|photo| photo.class.as_str()).collect();
        classes.sort_unstable();
        classes.dedup();
        let read = format!("read {} of {}", plural(photos.len(), "image"), printer::classes(classes.len()));
        message(&format!("{read}, {size}×{size}"));
        say_lonely(&photos, &classes);
        let known = current.iter().flat_map(|version| version.learner.classes().names());
        alike(&classes, &known.map(|name| &**name).collect::<Vec<_>>()).iter().for_each(|line| message(line));
    }
    Ok(photos)
}

/// Names classes of one image: too little to learn and to ask.
fn say_lonely(photos: &[Photo], classes: &[&str]) {
    for class in classes {
        if photos.iter().filter(|photo| photo.class == *class).count() == 1 {
            message(&printable(&format!("class {class} has only one image: add more")));
        }
    }
}

/// A sentence for each new class whose name is another's but for capitals and spaces.
fn alike(classes: &[&str], known: &[&str]) -> Vec<String> {
    let plain = |name: &str| name.split_whitespace().collect::<String>().to_lowercase();
    let mut others: Vec<(String, &str)> = known.iter().map(|name| (plain(name), *name)).collect();
    let mut lines = Vec::new();
    for class in classes.iter().filter(|class| !known.contains(class)) {
        let name = plain(class);
        if let Some((_, other)) = others.iter().find(|(other, _)| *other == name) {
            lines.push(format!("`{other}` and `{class}` are two classes: they differ in capitals or spaces only"));
        }
        others.push((name, class));
    }
    lines
}

/// Height and width: the model's, else as asked, else as fits the photos.
fn size_of(asked: Option<usize>, current: Option<&Version>, found: &[(PathBuf, String)]) -> Result<usize> {
    if let Some(version) = current {
        let is = version.learner.shape().height;
        return match asked.filter(|asked| *asked != is) {
            Some(asked) => Err(anyhow!(UserError(format!(
                "`--size` is {is} in this model and cannot become {asked}: leave it out, or make another model"
            )))),
            None => Ok(is),
        };
    }
    let side = || photos::short_side(found.iter().map(|(path, _)| path.as_path()));
    Ok(asked.or_else(|| side().map(Defaults::size)).unwrap_or(Defaults::size(usize::MAX)))
}

/// Shows the progress, and stops when asked to.
struct Display {
    bar: LearningBar,
    asked: Asked,
    quiet: bool,
}

impl Observer for Display {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        self.bar.step(event);
        if self.asked.to_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl LearnObserver for Display {
    fn notice(&mut self, notice: &Notice) {
        if !self.quiet {
            message(&printable(&notice.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn names_that_differ_in_capitals_or_spaces_only_are_said() {
        let expected = ["`boots` and `Boots` are two classes: they differ in capitals or spaces only"];
        assert_eq!(alike(&["Boots", "clogs"], &["boots", "mules"]), expected);
        assert_eq!(alike(&["boots", "clogs", "Boots"], &[]), expected);
        assert_eq!(alike(&["Boots", "boots"], &["boots", "Boots"]), Vec::<String>::new(), "known, and said before");
    }
}
