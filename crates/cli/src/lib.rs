//! The command line `rehearsal`, as a function that other front ends may call. Standard output is data, standard error
//! is messages and progress. Exit codes: see `exit_code.rs`.

// `signals.rs` has the only exception.
#![deny(unsafe_code)]

mod args;
mod commands;
mod exit_code;
#[cfg(feature = "training")]
mod flags;
mod hints;
mod interrupt;
mod output;
mod photos;
mod printer;
mod signals;
#[cfg(feature = "training")]
mod suggestions;
mod user_error;
mod word_order;

use std::{ffi::OsString, io, path::PathBuf, process::ExitCode, sync::OnceLock};

use anyhow::{Error, Result};
use clap::Parser;
use rehearsal_data::printable;
use rehearsal_files::threads::on_threads;

use args::{Args, Command};
#[cfg(feature = "training")]
use flags::as_flags;

/// The program that runs the commands, if it is not this process's own.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says which program runs [`run`], so that `grid` can start it as its worker: for front ends that are started by an
/// interpreter. Only the first call counts.
pub fn set_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

#[cfg_attr(not(feature = "training"), allow(dead_code, reason = "only `grid` starts workers"))]
fn program() -> io::Result<PathBuf> {
    PROGRAM.get().map_or_else(std::env::current_exe, |path| Ok(path.clone()))
}

/// Runs one command: `arguments` begin with the name of the program. Wrong ones end the process, as `--help` does.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    signals::handle();
    #[cfg(feature = "training")]
    rehearsal_runs::set_job_lookup(rehearsal_grid::slurm::Scheduler::is_running);
    let arguments = word_order::model_before_verb(arguments.into_iter().collect());
    let parsed = Args::try_parse_from(arguments);
    #[cfg(feature = "training")]
    let parsed = parsed.map_err(suggestions::with_setting);
    let command = parsed.unwrap_or_else(|error| error.exit()).command;
    let done = on_threads(command.threads(), || dispatch(&command)).map_err(Error::from).flatten();
    done.unwrap_or_else(|error| fail(&command, &error))
}

fn dispatch(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Learn(learn) => commands::learn::learn(learn),
        Command::Predict(predict) => commands::predict::predict(predict),
        Command::Evaluate(evaluate) => commands::evaluate::evaluate(evaluate),
        Command::Show(show) => commands::show::show(show),
        Command::Use(choice) => commands::select::select(choice),
        Command::Memory(memory) => commands::memory::memory(memory),
        Command::Class(class) => commands::class::class(class),
        Command::Serve(serve) => commands::serve::serve(serve),
        Command::Watch(watch) => commands::watch::watch(watch),
        Command::Export(export) => commands::export::export(export),
        Command::Features(features) => commands::features::features(features),
        Command::Backbone(backbone) => commands::backbone::backbone(backbone),
        #[cfg(feature = "training")]
        Command::Run(run) => commands::run::run(run),
        #[cfg(feature = "training")]
        Command::List(list) => commands::list::list(list),
        Command::Data(data) => commands::data::data(data),
        #[cfg(feature = "training")]
        Command::Bench(bench) => commands::bench::bench(bench),
        #[cfg(feature = "training")]
        Command::Grid(grid) => commands::grid::grid(grid),
        Command::Report(report) => commands::report::report(report),
        Command::Compare(compare) => commands::compare::compare(compare),
        Command::Completions(completions) => commands::completions::completions(completions),
        Command::Man(manual) => commands::completions::man(manual),
    }
}

/// Says what is wrong and what to do; the exit code.
#[cfg_attr(not(feature = "training"), allow(unused_variables, reason = "only `run` and `grid` differ"))]
fn fail(command: &Command, error: &Error) -> ExitCode {
    let text = format!("error: {error:#}");
    #[cfg(feature = "training")]
    let text = {
        // `run` and `grid` have settings from files, too, and say themselves which are flags.
        let quotes_files = matches!(command, Command::Run(_) | Command::Grid(_));
        if quotes_files { text } else { as_flags(&text) }
    };
    // `run` and `grid` bring their hint along.
    let (text, hint) = text.split_once("\nhint: ").map_or((&*text, None), |(text, hint)| (text, Some(hint)));
    printer::message(&printable(text));
    hint.iter().for_each(|hint| printer::message(&printable(&format!("hint: {hint}"))));
    hints::print_hint(error);
    exit_code::exit_code(error)
}
