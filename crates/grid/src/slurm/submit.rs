//! Runs of a grid as one array of Slurm.

use std::path::Path;

use rehearsal_runs::DirectoryError;

use super::{Resources, Scheduler, Script, Submission, TimeLimit, chunks, job_name, tasks_of_about};
use crate::{Plan, PlanError, manifest, plan::absolute};

/// How long a task takes, about, in seconds.
const TASK_SECONDS: f64 = 30.0 * 60.0;

/// The runs of each task, if a task has `each` runs.
pub fn tasks_of(waiting: &[usize], each: usize) -> Vec<Vec<usize>> {
    share(waiting, &vec![1.0; waiting.len()], waiting.len().div_ceil(each))
}

/// The runs of each task, by how long each run takes. A task takes about half an hour, or half of its time limit, so
/// that it ends before that.
pub fn tasks_by_time(waiting: &[usize], seconds: &[f64], limit: Option<&TimeLimit>) -> Vec<Vec<usize>> {
    let limit = limit.and_then(TimeLimit::seconds).map_or(f64::MAX, |limit| limit as f64 / 2.0);
    share(waiting, seconds, tasks_of_about(seconds, TASK_SECONDS.min(limit)))
}

fn share(waiting: &[usize], seconds: &[f64], tasks: usize) -> Vec<Vec<usize>> {
    let runs = |places: Vec<usize>| places.into_iter().map(|place| waiting[place]).collect();
    chunks(seconds, tasks).into_iter().map(runs).collect()
}

impl Submission {
    /// Writes the script and the manifest of these tasks. The plan's directory is absolute, and held.
    ///
    /// # Errors
    /// They cannot be written, or [`Script::text`] refuses.
    pub fn prepare(
        plan: &Plan,
        tasks: &[Vec<usize>],
        resources: &Resources,
        program: &Path,
    ) -> Result<Self, PlanError> {
        let (grid, slurm) = (plan.directory.path(), plan.directory.slurm());
        let unwritable = |error| DirectoryError::Unwritable { path: slurm.clone(), error };
        let names = tasks.iter().map(|task| task.iter().map(|&run| plan.jobs[run].planned.name.clone()).collect());
        let submission = Self::create(&slurm, names.collect(), &manifest(&plan.planned())).map_err(unwritable)?;
        let script = Script {
            name: &job_name(grid),
            program,
            from: &absolute(Path::new("."))?,
            grid,
            logs: &plan.directory.logs(),
            manifest: &submission.manifest(),
            tasks,
            resources,
        };
        match script.text() {
            Ok(text) => submission.write_script(&text).map_err(unwritable)?,
            Err(error) => {
                submission.withdraw();
                return Err(error.into());
            }
        }
        Ok(submission)
    }

    /// Submits it: the number of its job.
    ///
    /// # Errors
    /// Slurm refuses it, or the number cannot be written down.
    pub fn submit(mut self) -> Result<String, PlanError> {
        match Scheduler.submit(&self.script()) {
            Ok(job) => {
                // If this fails, or the process is killed here, the job is known by its script.
                let noted = self.submitted_as(job.clone());
                noted.map_err(|error| PlanError::NotNoted(job.clone(), error))?;
                Ok(job)
            }
            Err(error) => {
                self.withdraw();
                Err(error.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn runs_are_shared_out_by_number_or_by_time() {
        let waiting = [3, 5, 7, 9];
        assert_eq!(tasks_of(&waiting, 3), [[3, 5], [7, 9]]);
        let by_time = |limit: Option<&str>| {
            let limit = limit.map(|text| text.parse().unwrap());
            tasks_by_time(&waiting, &[900.0; 4], limit.as_ref())
        };
        assert_eq!(by_time(None), [[3, 5], [7, 9]]);
        assert_eq!(by_time(Some("30")), [[3], [5], [7], [9]], "half of the time limit");
    }

    #[test]
    fn a_script_that_cannot_be_written_leaves_no_submission() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan(place.path(), "[axes]\nseed = [0, 1]\n");
        let none = Resources {
            partition: None,
            time: None,
            gpus: None,
            cpus: None,
            memory: None,
            max_running: None,
            warning: 120,
            extra: Vec::new(),
        };
        let write = |resources: &Resources| Submission::prepare(&plan, &[vec![1], vec![0]], resources, Path::new("/r"));
        let wrong = write(&Resources { extra: vec!["--array=0-7".into()], ..none.clone() });
        assert!(matches!(wrong, Err(PlanError::Script(_))));
        assert!(!plan.directory.slurm().join("1").exists());
        let written = write(&none).unwrap();
        assert_eq!(written.tasks()[0][0].as_str(), "seed1");
        assert!(std::fs::read_to_string(written.script()).unwrap().contains("runs=(\n  '1'\n  '0'\n)"));
    }
}
