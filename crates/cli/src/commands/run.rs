//! `rehearsal run`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use rehearsal::{
    config::{Refusal, Said},
    experiment::{Experiment, Outcome},
    run_directory::RunDirectory,
};

use crate::{
    args::Run,
    interrupt::Interrupt,
    printer::{self, Progress},
};

/// Runs, or goes on with a run, and prints what came out.
pub fn run(args: &Run) -> Result<ExitCode> {
    let experiment = match &args.resume {
        None => begin(args)?,
        Some(directory) => {
            let adjusted = adjusted(args)?;
            if let Some(result) = RunDirectory::read_result(directory).unwrap_or(None) {
                return already_finished(args, directory, &result);
            }
            Experiment::resume(directory, |saved| *saved = saved.overridden_by(&adjusted))?
        }
    };
    let directory = experiment.directory().map(Path::to_owned).unwrap_or_default();
    let progress = if args.quiet { Progress::silent() } else { Progress::of(&experiment) };
    let mut interrupt = Interrupt::catch(progress)?;
    match experiment.run(&mut interrupt)? {
        Outcome::Finished(record) => {
            if args.json {
                println!("{}", serde_json::to_string(&record)?);
            } else if !args.quiet {
                print!("{}", printer::summary(&record, &directory));
            }
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped => {
            let directory = directory.display();
            eprintln!("stopped at a checkpoint; go on with: rehearsal run --resume {directory}");
            Ok(ExitCode::from(130))
        }
    }
}

fn begin(args: &Run) -> Result<Experiment> {
    let said = match &args.file {
        None => Said::default(),
        Some(path) => {
            let file = path.display();
            let text =
                std::fs::read_to_string(path).map_err(|error| Refusal(format!("{file} cannot be read: {error}")))?;
            Said::parse(&text).map_err(|refusal| Refusal(format!("{file}, {refusal}")))?
        }
    };
    let said = said.overridden_by(&args.settings.said());
    let out = match &args.out {
        Some(out) => out.clone(),
        None => free_directory(&said.resolve()?.name()),
    };
    Ok(Experiment::new(&said, Some(&out))?)
}

/// `runs/NAME`, or `runs/NAME-2` and so on, whichever is free.
fn free_directory(name: &str) -> PathBuf {
    let numbered = |number: usize| match number {
        1 => PathBuf::from("runs").join(name),
        _ => PathBuf::from("runs").join(format!("{name}-{number}")),
    };
    let mut number = 1;
    while numbered(number).exists() {
        number += 1;
    }
    numbered(number)
}

/// What may change when a run goes on: only what does not change its results.
fn adjusted(args: &Run) -> Result<Said, Refusal> {
    let said = args.settings.said();
    let allowed = Said { threads: said.threads, data: said.data.clone(), ..Said::default() };
    if said == allowed {
        return Ok(allowed);
    }
    let why = "`--resume` goes on with the settings of the run: only --threads, --data, --quiet and --json may stand beside it";
    Err(Refusal(why.into()))
}

/// A finished run has nothing left to do: its result is shown again.
fn already_finished(args: &Run, directory: &Path, result: &str) -> Result<ExitCode> {
    let record = serde_json::from_str(result)
        .with_context(|| format!("{} is damaged", directory.join("result.json").display()))?;
    if args.json {
        println!("{}", serde_json::to_string(&record)?);
    } else if !args.quiet {
        eprintln!("this run is finished:");
        print!("{}", printer::summary(&record, directory));
    }
    Ok(ExitCode::SUCCESS)
}
