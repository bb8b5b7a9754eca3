//! Makes a report of some directories of runs, without the command line's crate, which takes long
//! to build:
//!
//! ```sh
//! cargo run --release -p rehearsal-report --example report RUNS… OUT
//! ```

use std::{env, error::Error, path::PathBuf};

use rehearsal_report::{
    report::{Options, Report},
    study::Study,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut directories: Vec<PathBuf> = env::args_os().skip(1).map(Into::into).collect();
    let out = directories.pop().filter(|_| !directories.is_empty()).ok_or("which runs, and where to?")?;
    println!("{}", Report::new(Study::read(&directories)?, Options::default()).write(&out)?.display());
    Ok(())
}
