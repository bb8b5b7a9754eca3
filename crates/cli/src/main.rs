//! The binary `rehearsal`. Standard output is data, standard error is messages and progress. Exit
//! codes: 0 done, 1 something went wrong on the way, 2 what was asked makes no sense, 130 stopped
//! by the user.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod flags;
mod interrupt;
mod printer;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    rehearsal_data::explain_cut_files();
    let done = match Args::parse().command {
        Command::Run(run) => commands::run::run(&run),
        Command::List(list) => commands::list::list(&list),
        Command::Data(data) => commands::data::data(&data),
        Command::Bench(bench) => commands::bench::bench(&bench),
        Command::Grid(grid) => commands::grid::grid(&grid),
        Command::Report(report) => commands::report::report(&report),
        Command::Compare(compare) => commands::compare::compare(&compare),
    };
    done.unwrap_or_else(|error| {
        printer::message(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}
