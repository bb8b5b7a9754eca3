//! Makes a report of some directories of runs without building the command line:
//!
//! ```sh
//! cargo run --release -p rehearsal-report --example report [--paper] [--bare] RUNS… OUT
//! ```

use std::{env, error::Error, path::PathBuf};

use rehearsal_report::{
    report::{Options, Report},
    study::Study,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, paths): (Vec<String>, Vec<String>) = env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let mut directories: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
    let out = directories.pop().filter(|_| !directories.is_empty()).ok_or("name the runs and the output directory")?;
    let options = Options { paper: has("--paper"), bare: has("--bare") };
    println!("{}", Report::new(Study::read(&directories)?, options).write(&out)?.display());
    Ok(())
}
