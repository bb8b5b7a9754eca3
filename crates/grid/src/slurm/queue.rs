//! What Slurm's queue says, in the two formats in which `squeue` is asked.

use std::{collections::BTreeMap, path::Path};

use rehearsal_runs::RunName;
use serde::Deserialize;
use serde_json::Value;

use super::Submission;

/// What `squeue` is asked for: one task on each line, a bar after each field. The script is last, because its path may
/// contain bars.
pub(crate) const PLAIN_FORMAT: &str = "--Format=ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|,NodeList:|,Command:|";

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
    name: Option<String>,
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
    /// Reads what `squeue --json` says. Numbers and states are plain in older versions, and tables
    /// and lists in newer ones.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let said: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self(said.jobs.iter().flat_map(Job::tasks).collect()))
    }

    /// Reads what `squeue` says in the plain format, a task on each line.
    ///
    /// # Errors
    /// A line is something else.
    pub fn from_plain(text: &str) -> Result<Self, String> {
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
                name: None,
            });
        }
        Ok(Self(tasks))
    }

    /// Only jobs of a name: some versions of `squeue --json` list all.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.0.retain(|task| task.name.as_deref().is_none_or(|of| of == name));
        self
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

#[derive(Deserialize)]
struct Json {
    jobs: Vec<Job>,
}

/// The fields of a job that matter here.
#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    array_job_id: Value,
    #[serde(default)]
    array_task_id: Value,
    #[serde(default)]
    array_task_string: Value,
    #[serde(default, rename = "job_state")]
    state: Value,
    #[serde(default)]
    nodes: Value,
    #[serde(default)]
    restart_cnt: Value,
    #[serde(default)]
    command: Value,
    #[serde(default)]
    name: Value,
}

impl Job {
    /// Its tasks; none if it is not of an array, or over.
    fn tasks(&self) -> Vec<QueuedTask> {
        let Some(job) = number(&self.array_job_id).filter(|&job| job > 0) else { return Vec::new() };
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        // Tasks that wait are listed together.
        let together = text(&self.array_task_string);
        let tasks = if together.is_empty() {
            number(&self.array_task_id).into_iter().map(|task| task as usize).collect()
        } else {
            members(&together)
        };
        let state = state(&self.state);
        if state != "PENDING" && !is_active(&state) {
            return Vec::new();
        }
        let task = |task: usize| QueuedTask {
            job: job.to_string(),
            task,
            state: state.clone(),
            node: Some(text(&self.nodes)).filter(|node| !node.is_empty()),
            restarts: number(&self.restart_cnt).unwrap_or(0),
            script: text(&self.command),
            name: Some(text(&self.name)).filter(|name| !name.is_empty()),
        };
        tasks.into_iter().map(task).collect()
    }
}

/// `12`, or `{"set": true, "infinite": false, "number": 12}`.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Object(table) if table.get("set") == Some(&Value::Bool(false)) => None,
        Value::Object(table) => table.get("number")?.as_u64(),
        plain => plain.as_u64(),
    }
}

/// `"RUNNING"`, or a list with flags behind the state. A job that runs and is about to end is
/// `COMPLETING`.
fn state(value: &Value) -> String {
    match value {
        Value::Array(states) if states.iter().any(|state| state == "COMPLETING") => "COMPLETING".into(),
        Value::Array(states) => states.first().and_then(Value::as_str).unwrap_or("").into(),
        plain => plain.as_str().unwrap_or("").into(),
    }
}

