//! An hour of learning at full memory: resident memory, open files and threads must stay as they
//! are.

mod curve;
mod sample;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use curve::svg;
use sample::{Sample, sample};

use crate::program::signal;

/// Samples before this share of the time do not count: the memory fills, buffers find their size.
const WARM_UP: f64 = 0.1;
/// By how much the second half may lie above the first.
const GROWTH: f64 = 0.03;

/// What to soak, and where to write what was seen.
#[derive(clap::Args)]
pub struct Soak {
    /// How long
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Seconds between two looks
    #[arg(long, default_value_t = 10.0)]
    every: f64,
    /// Where to write what was seen, a line each look
    #[arg(long, default_value = "soak.csv")]
    csv: PathBuf,
    /// Epochs of each task, enough for the time; by default as many as a probe says, which is wrong where a
    /// machine is busy only at the beginning
    #[arg(long)]
    epochs: Option<usize>,
    /// Only look again at what was seen before, as --csv has it
    #[arg(long)]
    again: bool,
    /// Where to draw it
    #[arg(long, default_value = "soak.svg")]
    svg: PathBuf,
}

/// Every part that keeps something from step to step is on: diagnostics, event files, a checkpoint
/// every half minute.
const SETTINGS: &str = "method = 'pcr'\nretrieval = 'balanced'\nmemory = 500\nwidth = 8\ntasks = 5\nthreads = 1\n\
                        diagnostics = true\ntensorboard = true\ncheckpoint-minutes = 0.5\n";

impl Soak {
    /// True if all stayed flat.
    pub fn run(&self, binary: &Path) -> Result<bool> {
        if self.again {
            let samples = sample::read(&fs::read_to_string(&self.csv)?)?;
            fs::write(&self.svg, svg(&samples))?;
            return Ok(judge(&samples));
        }
        let binary = &fs::canonicalize(binary)?;
        let place = tempfile::tempdir()?;
        let epochs = match self.epochs {
            Some(epochs) => epochs,
            None => self.probed(binary, place.path())?,
        };
        eprintln!("{epochs} epochs of 250 steps should last {:.0} minutes", self.minutes);
        fs::write(place.path().join("soak.toml"), format!("{SETTINGS}epochs = {epochs}\n"))?;
        let mut child = start(binary, place.path(), "soak.toml", "soak")?;
        let samples = self.watch(&mut child);
        signal(&child.id().to_string(), "INT")?;
        let status = child.wait()?;
        let errors = fs::read_to_string(place.path().join("soak.errors"))?;
        if !matches!(status.code(), Some(0 | 130)) {
            bail!("the run ended with {status}: {errors}");
        }
        let steps = fs::read_to_string(place.path().join("soak/steps.jsonl"))?.lines().count();
        println!("{steps} lines of steps");
        let samples = samples?;
        fs::write(&self.csv, sample::csv(&samples))?;
        fs::write(&self.svg, svg(&samples))?;
        Ok(judge(&samples))
    }

    /// So many that the last task has begun when the time is over: measured over some seconds.
    fn probed(&self, binary: &Path, place: &Path) -> Result<usize> {
        fs::write(place.join("probe.toml"), format!("{SETTINGS}epochs = 1000000\n"))?;
        let begun = Instant::now();
        let mut child = start(binary, place, "probe.toml", "probe")?;
        thread::sleep(Duration::from_secs_f64((self.minutes * 60.0 / 20.0).clamp(5.0, 60.0)));
        signal(&child.id().to_string(), "INT")?;
        child.wait()?;
        let steps = fs::read_to_string(place.join("probe/steps.jsonl"))?.lines().count();
        let a_second = steps as f64 / begun.elapsed().as_secs_f64();
        Ok(((a_second * self.minutes * 60.0 / 250.0) as usize).max(1))
    }

    fn watch(&self, child: &mut Child) -> Result<Vec<Sample>> {
        let (begun, mut samples) = (Instant::now(), Vec::new());
        let limit = Duration::from_secs_f64(self.minutes * 60.0);
        while begun.elapsed() < limit && child.try_wait()?.is_none() {
            // The process may end between the two looks.
            samples.extend(sample(child.id(), begun.elapsed().as_secs_f64()).ok());
            thread::sleep(Duration::from_secs_f64(self.every).min(limit.saturating_sub(begun.elapsed())));
        }
        Ok(samples)
    }
}

fn start(binary: &Path, place: &Path, file: &str, out: &str) -> Result<Child> {
    let errors = File::create(place.join(format!("{out}.errors")))?;
    let mut command = Command::new(binary);
    command.args(["run", file, "--out", out, "--quiet"]).current_dir(place);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn().context("the run cannot be started")
}

/// Says what was seen, and whether it was flat.
fn judge(samples: &[Sample]) -> bool {
    let minutes = samples.last().map_or(0.0, |last| last.seconds / 60.0);
    println!("{} looks in {minutes:.1} minutes", samples.len());
    let counted: Vec<Sample> = samples.iter().copied().filter(|one| one.seconds >= WARM_UP * 60.0 * minutes).collect();
    let (first, second) = counted.split_at(counted.len() / 2);
    if first.is_empty() {
        println!("too short to tell");
        return false;
    }
    println!("| | first half, mean | second half, mean | change |\n|---|---|---|---|");
    let mut flat = true;
    for (name, of) in sample::MEASURES {
        let mean = |half: &[Sample]| half.iter().map(of).sum::<f64>() / half.len() as f64;
        let change = mean(second) / mean(first) - 1.0;
        println!("| {name} | {:.1} | {:.1} | {:+.2} % |", mean(first), mean(second), 100.0 * change);
        flat &= change <= GROWTH;
    }
    println!("{}", if flat { "flat" } else { "NOT flat" });
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_not_flat() {
        let of = |grows: f64| -> Vec<Sample> {
            let one = |i: u32| {
                let resident = 100.0 + grows * f64::from(i);
                Sample { seconds: f64::from(i), resident, files: 9.0, threads: 2.0 }
            };
            (0..100).map(one).collect()
        };
        assert!(judge(&of(0.0)) && judge(&of(-0.1)) && !judge(&of(0.1)) && !judge(&[]));
    }
}
