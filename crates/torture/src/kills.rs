//! Kills and interrupts commands at random moments and system calls, several times, then lets them finish.

use std::path::Path;

use anyhow::Result;

use crate::{
    process::{Call, Exit, Kill, Status},
    random::Random,
    scenario::Reference,
    strace,
    table::CHILD_KILLED,
    tally::{Verdict, Wrong},
    workspace::Workspace,
};

const MOST_KILLS: usize = 5;

/// One trial: the number of kills, and the verdict.
pub fn trial(
    reference: &Reference,
    workspace: &Workspace,
    directory: &Path,
    random: &mut Random,
) -> Result<(usize, Verdict)> {
    let scenario = &reference.scenario;
    scenario.prepare(workspace, directory)?;
    let mut kills = 0;
    for _ in 0..=random.below(MOST_KILLS) {
        let exit = with_kill(reference, scenario.next(workspace, directory), random).run(directory)?;
        if was_killed(&exit) {
            kills += 1;
        } else if !exit.is_success() {
            let wrong = Verdict::of_failure(&exit).filter(Verdict::is_wrong);
            return Ok((kills, wrong.unwrap_or_else(|| Verdict::Wrong(Wrong::Stuck, exit.message().into()))));
        } else if scenario.is_over(directory) {
            return Ok((kills, reference.compare(directory, &exit)));
        }
    }
    let exit = scenario.finish(workspace, directory)?;
    Ok((kills, reference.judge(directory, &exit)))
}

/// By us; or a process that it had started was killed, and it says so.
fn was_killed(exit: &Exit) -> bool {
    let reported = exit.status == Status::Code(1) && exit.stderr.contains(CHILD_KILLED) && !exit.has_panicked();
    reported || matches!(exit.status, Status::Signal(2 | 9) | Status::Code(130))
}

fn with_kill(reference: &Reference, call: Call, random: &mut Random) -> Call {
    if !reference.system_calls.is_empty() && random.below(3) == 0 {
        let names: Vec<&String> = reference.system_calls.keys().collect();
        let name = *random.pick(&names);
        let number = 1 + random.below(reference.system_calls[name]);
        return strace::inject(call, name, &format!("signal=KILL:when={number}"));
    }
    let kill = *random.pick(&[Kill::PROCESS, Kill::PROCESS, Kill::GROUP, Kill::GROUP, Kill::INTERRUPT]);
    call.killed_after(reference.duration.mul_f64(random.fraction()), kill)
}
