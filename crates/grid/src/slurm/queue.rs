//! What Slurm's queue says.

use std::{collections::BTreeMap, path::Path};

use rehearsal_runs::RunName;

use super::Submission;

/// What `squeue` is asked for: one task on each line, a bar after each field. The script is last, because its path may
/// contain bars.
pub(crate) const FORMAT: &str = "--Format=ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|,NodeList:|,Command:|";

/// A task of an array that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedTask {
    /// Slurm's number of the array.
    pub job: String,
    /// Which of its tasks.
    pub task: usize,
    /// As Slurm says it: `PENDING`, `RUNNING`, …
    pub state: String,
    /// The node that it runs on, if it runs.
    pub node: Option<String>,
    /// How often it was started again.
    pub restarts: u64,
    /// The script that was submitted.
    pub script: String,
}

impl QueuedTask {
    /// As `squeue` and `scancel` take it: `12_3`.
    pub fn id(&self) -> String {
        format!("{}_{}", self.job, self.task)
    }

    /// Whether it may have processes.
    pub fn is_active(&self) -> bool {
        is_active(&self.state)
    }

    /// Whether it waits, and has run before.
    pub fn is_requeued(&self) -> bool {
        self.restarts > 0 && !self.is_active()
    }
}

/// Tasks that are not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue(Vec<QueuedTask>);

impl Queue {
    /// Reads the output of `squeue`, a task on each line.
    ///
    /// # Errors
    /// A line is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut tasks = Vec::new();
        for line in lines {
            let fields: Vec<&str> = line.splitn(6, '|').map(str::trim).collect();
            let [job, task, state, restarts, node, script] = fields[..] else {
                return Err(format!("it says `{line}`, which does not have six fields"));
            };
            // Not of an array: not of a grid.
            let Ok(task) = task.parse() else { continue };
            tasks.push(QueuedTask {
                job: job.into(),
                task,
                state: state.into(),
                node: Some(node).filter(|node| !node.is_empty()).map(str::to_owned),
                restarts: restarts.parse().unwrap_or(0),
                script: script.trim_end_matches('|').trim_end().into(),
            });
        }
        Ok(Self(tasks))
    }

    /// All tasks.
    pub fn tasks(&self) -> &[QueuedTask] {
        &self.0
    }

    /// The task that runs, or will run, each run of a grid's submissions. Jobs are known by their number, or, if they
    /// were submitted by hand or by a process that was killed, by their script.
    pub fn runs(&self, submissions: &[Submission]) -> BTreeMap<RunName, QueuedTask> {
        let mut runs: BTreeMap<RunName, QueuedTask> = BTreeMap::new();
        for submission in submissions {
            let (job, script) = (submission.job(), submission.script());
            let is_of = |task: &&QueuedTask| job == Some(&task.job) || Path::new(&task.script) == script;
            for task in self.0.iter().filter(is_of) {
                for name in submission.tasks().get(task.task).into_iter().flatten() {
                    if task.is_active() || !runs.contains_key(name) {
                        runs.insert(name.clone(), task.clone());
                    }
                }
            }
        }
        runs
    }
}

/// Whether a job in this state, in Slurm's word, may have processes.
pub(crate) fn is_active(state: &str) -> bool {
    let states = ["RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"];
    states.contains(&state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `squeue` of Slurm 22.05: an array of five tasks, two at a time, of which the second was asked to stop.
    const RECORDED: &str = include_str!("recorded/squeue.txt");

    fn told(queue: &Queue) -> Vec<(String, &str, Option<&str>, u64)> {
        let tasks = queue.tasks().iter();
        let mut told: Vec<_> =
            tasks.map(|task| (task.id(), task.state.as_str(), task.node.as_deref(), task.restarts)).collect();
        told.sort();
        told
    }

    #[test]
    fn a_queue_is_read_as_slurm_writes_it() {
        let expected = [
            ("15_0".to_owned(), "RUNNING", Some("vm"), 0),
            ("15_1".to_owned(), "PENDING", None, 1),
            ("15_2".to_owned(), "RUNNING", Some("vm"), 0),
            ("15_3".to_owned(), "PENDING", None, 0),
            ("15_4".to_owned(), "PENDING", None, 0),
        ];
        let queue = Queue::parse(RECORDED).unwrap();
        assert_eq!(told(&queue), expected);
        assert!(queue.tasks().iter().all(|task| task.script == "/tmp/grid/job.sh"));
        let requeued: Vec<String> =
            queue.tasks().iter().filter(|task| task.is_requeued()).map(QueuedTask::id).collect();
        assert_eq!(requeued, ["15_1"]);
        assert_eq!(Queue::parse("\n").unwrap(), Queue::default());
        assert!(Queue::parse("15|1|PENDING\n").unwrap_err().contains("not have six fields"));
        let odd = Queue::parse("7|0|PENDING|0||/a | b/job.sh|\n8|N/A|RUNNING|0|n|/alone.sh|\n").unwrap();
        assert!(odd.tasks().len() == 1 && odd.tasks()[0].script == "/a | b/job.sh", "{odd:?}");
    }

    #[test]
    fn runs_are_found_by_the_number_of_the_job_or_by_its_script() {
        let place = tempfile::tempdir().unwrap();
        let tasks = ["a", "b", "c", "d", "e"].map(|name| vec![name.parse::<RunName>().unwrap()]).to_vec();
        let mut submission = Submission::create(place.path(), tasks, "").unwrap();
        let script = submission.script().display().to_string();
        let names = |queue: &Queue, submission: &Submission| {
            let runs = queue.runs(std::slice::from_ref(submission));
            runs.keys().map(ToString::to_string).collect::<String>()
        };
        let queue = Queue::parse(RECORDED).unwrap();
        assert_eq!(names(&queue, &submission), "");
        let by_hand = Queue::parse(&RECORDED.replace("/tmp/grid/job.sh", &script)).unwrap();
        assert_eq!(names(&by_hand, &submission), "abcde");
        submission.submitted_as("15".into()).unwrap();
        assert_eq!(names(&queue, &submission), "abcde");
    }

    #[test]
    fn states_of_slurm() {
        assert!(is_active("RUNNING") && is_active("COMPLETING"));
        assert!(!is_active("PENDING") && !is_active("TIMEOUT") && !is_active(""));
    }
}
