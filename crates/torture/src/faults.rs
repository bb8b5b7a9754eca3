//! A disk that is full, fails or is interrupted: errors at random system calls (by strace), and
//! files that may not grow (by a limit, which makes short writes first).

use std::path::Path;

use anyhow::Result;

use crate::{dice::Dice, kills::finished, program::Call, scene::Rehearsed, stage::Stage, strace, tally::Verdict};

/// What the system may answer.
const ERRORS: &[(&str, &[&str])] = &[
    ("write", &["ENOSPC", "EIO", "EINTR", "EDQUOT"]),
    ("pwrite64", &["ENOSPC", "EIO", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("pread64", &["EIO", "EINTR"]),
    ("openat", &["ENOSPC", "EIO", "EACCES", "EMFILE", "EINTR"]),
    ("rename", &["ENOSPC", "EIO", "EXDEV"]),
    ("fsync", &["ENOSPC", "EIO", "EINTR"]),
    ("fdatasync", &["ENOSPC", "EIO"]),
    ("ftruncate", &["ENOSPC", "EIO", "EINTR"]),
    ("unlink", &["EIO", "EROFS"]),
    ("mkdir", &["ENOSPC", "EROFS"]),
    ("flock", &["ENOLCK", "EOPNOTSUPP", "EINTR"]),
    ("lseek", &["EIO"]),
    ("getdents64", &["EIO"]),
    ("statx", &["EIO", "EACCES"]),
];

/// One trial: whether there was a fault, and what came out of it and of the same command after it.
pub fn trial(rehearsed: &Rehearsed, stage: &Stage, place: &Path, dice: &mut Dice) -> Result<(usize, Verdict)> {
    rehearsed.scene.prepare(place)?;
    for _ in 0..dice.below(rehearsed.scene.calls()) {
        rehearsed.scene.next(stage, place).run(place)?;
    }
    let (call, lasting) = disturbed(rehearsed, rehearsed.scene.next(stage, place), dice);
    let what = call.text();
    let ending = call.run(place)?;
    let told = |why: &str| format!("{why} ({what})");
    let hurt = match Verdict::of_failure(&ending) {
        None => {
            let ending = if rehearsed.scene.is_over(place) { ending } else { rehearsed.finish(stage, place)? };
            return Ok((1, with(finished(rehearsed, place, &ending), told)));
        }
        // Where nothing can be written any more, nothing can be said.
        Some(Verdict::Mute(_)) if lasting && ending.errors.is_empty() => Verdict::Refused(String::new()),
        // Burn's matrix products ask `lscpu` for the caches, through a pipe. That the pipe fails, which
        // only we bring about, is a panic of the standard library.
        Some(Verdict::Panic(told)) if told.contains("library/std/src/sys/process/") => Verdict::Refused(told),
        Some(verdict) => verdict,
    };
    if hurt.wrong().is_some() {
        return Ok((1, with(hurt, told)));
    }
    let after = rehearsed.finish(stage, place)?;
    let verdict = finished(rehearsed, place, &after);
    Ok((1, if verdict == Verdict::Same { hurt } else { with(verdict, told) }))
}

/// With what was done.
fn with(verdict: Verdict, told: impl Fn(&str) -> String) -> Verdict {
    match verdict {
        Verdict::Another(why) => Verdict::Another(told(&why)),
        Verdict::Stuck(why) => Verdict::Stuck(told(&why)),
        Verdict::Mute(why) => Verdict::Mute(told(&why)),
        Verdict::Panic(why) => Verdict::Panic(told(&why)),
        Verdict::Signal(why) => Verdict::Signal(told(&why)),
        Verdict::Hang(why) => Verdict::Hang(told(&why)),
        verdict => verdict,
    }
}

/// A call that meets a fault, and whether the fault lasts.
fn disturbed(rehearsed: &Rehearsed, call: Call, dice: &mut Dice) -> (Call, bool) {
    let possible: Vec<_> = ERRORS.iter().filter(|(name, _)| rehearsed.calls.contains_key(*name)).collect();
    if possible.is_empty() || dice.below(5) == 0 {
        let blocks = dice.below(40);
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        return (call.through(["sh", "-c", &script, "sh"]), true);
    }
    let (name, errors) = **dice.one(&possible);
    let (error, number) = (*dice.one(errors), 1 + dice.below(rehearsed.calls[name]));
    // What is interrupted for ever may be tried for ever.
    let lasting = error != "EINTR" && dice.below(2) == 0;
    let when = if lasting { format!("{number}+") } else { number.to_string() };
    (strace::injected(call, name, &format!("error={error}:when={when}")), lasting)
}
