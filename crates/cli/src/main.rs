//! The binary `rehearsal`. Standard output is data, standard error is messages and progress. Exit codes: see
//! [`exit_code`].

#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit_code;
mod flags;
mod hints;
mod interrupt;
mod output;
mod photos;
mod printer;
mod user_error;

use std::process::ExitCode;

use clap::Parser;
use rehearsal_data::printable;

use args::{Args, Command};
use flags::as_flags;

fn main() -> ExitCode {
    rehearsal_data::explain_cut_files();
    rehearsal_runs::set_job_lookup(rehearsal_grid::slurm::Scheduler::is_running);
    let command = Args::parse().command;
    let done = match &command {
        Command::Learn(learn) => commands::learn::learn(learn),
        Command::Predict(predict) => commands::predict::predict(predict),
        Command::Evaluate(evaluate) => commands::evaluate::evaluate(evaluate),
        Command::Show(show) => commands::show::show(show),
        Command::Use(choice) => commands::select::select(choice),
        Command::Memory(memory) => commands::memory::memory(memory),
        Command::Class(class) => commands::class::class(class),
        Command::Export(export) => commands::export::export(export),
        Command::Run(run) => commands::run::run(run),
        Command::List(list) => commands::list::list(list),
        Command::Data(data) => commands::data::data(data),
        Command::Bench(bench) => commands::bench::bench(bench),
        Command::Grid(grid) => commands::grid::grid(grid),
        Command::Report(report) => commands::report::report(report),
        Command::Compare(compare) => commands::compare::compare(compare),
    };
    done.unwrap_or_else(|error| {
        let text = format!("error: {error:#}");
        // `run` and `grid` have settings from files, too, and say themselves which are flags.
        let quotes_files = matches!(command, Command::Run(_) | Command::Grid(_));
        printer::message(&printable(&if quotes_files { text } else { as_flags(&text) }));
        hints::hint(&error).iter().for_each(|hint| printer::message(&format!("hint: {hint}")));
        exit_code::exit_code(&error)
    })
}
