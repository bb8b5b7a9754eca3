//! The binary `rehearsal`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    rehearsal_cli::run(std::env::args_os())
}
