//! The real binary as a user starts it: with a time limit, and killed in the middle if that is
//! wanted.

use std::{
    ffi::OsString,
    fs::{self, File},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// Longer than anything here takes, however busy the machine is: what lasts longer hangs.
const LIMIT: Duration = Duration::from_mins(10);
/// Kilobytes of address space: more than anything here needs, less than fills a machine.
const MEMORY: u64 = 4_000_000;

/// One call of the binary.
#[derive(Clone, Debug)]
pub struct Call {
    binary: PathBuf,
    wrapper: Vec<OsString>,
    arguments: Vec<OsString>,
    limit: Duration,
    kill: Option<(Duration, Whom)>,
}

/// Who is killed, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whom {
    /// The process, as by `kill -9`.
    Process,
    /// It and all that it started.
    Group,
    /// Nobody: it and all that it started are asked to stop, as by Ctrl-C.
    Asked,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Not within its time.
    Hung,
}

/// How a call ended, and what it said.
#[derive(Clone, Debug)]
pub struct Ending {
    pub ended: Ended,
    pub out: Vec<u8>,
    pub errors: String,
    pub lasted: Duration,
}

impl Call {
    pub fn new<I: IntoIterator<Item: Into<OsString>>>(binary: &Path, arguments: I) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { binary: binary.into(), wrapper: Vec::new(), arguments, limit: LIMIT, kill: None }
    }

    /// Through another program, which gets this call as its last arguments.
    pub fn through<I: IntoIterator<Item: Into<OsString>>>(mut self, wrapper: I) -> Self {
        self.wrapper = wrapper.into_iter().map(Into::into).collect();
        self
    }

    /// Killed after some time, unless it has ended.
    pub fn killed_after(mut self, time: Duration, whom: Whom) -> Self {
        self.kill = Some((time, whom));
        self
    }

    #[cfg(test)]
    fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Its first word: `learn`, `run`.
    pub fn verb(&self) -> &str {
        self.arguments.first().and_then(|word| word.to_str()).unwrap_or("")
    }

    /// What a user would type.
    pub fn text(&self) -> String {
        let binary = self.binary.as_os_str().to_owned();
        let words = self.wrapper.iter().chain([&binary]).chain(&self.arguments);
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    /// Runs it in a directory; its data are at home in `data` there.
    pub fn run(&self, directory: &Path) -> Result<Ending> {
        let said = directory.with_added_extension("said");
        fs::create_dir_all(&said)?;
        let (out, errors) = (said.join("out"), said.join("errors"));
        let begun = Instant::now();
        let mut child = self.command(directory, File::create(&out)?, File::create(&errors)?).spawn();
        let child = child.as_mut().map_err(|error| anyhow::anyhow!("{}: {error}", self.text()))?;
        let ended = self.wait(child, begun)?;
        Ok(Ending {
            ended,
            out: fs::read(out)?,
            errors: String::from_utf8_lossy(&fs::read(errors)?).into_owned(),
            lasted: begun.elapsed(),
        })
    }

    fn command(&self, directory: &Path, out: File, errors: File) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY}; exec \"$@\"")).arg("sh");
        command.args(&self.wrapper).arg(&self.binary).args(&self.arguments);
        command.current_dir(directory).env("REHEARSAL_DATA", directory.join("data"));
        command.stdin(Stdio::null()).stdout(out).stderr(errors).process_group(0);
        command
    }

    fn wait(&self, child: &mut Child, begun: Instant) -> Result<Ended> {
        let mut kill = self.kill;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status));
            }
            let (now, pause) = (begun.elapsed(), Duration::from_micros(500));
            match kill {
                Some((time, whom)) if now >= time => {
                    kill_now(child, whom)?;
                    kill = None;
                }
                Some((time, _)) => thread::sleep(pause.min(time.saturating_sub(now))),
                None if now >= self.limit => {
                    kill_now(child, Whom::Group)?;
                    child.wait()?;
                    return Ok(Ended::Hung);
                }
                None => thread::sleep(pause),
            }
        }
    }
}

fn kill_now(child: &mut Child, whom: Whom) -> Result<()> {
    match whom {
        Whom::Process => child.kill().context("it cannot be killed"),
        Whom::Group => signal(&format!("-{}", child.id()), "KILL"),
        Whom::Asked => signal(&format!("-{}", child.id()), "INT"),
    }
}

/// Sends a signal to a process, or, with a minus, to a group. One that has gone needs none.
pub fn signal(to: &str, name: &str) -> Result<()> {
    let script = format!("kill -s {name} -- {to}");
    Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().context("sh cannot be run")?;
    Ok(())
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Signal(0),
    }
}

impl Ending {
    pub fn is_done(&self) -> bool {
        self.ended == Ended::Code(0)
    }

    /// The last line that it said.
    pub fn sentence(&self) -> &str {
        self.errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("")
    }

    /// Whether it broke down instead of saying what is wrong.
    pub fn has_panicked(&self) -> bool {
        self.ended == Ended::Code(101) || self.errors.contains("panicked at")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call::new(Path::new("sh"), ["-c", script])
    }

    #[test]
    fn endings_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("place");
        fs::create_dir(&place).unwrap();
        let end = |call: Call| call.run(&place).unwrap();
        assert_eq!(end(shell("exit 2")).ended, Ended::Code(2));
        assert_eq!(end(shell("kill -s ABRT $$")).ended, Ended::Signal(6));
        let killed = shell("sleep 9").killed_after(Duration::from_millis(20), Whom::Process);
        assert_eq!(end(killed).ended, Ended::Signal(9));
        let whole = shell("sleep 9 & wait").killed_after(Duration::from_millis(20), Whom::Group);
        assert_eq!(end(whole).ended, Ended::Signal(9));
        assert_eq!(end(shell("sleep 9").within(Duration::from_millis(20))).ended, Ended::Hung);
        let panicked = end(shell("echo first; echo \"thread 'main' panicked at x\" >&2; exit 1"));
        assert!(panicked.has_panicked() && panicked.out == b"first\n", "{panicked:?}");
        assert_eq!(end(shell("printf 'a\\nerror: b\\n\\n' >&2")).sentence(), "error: b");
    }
}
