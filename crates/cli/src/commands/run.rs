//! `rehearsal run`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow};
use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, ExperimentError, Outcome, open_data},
};
use rehearsal_files::path_text::quoted;
use rehearsal_files::regular;
use rehearsal_runs::{DirectoryError, Record, RunDirectory};

use crate::{
    args::Run,
    commands::watch::OfRun,
    exit_code,
    flags::{as_flags, with_flags},
    interrupt::{Asked, Interrupt},
    printer::{self, Bar, Progress, message, print},
    user_error::UserError,
};

/// The largest experiment file that is read, in bytes: it names thousands of classes at most.
const LARGEST_FILE: u64 = 16 << 20;

/// Starts or continues a run, and prints its result.
pub fn run(args: &Run) -> Result<ExitCode> {
    let experiment = match prepare(args)? {
        Prepared::Ready(experiment) => experiment,
        Prepared::Finished(record, directory) => return show(args, &record, &directory),
    };
    let directory = experiment.directory().map(Path::to_owned).unwrap_or_default();
    if !args.quiet {
        let incomplete = experiment.incomplete_data();
        incomplete.iter().for_each(|part| message(&format!("only a part of the data is here: {part}")));
    }
    let progress = if args.quiet { Progress::silent() } else { Progress::new(&experiment) };
    let asked = Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?;
    let page = args.watch.map(|port| OfRun::start(&experiment, &directory, port, args.quiet)).transpose()?;
    let ended = match &page {
        Some(page) => experiment.run(&mut Interrupt { shown: page.observe(progress), asked }),
        None => experiment.run(&mut Interrupt { shown: progress, asked }),
    };
    // Wrong input is found before the first batch: an error here is another one.
    match ended.map_err(|error| anyhow!(as_flags(&error.to_string())))? {
        Outcome::Finished(record, _) => show(args, &record, &directory),
        Outcome::Stopped => {
            message(&format!("stopped at a checkpoint; continue with: rehearsal run --resume {}", quoted(&directory)));
            Ok(exit_code::STOPPED.into())
        }
    }
}

enum Prepared {
    Ready(Box<Experiment>),
    /// A finished run has nothing left to do: its result is shown again.
    Finished(Box<Record>, PathBuf),
}

fn prepare(args: &Run) -> Result<Prepared> {
    let Some(directory) = &args.resume else {
        return begin(args).map(|experiment| Prepared::Ready(Box::new(experiment)));
    };
    let adjusted = adjusted(args)?;
    if let Some(record) = RunDirectory::read_record(directory)? {
        if !args.quiet {
            message("this run is finished");
        }
        return Ok(Prepared::Finished(Box::new(record), directory.clone()));
    }
    prepare_data(&PartialConfig::parse(&RunDirectory::read_config(directory)?)?.overridden_by(&adjusted), args.quiet)?;
    let experiment = Experiment::resume(directory, |saved| *saved = saved.overridden_by(&adjusted))?;
    if let ([_, .., now], false) = (&experiment.progress().computed[..], args.quiet) {
        message(&format!("continues on {now}: results are no longer those of one device"));
    }
    Ok(Prepared::Ready(Box::new(experiment)))
}

fn show(args: &Run, record: &Record, directory: &Path) -> Result<ExitCode> {
    if !args.quiet {
        record.warnings.iter().for_each(|warning| message(&as_flags(&format!("warning: {warning}"))));
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string(record)?))?;
    } else if !args.quiet {
        print(&printer::summary(record, directory))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Errors in the file quote its settings; other errors quote flags.
fn begin(args: &Run) -> Result<Experiment> {
    let file = args.file.as_deref().map_or_else(|| Ok(PartialConfig::default()), read_file)?;
    begin_with(&file, args).map_err(|error| with_flags(&error))
}

/// Reads an experiment file.
pub fn read_file(path: &Path) -> Result<PartialConfig> {
    let file = path.display();
    let text = regular::read_named(path, LARGEST_FILE)
        .map_err(|error| UserError(format!("{file} cannot be read: {error}")))?;
    Ok(PartialConfig::parse(&text).map_err(|error| UserError(format!("{file}, {error}")))?)
}

fn begin_with(file: &PartialConfig, args: &Run) -> Result<Experiment> {
    let settings = file.overridden_by(&args.settings.settings()?);
    prepare_data(&settings, args.quiet)?;
    match &args.out {
        Some(out) => Experiment::new(&settings, Some(out)).map_err(with_ways_out),
        None => begin_in_free_directory(&settings),
    }
}

/// Adds the flags that help.
fn with_ways_out(error: ExperimentError) -> anyhow::Error {
    match &error {
        ExperimentError::Directory(DirectoryError::Taken(path)) => {
            let ways = format!("choose another `--out`, or continue it with `--resume {}`", path.display());
            UserError(format!("{error}: {ways}")).into()
        }
        _ => error.into(),
    }
}

/// Packs image files and computes features with a progress bar, if that is not done yet.
fn prepare_data(settings: &PartialConfig, quiet: bool) -> Result<()> {
    let config = settings.resolve()?;
    let has_features = config.learner.network.backbone.pretrained().is_some();
    let is_prepared = has_features || config.dataset.datasets().iter().any(|dataset| dataset.is_packed());
    if !quiet && is_prepared {
        open_data(&config, &Bar::default())?;
    }
    Ok(())
}

/// Starts in the first free directory of `runs/NAME`, `runs/NAME-2` and so on.
fn begin_in_free_directory(settings: &PartialConfig) -> Result<Experiment> {
    let mut experiment = Experiment::new(settings, None)?;
    let name = experiment.config().name();
    let mut out = Path::new("runs").join(&name);
    let mut number = 1;
    loop {
        match experiment.write_to(&out) {
            Err(ExperimentError::Directory(DirectoryError::Taken(_) | DirectoryError::Busy(_))) => {
                number += 1;
                out = Path::new("runs").join(format!("{name}-{number}"));
            }
            written => {
                written?;
                return Ok(experiment);
            }
        }
    }
}

/// The settings that may change when a run is resumed: those that do not change its results, and the device, which
/// the result names.
fn adjusted(args: &Run) -> Result<PartialConfig> {
    let settings = args.settings.settings()?;
    let PartialConfig { threads, device, ref data, .. } = settings;
    let allowed = PartialConfig { threads, device, data: data.clone(), ..PartialConfig::default() };
    if settings == allowed {
        return Ok(allowed);
    }
    let others = "only --threads, --data, --device, --watch, --quiet and --json may be given with it";
    Err(UserError(format!("`--resume` continues with the settings of the run: {others}")).into())
}
