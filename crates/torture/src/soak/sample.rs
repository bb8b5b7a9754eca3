//! What Linux tells about a process.

use std::fs;

use anyhow::{Context, Result, bail};

/// One look at a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Since the first look.
    pub seconds: f64,
    /// Resident memory in megabytes.
    pub resident: f64,
    /// Open file descriptors.
    pub files: f64,
    pub threads: f64,
}

/// A measure of a sample by its name.
pub type Measure = (&'static str, fn(&Sample) -> f64);

pub const MEASURES: [Measure; 3] = [
    ("resident memory, MB", |sample| sample.resident),
    ("open files", |sample| sample.files),
    ("threads", |sample| sample.threads),
];

/// Looks at a process.
pub fn sample(process: u32, seconds: f64) -> Result<Sample> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let value = |name: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.split_whitespace().next().unwrap_or("").parse()?)
    };
    let files = fs::read_dir(format!("/proc/{process}/fd"))?.count() as f64;
    Ok(Sample { seconds, resident: value("VmRSS:")? / 1000.0, files, threads: value("Threads:")? })
}

/// A line each.
pub fn csv(samples: &[Sample]) -> String {
    let line = |one: &Sample| format!("{:.0},{:.1},{},{}\n", one.seconds, one.resident, one.files, one.threads);
    format!("seconds,resident_mb,files,threads\n{}", samples.iter().map(line).collect::<String>())
}

/// Reads what [`csv`] wrote.
pub fn read(text: &str) -> Result<Vec<Sample>> {
    let sample = |line: &str| -> Result<Sample> {
        let numbers: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
        match numbers[..] {
            [seconds, resident, files, threads] => Ok(Sample { seconds, resident, files, threads }),
            _ => bail!("{line}: four numbers are wanted"),
        }
    };
    text.lines().skip(1).map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_files_and_threads() {
        let one = sample(std::process::id(), 7.0).unwrap();
        assert!(one.resident > 0.1 && one.files >= 3.0 && one.threads >= 1.0, "{one:?}");
        assert!(csv(&[one]).starts_with("seconds,resident_mb,files,threads\n7,"));
        assert_eq!(read(&csv(&[one])).unwrap()[0].files.to_bits(), one.files.to_bits());
        assert!(read("head\n1,2,3\n").is_err());
    }
}