/// `0,2-4,8-12:2%5` as its numbers: the percent sign says how many at a time.
fn members(text: &str) -> Vec<usize> {
    let listed = text.split('%').next().unwrap_or("").trim_matches(['[', ']']);
    let part = |part: &str| {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let numbers = (first.trim().parse::<usize>(), last.trim().parse::<usize>(), step.trim().parse::<usize>());
        // No array is larger than Slurm's own largest.
        let (Ok(first), Ok(last @ ..4_000_000), Ok(step @ 1..)) = numbers else { return Vec::new() };
        (first..=last).step_by(step).collect()
    };
    listed.split(',').flat_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `squeue` of Slurm 22.05 said it of an array of five tasks, two at a time, of which the
    /// second was asked to stop; as JSON with the fields that are read, and two jobs of others.
    const PLAIN: &str = include_str!("recorded/squeue.txt");
    const JSON: &str = include_str!("recorded/squeue.json");
    /// In the form of Slurm 23.11 and later: numbers are tables, states lists.
    const NEWER: &str = r#"{"jobs": [
        {"array_job_id": {"set": true, "infinite": false, "number": 5}, "array_task_id": {"set": true, "infinite": false, "number": 0},
         "array_task_string": "", "job_state": ["RUNNING"], "nodes": "n1", "restart_cnt": 0, "command": "/grid/job.sh", "name": "rehearsal-a"},
        {"array_job_id": {"set": true, "infinite": false, "number": 5}, "array_task_id": {"set": false, "infinite": false, "number": 0},
         "array_task_string": "2-3%2", "job_state": ["PENDING"], "nodes": "", "restart_cnt": 0, "command": "/grid/job.sh", "name": "rehearsal-a"},
        {"array_job_id": {"set": true, "infinite": false, "number": 5}, "array_task_id": {"set": true, "infinite": false, "number": 1},
         "array_task_string": "", "job_state": ["RUNNING", "COMPLETING"], "nodes": "n2", "restart_cnt": 3, "command": "/grid/job.sh", "name": "rehearsal-a"},
        {"array_job_id": {"set": true, "infinite": false, "number": 4}, "array_task_id": {"set": true, "infinite": false, "number": 1},
         "array_task_string": "", "job_state": ["TIMEOUT"], "nodes": "n2", "restart_cnt": 3, "command": "/grid/job.sh", "name": "rehearsal-a"},
        {"array_job_id": {"set": false, "infinite": false, "number": 0}, "array_task_id": {"set": false, "infinite": false, "number": 0},
         "array_task_string": "", "job_state": ["RUNNING"], "nodes": "n2", "restart_cnt": 0, "command": "/else.sh", "name": "rehearsal-a"},
        {"array_job_id": {"set": true, "infinite": false, "number": 9}, "array_task_id": {"set": true, "infinite": false, "number": 0},
         "array_task_string": "", "job_state": ["RUNNING"], "nodes": "n2", "restart_cnt": 0, "command": "/else.sh", "name": "other"}
    ]}"#;

    fn told(queue: &Queue) -> Vec<(String, &str, Option<&str>, u64)> {
        let tasks = queue.tasks().iter();
        let mut told: Vec<_> =
            tasks.map(|task| (task.id(), task.state.as_str(), task.node.as_deref(), task.restarts)).collect();
        told.sort();
        told
    }

    #[test]
    fn both_ways_of_asking_say_the_same() {
        let expected = [
            ("15_0".to_owned(), "RUNNING", Some("vm"), 0),
            ("15_1".to_owned(), "PENDING", None, 1),
            ("15_2".to_owned(), "RUNNING", Some("vm"), 0),
            ("15_3".to_owned(), "PENDING", None, 0),
            ("15_4".to_owned(), "PENDING", None, 0),
        ];
        let (plain, json) = (Queue::from_plain(PLAIN).unwrap(), Queue::from_json(JSON).unwrap());
        assert_eq!((told(&plain), told(&json)), (expected.to_vec(), expected.to_vec()));
        assert!(plain.tasks().iter().chain(json.tasks()).all(|task| task.script == "/tmp/grid/job.sh"));
        let requeued: Vec<String> = json.tasks().iter().filter(|task| task.is_requeued()).map(QueuedTask::id).collect();
        assert_eq!(requeued, ["15_1"]);
        assert_eq!(Queue::from_plain("\n").unwrap(), Queue::default());
        assert!(Queue::from_plain("15|1|PENDING\n").unwrap_err().contains("not have six fields"));
        assert!(Queue::from_json("slurm_load_jobs error").is_err() && Queue::from_json("{}").is_err());
        let odd = Queue::from_plain("7|0|PENDING|0||/a | b/job.sh|\n8|N/A|RUNNING|0|n|/alone.sh|\n").unwrap();
        assert!(odd.tasks().len() == 1 && odd.tasks()[0].script == "/a | b/job.sh", "{odd:?}");
    }

    #[test]
    fn newer_versions_write_tables_and_lists() {
        let queue = Queue::from_json(NEWER).unwrap().named("rehearsal-a");
        assert_eq!(
            told(&queue),
            [
                ("5_0".to_owned(), "RUNNING", Some("n1"), 0),
                ("5_1".to_owned(), "COMPLETING", Some("n2"), 3),
                ("5_2".to_owned(), "PENDING", None, 0),
                ("5_3".to_owned(), "PENDING", None, 0),
            ]
        );
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
        let queue = Queue::from_plain(PLAIN).unwrap();
        assert_eq!(names(&queue, &submission), "");
        let by_hand = Queue::from_plain(&PLAIN.replace("/tmp/grid/job.sh", &script)).unwrap();
        assert_eq!(names(&by_hand, &submission), "abcde");
        submission.submitted_as("15".into()).unwrap();
        assert_eq!(names(&queue, &submission), "abcde");
    }

    #[test]
    fn states_of_slurm() {
        assert!(is_active("RUNNING") && is_active("COMPLETING"));
        assert!(!is_active("PENDING") && !is_active("TIMEOUT") && !is_active(""));
    }

    #[test]
    fn members_of_an_array() {
        assert_eq!(members("0,2-4,8-12:2%5"), [0, 2, 3, 4, 8, 10, 12]);
        assert_eq!(members("[7]"), [7]);
        assert_eq!(members("N/A"), [0; 0]);
        assert_eq!(members("0-99999999999"), [0; 0]);
    }
}
