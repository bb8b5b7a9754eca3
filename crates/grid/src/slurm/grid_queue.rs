//! How far the runs of a grid are, by their files and by Slurm's queue.

use std::{
    collections::BTreeMap,
    path::{PathBuf, absolute},
};

use rehearsal_runs::{GridDirectory, RunDirectory, RunName};

use super::{Queue, QueuedTask, Scheduler, SlurmError, Submission, job_name, submissions};
use crate::{Job, Plan, State};

/// What Slurm says of a grid, at one moment.
pub struct GridQueue {
    submissions: Vec<Submission>,
    queue: Result<Queue, SlurmError>,
    /// The task in which each run is queued or running.
    tasks: BTreeMap<RunName, QueuedTask>,
}

impl GridQueue {
    /// Asks Slurm, if anything was ever submitted.
    pub fn ask(grid: &GridDirectory) -> Self {
        // As it was written when it was submitted.
        let place = absolute(grid.path()).unwrap_or_else(|_| grid.path().into());
        let submissions = submissions(&GridDirectory::new(place.clone()).slurm());
        let queue = if submissions.is_empty() { Ok(Queue::default()) } else { Scheduler.queue(&job_name(&place)) };
        Self::new(submissions, queue)
    }

    fn new(submissions: Vec<Submission>, queue: Result<Queue, SlurmError>) -> Self {
        let tasks = queue.as_ref().map(|queue| queue.runs(&submissions)).unwrap_or_default();
        Self { submissions, queue, tasks }
    }

    /// Why it is not known what is queued, if it is not.
    pub fn error(&self) -> Option<&SlurmError> {
        self.queue.as_ref().err()
    }

    /// The same where Slurm is installed. Where it is not, nothing of this machine is queued.
    pub fn error_of_slurm(&self) -> Option<&SlurmError> {
        self.error().filter(|error| !matches!(error, SlurmError::Missing(_)))
    }

    /// The task that has a run, if one is queued or running.
    pub fn task(&self, name: &RunName) -> Option<&QueuedTask> {
        self.tasks.get(name)
    }

    /// The arrays that are queued or running, each with the number of its tasks.
    pub fn jobs(&self) -> BTreeMap<&str, usize> {
        let all = self.queue.iter().flat_map(Queue::tasks);
        let is_ours = |task: &&QueuedTask| self.tasks.values().any(|ours| ours.job == task.job);
        let mut jobs = BTreeMap::new();
        for task in all.filter(is_ours) {
            *jobs.entry(task.job.as_str()).or_default() += 1;
        }
        jobs
    }

    /// Where the tasks that had a run wrote their output, in the order in which they were submitted.
    pub fn outputs(grid: &GridDirectory, name: &RunName) -> Vec<PathBuf> {
        let output = |submission: &Submission| {
            let task = submission.tasks().iter().position(|runs| runs.contains(name))?;
            Some(grid.logs().join(format!("slurm-{}_{task}.out", submission.job()?)))
        };
        submissions(&grid.slurm()).iter().filter_map(output).collect()
    }

    /// How far each run is.
    pub fn states(&self, plan: &Plan) -> Vec<State> {
        plan.jobs.iter().map(|job| self.state(job)).collect()
    }

    fn state(&self, job: &Job) -> State {
        let is_running = |id: &str| self.is_running(id);
        let state = State::read_with(job, |directory| RunDirectory::is_busy_as_told(directory, &is_running));
        let Some(task) = self.task(&job.planned.name) else { return state };
        match state {
            State::Running(_) if task.node.is_some() => State::Running(task.node.clone()),
            State::Failed(_) | State::Stopped(_) | State::Left if task.is_requeued() => State::Requeued(task.id()),
            // A run that failed is not tried again by a task that goes on with other runs.
            State::Failed(why) if task.is_active() => State::Failed(why),
            State::Failed(_) | State::Stopped(_) | State::Left => State::Queued(task.id()),
            other => other,
        }
    }

    /// Whether a job is running: by the queue if this grid submitted it, else Slurm is asked.
    fn is_running(&self, id: &str) -> Option<bool> {
        let queue = self.queue.as_ref().ok()?;
        let array = id.split('_').next();
        match queue.tasks().iter().find(|task| task.id() == id) {
            Some(task) => Some(task.is_active()),
            None if self.submissions.iter().any(|submission| submission.job() == array) => Some(false),
            None => Scheduler::is_running(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn the_queue_says_what_files_cannot() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan(place.path(), "[axes]\nseed = [0, 1, 2, 3, 4]\n");
        let tasks = plan.jobs.iter().map(|job| vec![job.planned.name.clone()]).collect();
        let mut submission = Submission::create(&plan.directory.slurm(), tasks, "").unwrap();
        submission.submitted_as("15".into()).unwrap();
        for run in [1, 2, 3] {
            fs::create_dir_all(plan.directory.logs()).unwrap();
            fs::write(&plan.jobs[run].log, "error: no luck\n").unwrap();
        }
        // Tasks 0 and 2 run, task 1 was requeued, 3 waits, 4 is over.
        let queue = "15|0|RUNNING|0|n1|x|\n15|1|PENDING|1||x|\n15|2|RUNNING|0|n1|x|\n15|3|PENDING|0||x|\n";
        let queue = GridQueue::new(submissions(&plan.directory.slurm()), Ok(Queue::parse(queue).unwrap()));
        let expected = [
            State::Queued("15_0".into()),
            State::Requeued("15_1".into()),
            State::Failed("no luck".into()),
            State::Queued("15_3".into()),
            State::Left,
        ];
        assert_eq!(queue.states(&plan), expected);
        assert_eq!(queue.jobs(), BTreeMap::from([("15", 4)]));
        assert_eq!((queue.is_running("15_0"), queue.is_running("15_4")), (Some(true), Some(false)));
        let outputs = GridQueue::outputs(&plan.directory, &plan.jobs[4].planned.name);
        assert_eq!(outputs, [plan.directory.logs().join("slurm-15_4.out")]);

        let silent = SlurmError::Failed { program: "squeue", said: "no answer".into() };
        let silent = GridQueue::new(Vec::new(), Err(silent));
        assert!(silent.error_of_slurm().is_some() && silent.is_running("15_0").is_none());
        let missing = GridQueue::new(Vec::new(), Err(SlurmError::Missing("squeue")));
        assert!(missing.error().is_some() && missing.error_of_slurm().is_none());
    }
}
