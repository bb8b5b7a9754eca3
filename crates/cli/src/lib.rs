//! The command line `rehearsal`, as a function that other front ends may call. Standard output is data, standard error is messages and progress. Exit codes: see
//! [`exit_code`].

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

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;
use rehearsal_data::printable;

use args::{Args, Command};
#[cfg(feature = "training")]
use flags::as_flags;

/// Runs one command: `arguments` begin with the name of the program. Wrong ones end the process, as `--help` does.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    signals::handle();
    #[cfg(feature = "training")]
    rehearsal_runs::set_job_lookup(rehearsal_grid::slurm::Scheduler::is_running);
    let parsed = Args::try_parse_from(arguments);
    #[cfg(feature = "training")]
    let parsed = parsed.map_err(suggestions::with_setting);
    let command = parsed.unwrap_or_else(|error| error.exit()).command;
    let done = match &command {
        Command::Learn(learn) => commands::learn::learn(learn),
        Command::Predict(predict) => commands::predict::predict(predict),
        Command::Evaluate(evaluate) => commands::evaluate::evaluate(evaluate),
        Command::Show(show) => commands::show::show(show),
        Command::Use(choice) => commands::select::select(choice),
        Command::Memory(memory) => commands::memory::memory(memory),
        Command::Class(class) => commands::class::class(class),
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
    };
    done.unwrap_or_else(|error| {
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
        hints::print_hint(&error);
        exit_code::exit_code(&error)
    })
}
