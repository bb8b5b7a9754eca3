//! Which process holds a directory, on which machine, in which Slurm job, and whether it is still alive.

use std::{fs, sync::OnceLock};

use serde::{Deserialize, Serialize};

/// A process that holds a directory, as it describes itself in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine's name, to print.
    pub host: String,
    /// A name that differs between machines, restarts of a machine, and its containers. `None` if it is unknown; then
    /// this process cannot tell whether others on the machine are alive.
    pub machine: Option<String>,
    /// The process ID on that machine.
    pub process: u32,
    /// When the process was started, in the machine's ticks: a later process may have the same ID.
    pub started: Option<u64>,
    /// Its Slurm job as `squeue --jobs` takes it: `12`, or `12_3` in an array.
    pub job: Option<String>,
    /// How often Slurm had restarted that job.
    #[serde(default)]
    pub restarts: u32,
    /// Whether it has released the directory.
    #[serde(default)]
    pub released: bool,
}

/// Whether a holder is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    /// It is on another machine, and the scheduler does not know.
    Unknown,
}

/// Says whether a job is running; `None` if that is unknown.
pub(crate) type Knows<'a> = &'a dyn Fn(&str) -> Option<bool>;

impl Holder {
    /// This process.
    pub fn this_process() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let job = match (set("SLURM_ARRAY_JOB_ID"), set("SLURM_ARRAY_TASK_ID")) {
            (Some(array), Some(task)) => Some(format!("{array}_{task}")),
            _ => set("SLURM_JOB_ID"),
        };
        let process = std::process::id();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
        Self {
            host: host.or_else(|| set("HOSTNAME")).or_else(|| set("COMPUTERNAME")).unwrap_or_else(|| "?".into()),
            machine: machine(),
            process,
            started: started(process),
            job,
            restarts: set("SLURM_RESTART_COUNT").and_then(|count| count.parse().ok()).unwrap_or(0),
            released: false,
        }
    }

    /// Whether it is alive, as far as `me` can know.
    pub(crate) fn life(&self, me: &Self, knows: Knows) -> Life {
        if self.released {
            return Life::Dead;
        }
        if self.machine.is_some() && self.machine == me.machine {
            let same = self.started.is_some() && started(self.process) == self.started;
            return if same { Life::Alive } else { Life::Dead };
        }
        match &self.job {
            None => Life::Unknown,
            // Slurm ends a job before it restarts it.
            Some(_) if self.job == me.job && self.restarts < me.restarts => Life::Dead,
            Some(job) => match knows(job) {
                Some(true) => Life::Alive,
                Some(false) => Life::Dead,
                None => Life::Unknown,
            },
        }
    }
}

/// A name for this boot of this machine and its process namespace.
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let processes = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), processes.display()))
}

/// When a process of this machine was started; `None` if there is no such process.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name in brackets, which may contain anything, come the third field and the others.
    let behind: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    // A zombie writes nothing any more.
    if matches!(behind.first(), Some(&("Z" | "X"))) {
        return None;
    }
    behind.get(19)?.parse().ok()
}

/// Asks the cluster's scheduler whether a job is running; `None` if the scheduler cannot say.
static JOB_LOOKUP: OnceLock<fn(&str) -> Option<bool>> = OnceLock::new();

/// Sets, once in a program, the function that asks the cluster's scheduler whether a job is running. Without it, the
/// state of processes on other machines is unknown, and a directory that one of them held is not taken over.
pub fn set_job_lookup(is_running: fn(&str) -> Option<bool>) {
    // Later calls have no effect.
    let _ = JOB_LOOKUP.set(is_running);
}

pub(crate) fn slurm_knows(job: &str) -> Option<bool> {
    JOB_LOOKUP.get().and_then(|is_running| is_running(job))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A process of a job on another machine.
    pub(crate) fn elsewhere(host: &str, job: Option<&str>) -> Holder {
        Holder {
            host: host.into(),
            machine: Some(format!("boot of {host}")),
            process: 1,
            started: Some(1),
            job: job.map(str::to_owned),
            restarts: 0,
            released: false,
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_of_this_machine_is_looked_up() {
        let me = Holder { job: None, ..Holder::this_process() };
        let nobody_asks = |_: &str| unreachable!();
        assert_eq!(me.life(&me, &nobody_asks), Life::Alive);
        assert_eq!(Holder { released: true, ..me.clone() }.life(&me, &nobody_asks), Life::Dead);
        let earlier = Holder { started: me.started.map(|at| at - 1), ..me.clone() };
        assert_eq!(earlier.life(&me, &nobody_asks), Life::Dead, "another process has its ID now");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = child.id();
        let ended = Holder { process, started: started(process), ..me.clone() };
        child.wait().unwrap();
        assert_eq!(ended.life(&me, &nobody_asks), Life::Dead);
    }

    #[test]
    fn the_scheduler_is_asked_about_a_process_of_another_machine() {
        let me = elsewhere("here", Some("12_3"));
        let other = elsewhere("there", Some("12_4"));
        for (told, life) in [(Some(true), Life::Alive), (Some(false), Life::Dead), (None, Life::Unknown)] {
            let knows = |job: &str| {
                assert_eq!(job, "12_4");
                told
            };
            assert_eq!(other.life(&me, &knows), life);
        }
        assert_eq!(elsewhere("there", None).life(&me, &|_| unreachable!()), Life::Unknown);
    }

    #[test]
    fn a_restarted_job_takes_over_from_itself() {
        let before = elsewhere("there", Some("12_3"));
        let me = Holder { restarts: 1, ..elsewhere("here", Some("12_3")) };
        assert_eq!(before.life(&me, &|_| Some(true)), Life::Dead);
        assert_eq!(me.life(&before, &|_| Some(true)), Life::Alive);
    }

    #[test]
    fn without_a_scheduler_jobs_are_unknown() {
        assert_eq!(slurm_knows("12_3"), None);
        set_job_lookup(|job| Some(job == "12_3"));
        assert_eq!((slurm_knows("12_3"), slurm_knows("12_4")), (Some(true), Some(false)));
    }
}
