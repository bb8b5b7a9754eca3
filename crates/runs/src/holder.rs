//! Who holds a directory: which process of which machine, in which Slurm job, and whether it still
//! lives.

use std::{fs, process::Command};

use serde::{Deserialize, Serialize};

/// A process that holds a directory, as it writes itself down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine's name, for people.
    pub host: String,
    /// What no two machines have in common, nor one before and after a restart, nor two containers
    /// of one. Where it is not known, nothing is known of other processes.
    pub machine: Option<String>,
    /// The process's number there.
    pub process: u32,
    /// When it was started, in ticks of the machine: its number may be another's by now.
    pub started: Option<u64>,
    /// Its Slurm job as `squeue --jobs` takes it: `12`, or `12_3` in an array.
    pub job: Option<String>,
    /// How often Slurm had begun that job again.
    #[serde(default)]
    pub restarts: u32,
    /// Whether it has let go.
    #[serde(default)]
    pub released: bool,
}

/// Whether a holder lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    /// It is on another machine, and no scheduler knows.
    Unknown,
}

/// Whether a job is running: none if nobody can say.
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

    /// Whether it lives, as `me` can tell.
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
            // Slurm ends a job before it begins it again.
            Some(_) if self.job == me.job && self.restarts < me.restarts => Life::Dead,
            Some(job) => match knows(job) {
                Some(true) => Life::Alive,
                Some(false) => Life::Dead,
                None => Life::Unknown,
            },
        }
    }
}

/// A name for this start of this machine, and for what of its processes can be seen.
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let processes = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), processes.display()))
}

/// When a process of this machine was started; none if there is none.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name in brackets, which may have anything in it: the third field and those after.
    let behind: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    // A process that has ended and was not waited for writes nothing any more.
    if matches!(behind.first(), Some(&("Z" | "X"))) {
        return None;
    }
    behind.get(19)?.parse().ok()
}

/// Asks Slurm whether a job is running, or on its way out: none if it cannot say.
pub fn slurm_knows(job: &str) -> Option<bool> {
    let asked = Command::new("squeue").args(["--noheader", "--jobs", job, "--format=%T"]).output().ok()?;
    let (said, error) = (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
    if asked.status.success() {
        Some(said.lines().any(|state| is_active(state.trim())))
    } else {
        error.contains("Invalid job id").then_some(false)
    }
}

/// Whether a job in a state, in Slurm's word for it, may have processes.
pub fn is_active(state: &str) -> bool {
    let states = ["RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"];
    states.contains(&state)
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
    fn on_this_machine_the_process_says_it() {
        let me = Holder { job: None, ..Holder::this_process() };
        let nobody_asks = |_: &str| unreachable!();
        assert_eq!(me.life(&me, &nobody_asks), Life::Alive);
        assert_eq!(Holder { released: true, ..me.clone() }.life(&me, &nobody_asks), Life::Dead);
        let earlier = Holder { started: me.started.map(|at| at - 1), ..me.clone() };
        assert_eq!(earlier.life(&me, &nobody_asks), Life::Dead, "its number is another's now");
        let mut child = Command::new("true").spawn().unwrap();
        let process = child.id();
        let ended = Holder { process, started: started(process), ..me.clone() };
        child.wait().unwrap();
        assert_eq!(ended.life(&me, &nobody_asks), Life::Dead);
    }

    #[test]
    fn on_another_machine_the_scheduler_says_it() {
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
    fn a_job_that_was_begun_again_is_not_its_own_rival() {
        let before = elsewhere("there", Some("12_3"));
        let me = Holder { restarts: 1, ..elsewhere("here", Some("12_3")) };
        assert_eq!(before.life(&me, &|_| Some(true)), Life::Dead);
        assert_eq!(me.life(&before, &|_| Some(true)), Life::Alive);
    }

    #[test]
    fn states_of_slurm() {
        assert!(is_active("RUNNING") && is_active("COMPLETING"));
        assert!(!is_active("PENDING") && !is_active("TIMEOUT") && !is_active(""));
    }
}
