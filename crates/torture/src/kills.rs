//! Killed, or asked to stop, at random moments and at random system calls, again and again, then left
//! to finish.

use std::{path::Path, time::Duration};

use anyhow::Result;

use crate::{
    dice::Dice,
    program::{Call, Ended, Ending, Whom},
    scene::Rehearsed,
    stage::Stage,
    strace,
    tally::Verdict,
};

/// At most so many kills in one trial.
const MOST: usize = 5;

/// One trial: how often it was killed, and what came out.
pub fn trial(rehearsed: &Rehearsed, stage: &Stage, place: &Path, dice: &mut Dice) -> Result<(usize, Verdict)> {
    rehearsed.scene.prepare(place)?;
    let (planned, mut kills) = (1 + dice.below(MOST), 0);
    for _ in 0..planned {
        let call = disturbed(rehearsed, rehearsed.scene.next(stage, place), dice);
        let ending = call.run(place)?;
        if was_killed(&ending) {
            kills += 1;
        } else if ending.is_done() && !rehearsed.scene.is_over(place) {
            // What a user types next may be killed, too.
        } else if ending.is_done() {
            return Ok((kills, compared(rehearsed, place, &ending)));
        } else {
            let why = Verdict::of_failure(&ending).filter(|verdict| verdict.wrong().is_some());
            return Ok((kills, why.unwrap_or_else(|| Verdict::Stuck(ending.sentence().into()))));
        }
    }
    let ending = rehearsed.finish(stage, place)?;
    Ok((kills, finished(rehearsed, place, &ending)))
}

/// What an undisturbed call must come to, after disturbed ones.
pub fn finished(rehearsed: &Rehearsed, place: &Path, ending: &Ending) -> Verdict {
    match Verdict::of_failure(ending) {
        None => compared(rehearsed, place, ending),
        Some(Verdict::Refused(why)) => Verdict::Stuck(why),
        Some(verdict) => verdict,
    }
}

fn compared(rehearsed: &Rehearsed, place: &Path, ending: &Ending) -> Verdict {
    rehearsed.compare(place, ending).map_or(Verdict::Same, Verdict::Another)
}

/// By us; or a process that it had started was, and it says so.
fn was_killed(ending: &Ending) -> bool {
    let told = ending.ended == Ended::Code(1) && ending.errors.contains("signal: 9");
    matches!(ending.ended, Ended::Signal(2 | 9) | Ended::Code(130)) || told && !ending.has_panicked()
}

fn disturbed(rehearsed: &Rehearsed, call: Call, dice: &mut Dice) -> Call {
    if !rehearsed.calls.is_empty() && dice.below(3) == 0 {
        let names: Vec<&String> = rehearsed.calls.keys().collect();
        let name = names[dice.below(names.len())];
        let number = 1 + dice.below(rehearsed.calls[name]);
        return strace::injected(call, name, &format!("signal=KILL:when={number}"));
    }
    let whom = *dice.one(&[Whom::Process, Whom::Process, Whom::Group, Whom::Group, Whom::Asked]);
    call.killed_after(Duration::from_secs_f64(rehearsed.lasts.as_secs_f64() * dice.share()), whom)
}
