//! `rehearsal grid submit` and what goes with it, with commands in the place of Slurm's that write
//! down what they are asked. A real Slurm: `scripts/slurm_check.sh`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, rehearsal, text};

const GRID: &str = "[fixed]\nclasses = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 10\nepochs = 4\nbackbone = 'tiny'\nwidth = 4\n\
                    memory = 25\ncandidates = 12\n[axes]\nseed = [0, 1]\nretrieval = ['random', 'balanced']\n";

/// A directory with a grid, and a Slurm of shell scripts, whose queue is the file `queue`.
struct Cluster {
    directory: TempDir,
}

impl Cluster {
    fn new() -> Self {
        let cluster = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(cluster.path("bin")).unwrap();
        fs::write(cluster.path("small.toml"), GRID).unwrap();
        fs::write(cluster.path("queue"), "").unwrap();
        // Slow, so that two who do not keep each other away meet.
        cluster.command("sbatch", "[ \"$1\" = --version ] && exit; sleep 0.5; echo \"$2\" >> submitted; echo 42");
        cluster.command("squeue", "case \"$*\" in *%T*) cat state;; *) cat queue;; esac");
        cluster.command("scancel", "echo \"$@\" > cancelled");
        cluster.command("scontrol", "echo \"$@\" >> asked");
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Puts a command in the place of one of Slurm's.
    fn command(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\ncd '{}'\n{script}\n", self.directory.path().display())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn search_path(&self) -> String {
        format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap())
    }

    fn grid(&self, arguments: &[&str]) -> Command {
        let mut command = rehearsal(self.directory.path(), &[&["grid"], arguments].concat());
        command.env("PATH", self.search_path());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.grid(arguments).output().unwrap()
    }

    fn states(&self) -> Vec<String> {
        let status = self.output(&["status", "small.toml", "--json"]);
        let state = |line: &str| serde_json::from_str::<Value>(line).unwrap()["state"].as_str().unwrap().to_owned();
        text(&status.stdout).lines().map(state).collect()
    }

    /// A task of the script, as Slurm would start it.
    fn task(&self, script: &Path, task: usize) -> Command {
        let mut command = Command::new("bash");
        command.arg(script).current_dir(self.directory.path()).env("PATH", self.search_path()).stdin(Stdio::null());
        command.env("SLURM_ARRAY_JOB_ID", "42").env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_JOB_ID", "43");
        command
    }
}

fn script(cluster: &Cluster) -> PathBuf {
    cluster.path("runs/small/slurm/1/job.sh")
}

