//! `rehearsal-torture`: does to the real binary what accidents and attackers do, and compares with
//! undisturbed runs bit for bit. Every trial is made from the seed, the part and its number, and can
//! be done again alone.
//!
//! ```sh
//! rehearsal-torture --binary target/release/rehearsal --seed 1                 # all of it: hours
//! rehearsal-torture --binary target/release/rehearsal --seed 1 --seconds 60    # some of everything
//! rehearsal-torture --binary target/release/rehearsal --seed 1 --only kills --trial 137
//! rehearsal-torture soak --binary target/release/rehearsal --minutes 60
//! ```

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("rehearsal-torture needs a Unix system: signals, FIFOs and links");

mod damage;
mod dice;
mod faults;
mod folders;
mod kills;
mod mutations;
mod outcome;
mod program;
mod scene;
mod servers;
mod session;
mod soak;
mod stage;
mod strace;
mod syncs;
mod tally;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Torture the binary: kills, faults of the disk, damaged files, hostile folders and servers, and whether what is
/// renamed was synced.
#[derive(Parser)]
#[command(name = "rehearsal-torture", args_conflicts_with_subcommands = true)]
pub struct Args {
    /// The binary under torture
    #[arg(long, default_value = "target/release/rehearsal", global = true)]
    binary: PathBuf,
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    session: session::Session,
}

#[derive(Subcommand)]
enum Other {
    /// An hour of learning at full memory: does it grow?
    Soak(soak::Soak),
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let fine = match &args.other {
        Some(Other::Soak(soak)) => soak.run(&args.binary)?,
        None => args.session.run(&args.binary)?,
    };
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
