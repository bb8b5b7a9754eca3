//! Runs of a grid on this machine, several at a time, each in its own process.

use std::{collections::VecDeque, process::Command, time::Duration};

use rehearsal_runs::RunDirectory;

use crate::{
    Ending, Job, Plan, WorkerProgress,
    pool::{News, Pool},
};

/// How long to wait before looking again: whether another process has let go of a run, whether the user has asked to
/// stop.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How to run.
pub struct Schedule<'a> {
    /// How many runs at a time.
    pub jobs: usize,
    /// Whether the other runs go on if one fails.
    pub continue_on_error: bool,
    /// The command that does a run: a worker.
    pub command: &'a dyn Fn(&Job) -> Command,
    /// How often the user has asked to stop: once at checkpoints, twice at once.
    pub stop_requests: &'a dyn Fn() -> usize,
}

/// What happens.
pub enum Event<'a> {
    /// A run has started.
    Started(&'a Job),
    /// The run at this index has got further.
    Progress(usize, WorkerProgress),
    /// A run has ended.
    Ended(&'a Job, Ending),
    /// All runs that are left are held by other processes.
    OthersHoldTheRest,
    /// Runs are asked to stop at checkpoints, because the user asked for it.
    Stopping,
    /// Nothing, for a while.
    Nothing,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The runs that failed, by index, and why.
    pub failed: Vec<(usize, String)>,
    /// Whether runs were killed, because the user asked twice.
    pub killed: bool,
}

impl Schedule<'_> {
    /// Does the runs `waiting`, by index. A run that another process holds is left for later.
    pub fn run(&self, plan: &Plan, waiting: &[usize], mut tell: impl FnMut(Event)) -> Outcome {
        let (mut pool, mut queue) = (Pool::new(), waiting.iter().copied().collect::<VecDeque<_>>());
        let (mut outcome, mut stopping, mut told_of_others) = (Outcome::default(), false, false);
        loop {
            while !stopping && pool.running() < self.jobs {
                let Some(job) = next_free(plan, &mut queue) else { break };
                match pool.start(job, (self.command)(job)) {
                    Ok(()) => tell(Event::Started(job)),
                    Err(why) => {
                        outcome.failed.push((job.planned.index, why));
                        stopping |= !self.continue_on_error;
                    }
                }
            }
            if pool.running() == 0 {
                if stopping || queue.is_empty() {
                    return outcome;
                }
                if !std::mem::replace(&mut told_of_others, true) {
                    tell(Event::OthersHoldTheRest);
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            match pool.next() {
                None => tell(Event::Nothing),
                Some(News::Progress { index, progress }) => tell(Event::Progress(index, progress)),
                Some(News::Ended { index, status, said }) => {
                    let job = &plan.jobs[index];
                    // Ctrl-C goes to workers and grid at once: the grid may hear of it a moment later.
                    let was_killed = status.as_ref().is_ok_and(|status| status.code().is_none());
                    if was_killed && (self.stop_requests)() == 0 {
                        std::thread::sleep(LOOK_AGAIN);
                    }
                    let ending = Ending::new(status, &said, &job.log, stopping || (self.stop_requests)() > 0);
                    if let Ending::Failed(why) = &ending {
                        outcome.failed.push((index, why.clone()));
                        stopping |= !self.continue_on_error;
                    }
                    tell(Event::Ended(job, ending));
                }
            }
            if (self.stop_requests)() > 0 && !stopping {
                tell(Event::Stopping);
                stopping = true;
            }
            if stopping {
                pool.ask_to_stop();
            }
            if (self.stop_requests)() > 1 {
                pool.kill();
                outcome.killed = true;
                return outcome;
            }
        }
    }
}

/// The next run that no other process holds. If another process has finished it since, its worker has nothing to do.
fn next_free<'a>(plan: &'a Plan, queue: &mut VecDeque<usize>) -> Option<&'a Job> {
    let place = queue.iter().position(|&index| !RunDirectory::is_busy(&plan.jobs[index].directory))?;
    queue.remove(place).map(|index| &plan.jobs[index])
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{State, plan::tests::plan};

    fn three_seeds(place: &tempfile::TempDir) -> Plan {
        plan(place.path(), "[axes]\nseed = [0, 1, 2]\n")
    }

    /// Runs a grid of three seeds whose workers are shell scripts: what was told, and what came of it.
    fn run(plan: &Plan, continue_on_error: bool, script: &str) -> (Vec<String>, Outcome) {
        run_and(plan, continue_on_error, script, &|| 0, |_| ())
    }

    fn run_and(
        plan: &Plan,
        continue_on_error: bool,
        script: &str,
        stop_requests: &dyn Fn() -> usize,
        mut heard: impl FnMut(&str),
    ) -> (Vec<String>, Outcome) {
        let command = |job: &Job| {
            let mut command = Command::new("sh");
            command.args(["-c", script, "sh", &job.planned.index.to_string()]);
            command
        };
        let schedule = Schedule { jobs: 1, continue_on_error, command: &command, stop_requests };
        let mut told = Vec::new();
        let outcome = schedule.run(plan, &[0, 1, 2], |event| {
            let line = match event {
                Event::Started(job) => format!("{} started", job.planned.name),
                Event::Progress(index, progress) => format!("{index} at {}", progress.step),
                Event::Ended(job, ending) => format!("{} {ending:?}", job.planned.name),
                Event::OthersHoldTheRest => "others".into(),
                Event::Stopping => "stopping".into(),
                Event::Nothing => return,
            };
            heard(&line);
            told.push(line);
        });
        (told, outcome)
    }

    #[test]
    fn runs_are_done_in_order_and_tell_how_far_they_are() {
        let place = tempfile::tempdir().unwrap();
        let plan = three_seeds(&place);
        let (told, outcome) = run(&plan, false, r#"echo noise; echo '{"task":0,"step":7,"total":9}'"#);
        assert_eq!(outcome, Outcome::default());
        let of = |seed| [format!("seed{seed} started"), format!("{seed} at 7"), format!("seed{seed} Done")];
        assert_eq!(told, [of(0), of(1), of(2)].concat());
        assert!(plan.jobs.iter().all(|job| !job.log.exists()), "a run that is done has no log");
    }

    #[test]
    fn a_failure_ends_the_grid_unless_it_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let plan = three_seeds(&place);
        let script = "if [ $1 = 1 ]; then echo 'error: no luck' >&2; exit 1; fi";
        for (continue_on_error, started) in [(false, 2), (true, 3)] {
            let (told, outcome) = run(&plan, continue_on_error, script);
            assert_eq!(outcome, Outcome { failed: vec![(1, "no luck".into())], killed: false });
            assert_eq!(told.iter().filter(|line| line.ends_with(" started")).count(), started, "{told:?}");
            assert_eq!(State::read(&plan.jobs[1]), State::Failed("no luck".into()));
        }
        let (_, outcome) = run(&plan, true, "if [ $1 = 2 ]; then kill -KILL $$; fi; exit 130");
        assert!(matches!(&outcome.failed[..], [(2, why)] if why.contains("was killed")), "{outcome:?}");
        let none = Schedule {
            jobs: 1,
            continue_on_error: true,
            command: &|_| Command::new("/no/such/program"),
            stop_requests: &|| 0,
        };
        let outcome = none.run(&plan, &[0, 1], |_| ());
        assert!(outcome.failed.len() == 2 && outcome.failed[0].1.starts_with("a process cannot be started: "));
    }

    #[test]
    fn asked_once_it_stops_at_checkpoints_and_asked_twice_at_once() {
        let place = tempfile::tempdir().unwrap();
        let plan = three_seeds(&place);
        for (requests, script, expected) in [
            (1, "cat > /dev/null; exit 130", &["seed0 started", "stopping", "seed0 Stopped"][..]),
            (2, "exec sleep 60", &["seed0 started", "stopping"]),
        ] {
            let asked = Cell::new(0);
            let (told, outcome) = run_and(&plan, false, script, &|| asked.get(), |_| asked.set(requests));
            assert_eq!(told, expected);
            assert_eq!(outcome, Outcome { failed: Vec::new(), killed: requests == 2 });
        }
    }

    #[test]
    fn a_run_that_another_process_holds_is_left_for_later() {
        let place = tempfile::tempdir().unwrap();
        let plan = three_seeds(&place);
        let mut held = Some(RunDirectory::create(&plan.jobs[0].directory, "").unwrap());
        let (told, outcome) = run_and(&plan, false, "exit 0", &|| 0, |line| {
            if line == "others" {
                held = None;
            }
        });
        let order: Vec<&String> = told.iter().filter(|line| !line.ends_with("Done")).collect();
        assert_eq!(order, ["seed1 started", "seed2 started", "others", "seed0 started"]);
        assert_eq!(outcome, Outcome::default());
    }
}