#[test]
fn two_submits_at_once_do_no_run_twice() {
    let cluster = Cluster::new();
    // What is submitted is queued.
    let queue = "[ \"$1\" = --version ] && exit; sleep 0.5; for i in 0 1 2 3; do echo \"42|$i|PENDING|0||$2|\" >> queue; done; echo 42";
    cluster.command("sbatch", queue);
    let start = || {
        let mut submit = cluster.grid(&["submit", "small.toml", "--chunk", "1"]);
        submit.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
    assert!(both.iter().all(|submit| submit.status.success()), "{}", text(&both[0].stderr));
    let jobs: Vec<&str> = both.iter().map(|submit| text(&submit.stdout)).filter(|said| !said.is_empty()).collect();
    assert_eq!(jobs, ["42\n"], "one of them submits");
    let said = both.iter().map(|submit| text(&submit.stderr)).collect::<String>();
    assert!(said.contains("left out, because running or queued already: 4 runs"), "{said}");
    assert!(said.contains("there is nothing to submit") && said.contains("4 runs in 4 tasks of job 42"), "{said}");
    assert!(!cluster.path("runs/small/slurm/2").exists());
    assert_eq!(cluster.states(), ["queued"; 4]);

    // Submitted by hand, or by a process that was killed: the job is known by its script.
    let record = cluster.path("runs/small/slurm/1/submission.json");
    fs::write(&record, fs::read_to_string(&record).unwrap().replace("\"42\"", "null")).unwrap();
    let script = fs::canonicalize(script(&cluster)).unwrap();
    let others = format!(
        "7|0|PENDING|0||{0}|\n7|1|PENDING|2||{0}|\n7|2|RUNNING|0|n1|{0}|\n8|3|PENDING|0||/else/job.sh|\n",
        script.display()
    );
    fs::write(cluster.path("queue"), others).unwrap();
    assert_eq!(cluster.states(), ["queued", "requeued", "queued", "left"]);
    let cancel = cluster.output(&["cancel", "small.toml"]);
    assert!(text(&cancel.stderr).contains("cancelled job 7 with 3 tasks"), "{}", text(&cancel.stderr));
    assert_eq!(fs::read_to_string(cluster.path("cancelled")).unwrap(), "7\n");
}

#[test]
fn without_slurm_there_is_a_script_and_the_files_say_the_rest() {
    let cluster = Cluster::new();
    for name in ["sbatch", "squeue", "scancel", "scontrol"] {
        fs::remove_file(cluster.path("bin").join(name)).unwrap();
    }
    // Where a real Slurm is installed it is not meant here.
    let on_path = |arguments: &[&str]| cluster.grid(arguments).env("PATH", cluster.path("bin")).output().unwrap();
    let refused = on_path(&["submit", "small.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("Slurm is not installed here: `sbatch` is not on the path"),
        "{}",
        text(&refused.stderr)
    );
    assert!(!cluster.path("runs").exists(), "nothing is written");

    let written = on_path(&["submit", "small.toml", "--chunk", "2", "--script-only"]);
    assert_eq!(text(&written.stdout).trim_end(), script(&cluster).to_str().unwrap(), "{}", text(&written.stderr));
    assert!(Command::new("bash").arg("-n").arg(script(&cluster)).status().unwrap().success());
    let status = on_path(&["status", "small.toml"]);
    assert!(status.status.success() && text(&status.stdout).contains("4 runs: 4 left"), "{}", text(&status.stdout));
    let wait = on_path(&["wait", "small.toml"]);
    assert_eq!(wait.status.code(), Some(1));
    assert!(text(&wait.stderr).contains("nothing is running or queued"), "{}", text(&wait.stderr));
    let logs = on_path(&["logs", "small.toml", "random-seed1"]);
    assert!(logs.status.success() && text(&logs.stderr).contains("random-seed1 has no log"));
    let cancel = on_path(&["cancel", "small.toml"]);
    assert!(cancel.status.success() && text(&cancel.stderr).contains("nothing of runs/small is queued"));
}

#[test]
fn mistakes_and_refusals_are_told_and_leave_nothing() {
    let cluster = Cluster::new();
    let refused = |arguments: &[&str], why: &str| {
        let output = cluster.output(&[&["submit", "small.toml", "--chunk", "1"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    };
    refused(&["--time", "soon"], "`soon` is not a time: write minutes");
    refused(&["--time", "2"], "a time limit of 2 is too short for a warning 120 seconds before its end");
    refused(&["--only", "seed=9"], "no run of the grid has seed=9");
    refused(&["--", "--array=0-9"], "`--array` is set by this program and cannot be given");
    assert!(!cluster.path("runs").exists());
    let unknown = cluster.output(&["logs", "small.toml", "nobody"]);
    assert!(unknown.status.code() == Some(2) && text(&unknown.stderr).contains("no run of the grid is called nobody"));
    cluster.command(
        "sbatch",
        "[ \"$1\" = --version ] && exit; echo 'sbatch: error: invalid partition specified: x' >&2; exit 1",
    );
    refused(&["--partition", "x"], "sbatch: sbatch: error: invalid partition specified: x");
    assert!(!cluster.path("runs/small/slurm/1").exists());
    cluster.command("sbatch", "echo 42");
    assert!(cluster.output(&["submit", "small.toml", "--chunk", "1"]).status.success());
    cluster.command("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
    refused(&[], "Unable to contact slurm controller");
    let status = cluster.output(&["status", "small.toml"]);
    assert!(text(&status.stderr).contains("squeue: ") && status.status.success());
}

/// Asks a process to stop.
fn terminate(process: u32) {
    assert!(Command::new("sh").args(["-c", &format!("kill -TERM {process}")]).status().unwrap().success());
}

#[test]
fn a_task_that_is_asked_to_stop_saves_its_run_and_asks_to_be_queued_again() {
    let cluster = Cluster::new();
    fs::write(cluster.path("small.toml"), GRID.replace("epochs = 4", "epochs = 40")).unwrap();
    assert!(cluster.output(&["submit", "small.toml", "--chunk", "2", "--cpus", "1"]).status.success());
    let run = cluster.path("runs/small/random-seed0");
    let stop = |state: &str| {
        fs::write(cluster.path("state"), format!("{state}\n")).unwrap();
        let mut task =
            cluster.task(&script(&cluster), 0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It has begun, and writes.
        while rehearsal_runs::RunDirectory::holder(&run).is_none() {
            assert!(task.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(cluster.states()[0], "running");
        terminate(task.id());
        let ended = task.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
        assert!(run.join("checkpoint/latest.safetensors").exists() && !run.join("result.json").exists());
    };
    // A task that is being cancelled is left as it is.
    stop("COMPLETING");
    assert!(!cluster.path("asked").exists());
    stop("RUNNING");
    assert_eq!(fs::read_to_string(cluster.path("asked")).unwrap(), "requeue 42_0\n");
    assert_eq!(cluster.states(), ["stopped", "left", "left", "left"]);
    let last = cluster.task(&script(&cluster), 0).output().unwrap();
    assert!(last.status.success(), "{}", text(&last.stderr));
    assert_eq!(cluster.states(), ["done", "done", "left", "left"]);
    assert_eq!(fs::read_dir(run.join(".holders")).unwrap().count(), 3, "each start is written down");
    // By the files alone: from a machine that this Slurm does not reach.
    let elsewhere = output(cluster.directory.path(), &["grid", "status", "small.toml"]);
    assert!(text(&elsewhere.stdout).contains("4 runs: 2 done, 2 left in runs/small"), "{}", text(&elsewhere.stdout));
}

/// The program on a file system without locks, as NFS says it; none where strace cannot be used.
fn without_locks(cluster: &Cluster, arguments: &[&str]) -> Option<Command> {
    let strace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"];
    let quiet = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|ended| ended.success())
    };
    if !quiet(Command::new("strace").args(strace).arg("true")) {
        return None;
    }
    let plain = cluster.grid(arguments);
    let mut command = Command::new("strace");
    command.args(strace).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(cluster.directory.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

#[test]
fn without_locks_a_run_belongs_to_one_process_and_a_killed_one_lets_go() {
    let cluster = Cluster::new();
    fs::write(cluster.path("small.toml"), GRID.replace("epochs = 4", "epochs = 40")).unwrap();
    let one = ["run-one", "small.toml", "--index", "0"];
    let Some(mut command) = without_locks(&cluster, &one) else {
        println!("skipped: strace cannot be used here");
        return;
    };
    let mut first = command.spawn().unwrap();
    let run = cluster.path("runs/small/random-seed0");
    let holder = loop {
        assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
        if let Some(holder) = rehearsal_runs::RunDirectory::holder(&run) {
            break holder;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let status = without_locks(&cluster, &["status", "small.toml"]).unwrap().output().unwrap();
    let running = format!("   0 running  random-seed0 (on {})", holder.host);
    assert!(text(&status.stdout).contains(&running), "{}", text(&status.stdout));
    let mut second = without_locks(&cluster, &one).unwrap().spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(second.try_wait().unwrap().is_none(), "it waits");
    assert_eq!(rehearsal_runs::RunDirectory::holder(&run).unwrap().process, holder.process);
    assert!(Command::new("sh").args(["-c", &format!("kill -KILL {}", holder.process)]).status().unwrap().success());
    first.wait().unwrap();
    let ended = second.wait_with_output().unwrap();
    assert!(ended.status.success() && text(&ended.stdout).contains("accuracy "), "{}", text(&ended.stderr));
    assert_eq!(fs::read_dir(run.join(".holders")).unwrap().count(), 2);
    assert!(rehearsal_runs::RunDirectory::holder(&run).is_none(), "and let go");
}
