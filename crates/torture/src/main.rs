//! `rehearsal-torture`: kills, disturbs and deceives the real binary, and compares with undisturbed runs bit for bit.
//! Every trial follows from the seed, its kind and its number, and can be repeated alone.
//!
//! ```sh
//! rehearsal-torture --binary target/release/rehearsal --seed 1               # every kind of trial
//! rehearsal-torture --binary target/release/rehearsal --seed 1 --only kills --trial 137
//! rehearsal-torture soak --binary target/release/rehearsal --minutes 60
//! ```

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("rehearsal-torture needs a Unix system: signals, FIFOs and links");

mod accidents;
mod damage;
mod faults;
mod folders;
mod inputs;
mod kills;
mod mutations;
mod process;
mod random;
mod scenario;
mod servers;
mod snapshot;
mod soak;
mod strace;
mod syncs;
mod table;
mod tally;
mod trials;
mod workspace;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Tests the binary with kills, disk faults, damaged files, hostile folders and servers, and checks that files are
/// synced before they are renamed.
#[derive(Parser)]
#[command(name = "rehearsal-torture", args_conflicts_with_subcommands = true)]
struct Args {
    /// The binary to test
    #[arg(long, default_value = "target/release/rehearsal", global = true)]
    binary: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    trials: trials::Options,
}

#[derive(Subcommand)]
enum Command {
    /// Train for an hour with a full memory: do memory, open files or threads grow?
    Soak(soak::Options),
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let passed = match &args.command {
        Some(Command::Soak(options)) => soak::run(options, &args.binary)?,
        None => trials::run(&args.trials, &args.binary)?,
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
