//! An hour of training with a full memory: resident memory, open files and threads must not grow.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{process::Kill, table};

/// Samples before this share of the time are not counted: the memory fills, buffers find their size.
const WARM_UP: f64 = 0.1;
/// How much higher the mean of the second half may be.
const GROWTH: f64 = 0.03;

#[derive(clap::Args)]
pub struct Options {
    /// How long to train
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Seconds between two samples
    #[arg(long, default_value_t = 10.0)]
    every: f64,
    /// The file of all samples
    #[arg(long, default_value = "soak.csv")]
    csv: PathBuf,
    /// Epochs of each task, enough for the time; by default measured for some seconds, which is wrong if the machine is
    /// busy only then
    #[arg(long)]
    epochs: Option<usize>,
}

/// One look at a process: seconds since the first, then the values of [`MEASURES`].
type Sample = [f64; 4];
const MEASURES: [&str; 3] = ["resident memory, MB", "open files", "threads"];
const CSV_HEADER: &str = "seconds,resident_mb,files,threads\n";

/// True if nothing grew.
pub fn run(options: &Options, binary: &Path) -> Result<bool> {
    let (binary, directory) = (fs::canonicalize(binary)?, tempfile::tempdir()?);
    let directory = directory.path();
    let epochs = match options.epochs {
        Some(epochs) => epochs,
        None => options.measured_epochs(&binary, directory)?,
    };
    eprintln!("{epochs} epochs of {} steps should take {:.0} minutes", table::SOAK_STEPS_PER_EPOCH, options.minutes);
    let mut child = start(&binary, directory, "soak", epochs)?;
    let samples = options.watch(&mut child);
    Kill::INTERRUPT.send(child.id())?;
    let status = child.wait()?;
    let stderr = fs::read_to_string(directory.join("soak.stderr"))?;
    ensure!(matches!(status.code(), Some(0 | 130)), "the run ended with {status}: {stderr}");
    println!("{} lines of steps", steps(directory, "soak")?);
    let samples = samples?;
    fs::write(&options.csv, to_csv(&samples))?;
    Ok(judge(&samples))
}

impl Options {
    /// Enough epochs that the last task has begun when the time is over.
    fn measured_epochs(&self, binary: &Path, directory: &Path) -> Result<usize> {
        let started = Instant::now();
        let mut child = start(binary, directory, "probe", 1_000_000)?;
        thread::sleep(Duration::from_secs_f64((self.minutes * 60.0 / 20.0).clamp(5.0, 60.0)));
        Kill::INTERRUPT.send(child.id())?;
        child.wait()?;
        let per_second = steps(directory, "probe")? as f64 / started.elapsed().as_secs_f64();
        Ok(((per_second * self.minutes * 60.0 / table::SOAK_STEPS_PER_EPOCH) as usize).max(1))
    }

    fn watch(&self, child: &mut Child) -> Result<Vec<Sample>> {
        let (started, mut samples) = (Instant::now(), Vec::new());
        let limit = Duration::from_secs_f64(self.minutes * 60.0);
        while started.elapsed() < limit && child.try_wait()?.is_none() {
            // The process may end before it is looked at.
            samples.extend(sample(child.id(), started.elapsed().as_secs_f64()).ok());
            thread::sleep(Duration::from_secs_f64(self.every).min(limit.saturating_sub(started.elapsed())));
        }
        Ok(samples)
    }
}

fn start(binary: &Path, directory: &Path, name: &str, epochs: usize) -> Result<Child> {
    let settings = format!("{name}.toml");
    fs::write(directory.join(&settings), format!("{}epochs = {epochs}\n", table::SOAK))?;
    let stderr = File::create(directory.join(format!("{name}.stderr")))?;
    let mut command = Command::new(binary);
    command.args(["run", &settings, "--out", name, "--quiet"]).current_dir(directory).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().context("the run cannot be started")
}

fn steps(directory: &Path, name: &str) -> Result<usize> {
    Ok(fs::read_to_string(directory.join(name).join(table::STEPS))?.lines().count())
}

/// What Linux says about a process.
fn sample(process: u32, seconds: f64) -> Result<Sample> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let value = |name: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.split_whitespace().next().unwrap_or("").parse()?)
    };
    let files = fs::read_dir(format!("/proc/{process}/fd"))?.count() as f64;
    Ok([seconds, value("VmRSS:")? / 1000.0, files, value("Threads:")?])
}

fn to_csv(samples: &[Sample]) -> String {
    let line = |[seconds, resident, files, threads]: &Sample| format!("{seconds:.0},{resident:.1},{files},{threads}\n");
    format!("{CSV_HEADER}{}", samples.iter().map(line).collect::<String>())
}

/// Prints the means of both halves, and tells whether nothing grew.
fn judge(samples: &[Sample]) -> bool {
    let seconds = samples.last().map_or(0.0, |last| last[0]);
    println!("{} samples in {:.1} minutes", samples.len(), seconds / 60.0);
    let counted: Vec<&Sample> = samples.iter().filter(|sample| sample[0] >= WARM_UP * seconds).collect();
    let (first, second) = counted.split_at(counted.len() / 2);
    if first.is_empty() {
        println!("too short to tell");
        return false;
    }
    println!("| | first half, mean | second half, mean | change |\n|---|---|---|---|");
    let mut flat = true;
    for (i, name) in MEASURES.iter().enumerate() {
        let mean = |half: &[&Sample]| half.iter().map(|sample| sample[i + 1]).sum::<f64>() / half.len() as f64;
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
    fn growth_is_not_flat() {
        let of = |growth: f64| -> Vec<Sample> {
            (0..100).map(f64::from).map(|i| [i, 100.0 + growth * i, 9.0, 2.0]).collect()
        };
        assert!(judge(&of(0.0)));
        assert!(judge(&of(-0.1)));
        assert!(!judge(&of(0.1)));
        assert!(!judge(&[]));
    }

    #[test]
    fn this_process_has_memory_files_and_threads() {
        let [seconds, resident, files, threads] = sample(std::process::id(), 7.0).unwrap();
        assert!(resident > 0.1 && files >= 3.0 && threads >= 1.0, "{resident} {files} {threads}");
        let csv = to_csv(&[[seconds, resident, files, threads]]);
        assert!(csv.starts_with("seconds,resident_mb,files,threads\n7,"), "{csv}");
    }
}
