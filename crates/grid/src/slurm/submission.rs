//! What was submitted, in the grid's directory: `slurm/1`, `slurm/2`, … each with the script, the manifest at that time,
//! and the names of each task's runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::{atomic, regular};
use rehearsal_runs::RunName;
use serde::{Deserialize, Serialize};

/// The largest file that is read, in bytes: the names of as many runs as a grid has.
const LARGEST: u64 = 64 << 20;

/// A submission, and its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    directory: PathBuf,
    said: Said,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    /// Slurm's number of the job; none until it is submitted.
    job: Option<String>,
    /// The runs of each task.
    tasks: Vec<Vec<RunName>>,
}

impl Submission {
    /// A new one in a grid's `slurm` directory. Only the process that holds the grid may call it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(slurm: &Path, tasks: Vec<Vec<RunName>>, manifest: &str) -> io::Result<Self> {
        let number = numbers(slurm).last().map_or(1, |last| last + 1);
        let directory = slurm.join(number.to_string());
        fs::create_dir_all(&directory)?;
        let submission = Self { directory, said: Said { job: None, tasks } };
        atomic::write(&submission.manifest(), manifest.as_bytes())?;
        submission.write()?;
        Ok(submission)
    }

    /// Its script.
    pub fn script(&self) -> PathBuf {
        self.directory.join("job.sh")
    }

    /// The manifest of the grid when it was submitted.
    pub fn manifest(&self) -> PathBuf {
        self.directory.join("manifest.jsonl")
    }

    /// Slurm's number of the job, if it is known.
    pub fn job(&self) -> Option<&str> {
        self.said.job.as_deref()
    }

    /// The runs of each task.
    pub fn tasks(&self) -> &[Vec<RunName>] {
        &self.said.tasks
    }

    /// Writes the script.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_script(&self, text: &str) -> io::Result<()> {
        atomic::write(&self.script(), text.as_bytes())
    }

    /// Writes down Slurm's number of the job.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn submitted_as(&mut self, job: String) -> io::Result<()> {
        self.said.job = Some(job);
        self.write()
    }

    /// Removes a submission that Slurm refused.
    pub fn withdraw(self) {
        let _ = fs::remove_dir_all(self.directory);
    }

    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_string(&self.said).expect("names are plain data") + "\n";
        atomic::write(&self.directory.join("submission.json"), text.as_bytes())
    }
}

/// The submissions of a grid, in order. Those that cannot be read, because their process was killed half-way, are left
/// out.
pub fn submissions(slurm: &Path) -> Vec<Submission> {
    let read = |number: u64| {
        let directory = slurm.join(number.to_string());
        let text = regular::read_to_string(&directory.join("submission.json"), LARGEST).ok()?;
        let said: Said = serde_json::from_str(&text).ok()?;
        // Files are named after it: anything but a number could lead elsewhere.
        let is_number = |job: &String| !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
        said.job.as_ref().is_none_or(is_number).then_some(Submission { directory, said })
    };
    numbers(slurm).into_iter().filter_map(read).collect()
}

/// In order.
fn numbers(slurm: &Path) -> Vec<u64> {
    let entries = fs::read_dir(slurm).into_iter().flatten().flatten();
    let mut numbers: Vec<u64> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The next one has a number, too.
    numbers.retain(|&number| number < u64::MAX);
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_submitted_is_found_again_in_order() {
        let place = tempfile::tempdir().unwrap();
        let slurm = place.path().join("slurm");
        assert_eq!(submissions(&slurm), []);
        let name = |text: &str| text.parse::<RunName>().unwrap();
        for number in 1..=11 {
            let tasks = vec![vec![name("a"), name("b")], vec![name(&format!("c{number}"))]];
            let mut submission = Submission::create(&slurm, tasks, "{}\n").unwrap();
            assert_eq!(submission.script(), slurm.join(number.to_string()).join("job.sh"));
            submission.submitted_as(format!("{}", 100 + number)).unwrap();
        }
        let all = submissions(&slurm);
        assert_eq!(all.len(), 11);
        assert_eq!((all[10].job(), &all[10].tasks()[1]), (Some("111"), &vec![name("c11")]));
        all[10].clone().withdraw();
        // Killed before it had said anything: its number is not given again.
        fs::create_dir(slurm.join("12")).unwrap();
        assert_eq!(submissions(&slurm).len(), 10);
        let next = Submission::create(&slurm, Vec::new(), "").unwrap();
        assert!(next.job().is_none() && next.manifest().ends_with("slurm/13/manifest.jsonl"));
        for job in ["../../secret", "12 --user=me", "", "-1"] {
            let mut forged = Submission::create(&slurm, Vec::new(), "").unwrap();
            forged.submitted_as(job.into()).unwrap();
            assert_eq!(submissions(&slurm).len(), 11, "{job} is not the number of a job");
        }
        fs::create_dir(slurm.join(u64::MAX.to_string())).unwrap();
        let next = Submission::create(&slurm, Vec::new(), "").unwrap();
        assert!(next.manifest().ends_with("slurm/18/manifest.jsonl"), "{:?}", next.manifest());
    }
}
