//! A disk that is full, fails or is interrupted: errors at random system calls (by strace), and a limit on the size of
//! files, which makes short writes first.

use std::path::Path;

use anyhow::Result;

use crate::{
    process::Call,
    random::Random,
    scenario::Reference,
    strace,
    table::PANIC_OF_STD,
    tally::{Verdict, Wrong},
    workspace::Workspace,
};

/// The errors of each system call.
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

/// One trial: the command with a fault, then the same command without it.
pub fn trial(reference: &Reference, workspace: &Workspace, directory: &Path, random: &mut Random) -> Result<Verdict> {
    let scenario = &reference.scenario;
    scenario.prepare(workspace, directory)?;
    for _ in 0..random.below(scenario.steps) {
        scenario.next(workspace, directory).run(directory)?;
    }
    let (call, lasting) = with_fault(reference, scenario.next(workspace, directory), random);
    let exit = call.run(directory)?;
    let failure = match Verdict::of_failure(&exit) {
        None if scenario.is_over(directory) => return Ok(reference.judge(directory, &exit).after(&call.text())),
        None => Verdict::Same,
        // If nothing can be written, a message cannot be written.
        Some(Verdict::Wrong(Wrong::NoMessage, _)) if lasting && exit.stderr.is_empty() => {
            Verdict::Refused(String::new())
        }
        Some(Verdict::Wrong(Wrong::Panic, why)) if why.contains(PANIC_OF_STD) => Verdict::Refused(why),
        Some(verdict) => verdict,
    };
    if failure.is_wrong() {
        return Ok(failure.after(&call.text()));
    }
    let exit = scenario.finish(workspace, directory)?;
    let verdict = reference.judge(directory, &exit);
    Ok(if verdict == Verdict::Same { failure } else { verdict.after(&call.text()) })
}

/// A command that meets a fault, and whether the fault lasts.
fn with_fault(reference: &Reference, call: Call, random: &mut Random) -> (Call, bool) {
    let possible: Vec<_> = ERRORS.iter().filter(|(name, _)| reference.system_calls.contains_key(*name)).collect();
    if possible.is_empty() || random.below(5) == 0 {
        let blocks = random.below(40);
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        return (call.through(&["sh", "-c", &script, "sh"]), true);
    }
    let (name, errors) = **random.pick(&possible);
    let (error, number) = (*random.pick(errors), 1 + random.below(reference.system_calls[name]));
    // A call that is interrupted every time may be repeated for ever.
    let lasting = error != "EINTR" && random.below(2) == 0;
    let when = if lasting { format!("{number}+") } else { number.to_string() };
    (strace::inject(call, name, &format!("error={error}:when={when}")), lasting)
}
