//! Starts the real binary as a user does: with a time limit, and killed on the way if that is wanted.

use std::{
    fs::{self, File},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::table::PANIC;

/// A command that takes longer hangs: nothing here takes as long, even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_mins(10);
/// Kilobytes of address space: more than anything here needs, less than fills a machine.
const MEMORY_LIMIT: u64 = 4_000_000;

/// A command: a program and its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    pub words: Vec<String>,
    time_limit: Duration,
    kill: Option<(Duration, Kill)>,
}

/// How a command is stopped: whether with all processes that it started, and by which signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kill(bool, &'static str);

impl Kill {
    pub const PROCESS: Self = Self(false, "KILL");
    pub const GROUP: Self = Self(true, "KILL");
    /// As by Ctrl-C.
    pub const INTERRUPT: Self = Self(true, "INT");

    pub fn send(self, process: u32) -> Result<()> {
        let script = format!("kill -s {} -- {}{process}", self.1, if self.0 { "-" } else { "" });
        // A process that has ended is not an error.
        Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().context("sh cannot be run")?;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug)]
pub struct Exit {
    pub status: Status,
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub duration: Duration,
}

impl Call {
    pub fn new(words: Vec<String>) -> Self {
        Self { words, time_limit: TIME_LIMIT, kill: None }
    }

    /// The same command, started by another program.
    pub fn through(mut self, wrapper: &[&str]) -> Self {
        self.words.splice(..0, wrapper.iter().map(|&word| word.to_owned()));
        self
    }

    /// Stopped after some time, unless it has ended.
    pub fn killed_after(mut self, time: Duration, kill: Kill) -> Self {
        self.kill = Some((time, kill));
        self
    }

    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Runs it in a directory. Downloaded data sets are in `data` there.
    pub fn run(&self, directory: &Path) -> Result<Exit> {
        let output = output_directory(directory);
        fs::create_dir_all(&output)?;
        let (stdout, stderr) = (output.join("stdout"), output.join("stderr"));
        let started = Instant::now();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY_LIMIT}; exec \"$@\"")).arg("sh").args(&self.words);
        command.current_dir(directory).env("REHEARSAL_DATA", directory.join("data")).process_group(0);
        command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let status = self.wait(&mut command.spawn().with_context(|| self.text())?, started)?;
        let duration = started.elapsed();
        let stderr = String::from_utf8_lossy(&fs::read(stderr)?).into_owned();
        Ok(Exit { status, stdout: fs::read(stdout)?, stderr, duration })
    }

    /// Runs it where it must succeed.
    pub fn succeed(&self, directory: &Path) -> Result<Exit> {
        let exit = self.run(directory)?;
        anyhow::ensure!(exit.is_success(), "{}, undisturbed: {:?}: {}", self.text(), exit.status, exit.stderr);
        Ok(exit)
    }

    fn wait(&self, child: &mut Child, started: Instant) -> Result<Status> {
        let mut kill = self.kill;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.code().map_or(Status::Signal(status.signal().unwrap_or(0)), Status::Code));
            }
            let (now, pause) = (started.elapsed(), Duration::from_micros(500));
            match kill {
                Some((time, how)) if now >= time => {
                    how.send(child.id())?;
                    kill = None;
                }
                Some((time, _)) => thread::sleep(pause.min(time.saturating_sub(now))),
                None if now >= self.time_limit => {
                    Kill::GROUP.send(child.id())?;
                    child.wait()?;
                    return Ok(Status::TimedOut);
                }
                None => thread::sleep(pause),
            }
        }
    }
}

/// Where the output of a directory's commands is: beside it, so that the directory has only the program's files.
pub fn output_directory(directory: &Path) -> std::path::PathBuf {
    directory.with_added_extension("output")
}

impl Exit {
    pub fn is_success(&self) -> bool {
        self.status == Status::Code(0)
    }

    /// The last line of standard error.
    pub fn message(&self) -> &str {
        self.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("")
    }

    pub fn has_panicked(&self) -> bool {
        self.status == Status::Code(101) || self.stderr.contains(PANIC)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call::new(["sh", "-c", script].map(Into::into).into())
    }

    #[test]
    fn exit_codes_signals_timeouts_and_panics_are_told_apart() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("trial");
        fs::create_dir(&directory).unwrap();
        let (run, soon) = (|call: Call| call.run(&directory).unwrap(), Duration::from_millis(20));
        assert_eq!(run(shell("exit 2")).status, Status::Code(2));
        assert_eq!(run(shell("kill -s ABRT $$")).status, Status::Signal(6));
        assert_eq!(run(shell("sleep 9").killed_after(soon, Kill::PROCESS)).status, Status::Signal(9));
        assert_eq!(run(shell("sleep 9 & wait").killed_after(soon, Kill::GROUP)).status, Status::Signal(9));
        assert_eq!(run(Call { time_limit: soon, ..shell("sleep 9") }).status, Status::TimedOut);
        let panicked = run(shell("echo first; echo \"thread 'main' panicked at x\" >&2; exit 1"));
        assert!(panicked.has_panicked());
        assert_eq!(panicked.stdout, b"first\n");
        assert_eq!(run(shell("printf 'a\\nerror: b\\n\\n' >&2")).message(), "error: b");
    }
}
