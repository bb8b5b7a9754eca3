//! The binary `rehearsal`. Standard output is data, standard error is messages and progress. Exit
//! codes: 0 done, 1 something went wrong on the way, 2 what was asked makes no sense, 3 a version
//! was held back because it forgot too much, 130 stopped by the user.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod flags;
mod hints;
mod interrupt;
mod output;
mod photos;
mod printer;
mod signals;
mod user_error;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    signals::handle();
    let done = match Args::parse().command {
        Command::Learn(learn) => commands::learn::learn(&learn),
        Command::Predict(predict) => commands::predict::predict(&predict),
        Command::Evaluate(evaluate) => commands::evaluate::evaluate(&evaluate),
        Command::Show(show) => commands::show::show(&show),
        Command::Use(choice) => commands::select::select(&choice),
        Command::Memory(memory) => commands::memory::memory(&memory),
        Command::Class(class) => commands::class::class(&class),
        Command::Export(export) => commands::export::export(&export),
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
        hints::print_hint(&error);
        ExitCode::FAILURE
    })
}
