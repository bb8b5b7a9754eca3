//! `rehearsal learn --backbone scratch`: a network that is trained by gradients.

use std::{ops::ControlFlow, path::PathBuf, time::Duration};

use anyhow::Result;
use rehearsal::{
    config::PartialConfig,
    observer::{Observer, StepEvent},
};
use rehearsal_data::printable;
use rehearsal_model::{InputReader, LearnObserver, Model, ModelError, Notice, Outcome, Session};

use super::options;
use crate::{
    args::model::Learn,
    commands::run::read_file,
    hints::unmovable,
    interrupt::Asked,
    photos,
    printer::{LearningBar, message},
    user_error::UserError,
};

/// The name of this way to learn.
const SCRATCH: &str = "scratch";

/// The settings given for training; flags override the file.
pub fn settings(args: &Learn) -> Result<PartialConfig> {
    let file = args.how.settings.as_deref().map_or_else(|| Ok(PartialConfig::default()), read_file)?;
    let settings = file.overridden_by(&args.how.flags.settings()?);
    check(&settings)?;
    Ok(settings)
}

/// Refuses numbers out of range before a photo is read.
fn check(settings: &PartialConfig) -> Result<()> {
    let ranges = [
        ("epochs", settings.epochs, 1..=1_000_000),
        ("size", settings.size, 8..=1024),
        ("threads", settings.threads, 1..=1024),
    ];
    let wrong = ranges.into_iter().find_map(|(name, value, range)| {
        let value = value.filter(|value| !range.contains(value))?;
        Some(format!("`{name}` is {value}, not between {} and {}", range.start(), range.end()))
    });
    wrong.map_or(Ok(()), |wrong| Err(UserError(wrong).into()))
}

/// Whether the model is trained from scratch: as the existing one is, else as asked. A file of settings
/// that names a network asks for it.
pub fn is_chosen(args: &Learn, model: &Model, settings: &PartialConfig) -> Result<bool> {
    let asked = args.backbone.as_deref() == Some(SCRATCH);
    let is_scratch = if model.is_empty() {
        asked || args.backbone.is_none() && (settings.backbone.is_some() || settings.custom_backbone.is_some())
    } else {
        let is_scratch = !model.is_exact()?;
        if args.backbone.is_some() && asked != is_scratch && (asked || is_scratch) {
            let is = if is_scratch { "trained from scratch" } else { "made with a pre-trained backbone" };
            return Err(UserError(format!("this model is {is}, which cannot change: leave out `--backbone`")).into());
        }
        is_scratch
    };
    let given = serde_json::to_value(settings)?;
    let given = given.as_object().into_iter().flatten().find(|(name, value)| !value.is_null() && *name != "threads");
    match given.filter(|_| !is_scratch) {
        Some((name, _)) if model.is_empty() => Err(UserError(format!(
            "`{name}` is a setting of training from scratch: add `--backbone scratch`, or leave it out"
        ))
        .into()),
        Some((name, _)) => {
            let why = "this model has a pre-trained backbone and is not trained";
            Err(UserError(format!("`{name}` is a setting of training from scratch: leave it out, {why}")).into())
        }
        None => Ok(is_scratch),
    }
}

/// Trains a network.
pub fn learn(args: &Learn, model: &mut Model, mut settings: PartialConfig, asked: &Asked) -> Result<Outcome> {
    if args.holdout.is_some() {
        return Err(UserError("`--holdout` is for models with a pre-trained backbone: leave it out".into()).into());
    }
    if args.relabel {
        return Err(UserError(format!("`--relabel` is not possible here: {}", unmovable(model.path()))).into());
    }
    let size = settings.size.take();
    let session = if args.again {
        again(model)?
    } else {
        photos::with_reader(args.follow_links, args.skip_bad, args.quiet, |reader| {
            reader.session(model, &args.folders, size, options(args))
        })?
    };
    let path = model.path().to_path_buf();
    let mut display = Display { bar: LearningBar::new(args.quiet), asked: asked.clone(), quiet: args.quiet, path };
    let session = Session {
        settings,
        options: options(args),
        recalibrate: !args.how.no_recalibration,
        checkpoint_every: Duration::try_from_secs_f64(args.how.checkpoint_every).unwrap_or_default(),
        ..session
    };
    let outcome = model.learn(session, &mut display);
    display.bar.end();
    Ok(outcome?)
}

/// A session on what the model remembers.
fn again(model: &Model) -> Result<Session> {
    match model.current()?.reader()? {
        InputReader::Pixels(shape) => Ok(Session::again(shape)),
        InputReader::Features(_) => Err(ModelError::LearnedExactly.into()),
    }
}

/// Shows the progress, and stops when asked to.
struct Display {
    bar: LearningBar,
    asked: Asked,
    quiet: bool,
    /// The model.
    path: PathBuf,
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
        if let Notice::AnotherClass { .. } = notice {
            message(&printable(&format!("hint: {}", unmovable(&self.path))));
        }
    }
}
