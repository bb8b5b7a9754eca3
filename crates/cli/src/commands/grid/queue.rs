//! How far runs are, by their files and by what Slurm says of what was submitted.

use std::{collections::BTreeMap, path::absolute};

use rehearsal_grid::slurm::{Queue, QueuedTask, Scheduler, SlurmError, Submission, job_name, submissions};
use rehearsal_runs::{GridDirectory, RunDirectory, RunName, slurm_knows};

use super::{
    plan::{Job, Plan},
    state::State,
};
use crate::printer::message;

/// What Slurm says of a grid, at one moment.
pub struct GridQueue {
    submissions: Vec<Submission>,
    queue: Result<Queue, SlurmError>,
    /// The task that each run is queued or running in.
    tasks: BTreeMap<RunName, QueuedTask>,
}

impl GridQueue {
    /// Asks Slurm, if anything was ever submitted.
    pub fn ask(grid: &GridDirectory) -> Self {
        // As `submit` wrote it.
        let place = absolute(grid.path()).unwrap_or_else(|_| grid.path().into());
        let submissions = submissions(&GridDirectory::new(place.clone()).slurm());
        let queue = if submissions.is_empty() { Ok(Queue::default()) } else { Scheduler.queue(&job_name(&place)) };
        let tasks = queue.as_ref().map(|queue| queue.runs(&submissions)).unwrap_or_default();
        Self { submissions, queue, tasks }
    }

    /// Why it is not known what is queued, if it is not.
    pub fn error(&self) -> Option<&SlurmError> {
        self.queue.as_ref().err()
    }

    /// Says so. Without Slurm there is nothing to say but what the files say.
    pub fn say_what_is_not_known(&self) {
        match self.error() {
            None | Some(SlurmError::Missing(_)) => {}
            Some(error) => message(&format!("what is queued is not known: {error}")),
        }
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

    /// How far each run is.
    pub fn states(&self, plan: &Plan) -> Vec<State> {
        plan.jobs.iter().map(|job| self.state(job)).collect()
    }

    fn state(&self, job: &Job) -> State {
        let knows = |id: &str| self.knows(id);
        let state = State::read_as_told(job, |directory| RunDirectory::is_busy_as_told(directory, &knows));
        let Some(task) = self.task(&job.planned.name) else { return state };
        match state {
            State::Running(_) if task.node.is_some() => State::Running(task.node.clone()),
            State::Failed(_) | State::Stopped(_) | State::Left if task.is_requeued() => State::Requeued(task.id()),
            // One that failed in a task that goes on with others is not tried again there.
            State::Failed(why) if task.is_active() => State::Failed(why),
            State::Failed(_) | State::Stopped(_) | State::Left => State::Queued(task.id()),
            other => other,
        }
    }

    /// Whether a job is running: by the queue for those that were submitted, else Slurm is asked.
    fn knows(&self, id: &str) -> Option<bool> {
        let queue = self.queue.as_ref().ok()?;
        let array = id.split('_').next();
        match queue.tasks().iter().find(|task| task.id() == id) {
            Some(task) => Some(task.is_active()),
            None if self.submissions.iter().any(|submission| submission.job() == array) => Some(false),
            None => slurm_knows(id),
        }
    }
}
