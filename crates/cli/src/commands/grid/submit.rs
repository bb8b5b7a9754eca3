//! `rehearsal grid submit`: what is left of a grid as one array of Slurm.
//!
//! The grid is held from the look at the queue until Slurm has the job and its number is written
//! down: of two who submit at once, the second finds what the first has submitted.

use std::{
    path::{Path, absolute},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use rehearsal_grid::slurm::{
    Resources, Scheduler, Script, SlurmError, Submission, TimeLimit, chunks, job_name, tasks_of_about,
};
use rehearsal_runs::GridDirectory;

use super::{begin, counted, estimate::Estimate, plan::Plan, queue::GridQueue, refuse, state::State};
use crate::{
    args::grid::Submit,
    printer::{message, plural, print},
};

/// What a task takes, about, in seconds, where nothing else is said.
const TASK_SECONDS: f64 = 30.0 * 60.0;
/// How long to wait for another who submits the same grid.
const PATIENCE: Duration = Duration::from_mins(2);

/// Submits what is left; what is wrong with it is a refusal.
pub fn submit(args: &Submit) -> Result<ExitCode> {
    try_to_submit(args).or_else(|error| Ok(refuse(&error)))
}

fn try_to_submit(args: &Submit) -> Result<ExitCode> {
    let resources = resources(args);
    resources.check()?;
    if !args.script_only {
        Scheduler.check()?;
    }
    let mut plan = Plan::read(&args.grid)?;
    plan.directory = GridDirectory::new(absolute(plan.directory.path())?);
    let chosen = plan.chosen(args.only.as_ref())?;
    let _lock = begin(&plan, PATIENCE)?;
    let queue = GridQueue::ask(&plan.directory);
    match queue.error() {
        None => {}
        // A script can be written where there is no Slurm.
        Some(SlurmError::Missing(_)) if args.script_only => {}
        Some(error) => return Err(anyhow!("{error}: what is queued already is not known")),
    }
    let states = queue.states(&plan);
    let of: Vec<State> = chosen.iter().map(|&run| states[run].clone()).collect();
    message(&format!("{} in {}", counted(&of), plan.directory.path().display()));
    let waiting = waiting(&chosen, &states)?;
    if waiting.is_empty() {
        message("there is nothing to submit");
        return Ok(ExitCode::SUCCESS);
    }
    plan.check_data(&waiting)?;
    let tasks = shared_out(args, &plan, &states, &waiting)?;
    let submission = write(&plan, &tasks, &resources)?;
    if args.script_only {
        print(&format!("{}\n", submission.script().display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let job = hand_over(submission)?;
    message(&format!("{} in {} of job {job}", plural(waiting.len(), "run"), plural(tasks.len(), "task")));
    print(&format!("{job}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn resources(args: &Submit) -> Resources {
    Resources {
        partition: args.partition.clone(),
        time: args.time.clone(),
        gpus: args.gpus,
        cpus: args.cpus,
        memory: args.memory.clone(),
        max_running: args.max_running,
        warning: args.warning,
        extra: args.extra.clone(),
    }
}

/// The chosen runs that nobody has done, does or will do.
fn waiting(chosen: &[usize], states: &[State]) -> Result<Vec<usize>> {
    let taken = chosen.iter().filter(|&&run| states[run].is_taken()).count();
    if taken > 0 {
        message(&format!("left out, because running or queued already: {}", plural(taken, "run")));
    }
    let mut waiting = Vec::new();
    for &run in chosen {
        match &states[run] {
            State::Foreign(why) => return Err(anyhow!("{why}")),
            State::Left | State::Stopped(_) | State::Failed(_) => waiting.push(run),
            State::Done | State::Running(_) | State::Queued(_) | State::Requeued(_) => {}
        }
    }
    Ok(waiting)
}

/// The runs of each task, by their numbers in the manifest.
fn shared_out(args: &Submit, plan: &Plan, states: &[State], waiting: &[usize]) -> Result<Vec<Vec<usize>>> {
    let shares = if let Some(each) = args.chunk {
        chunks(&vec![1.0; waiting.len()], waiting.len().div_ceil(each as usize))
    } else {
        message("measuring a few steps …");
        let threads = args.cpus.map_or(1, usize::from);
        let estimate = Estimate::measure(plan, states, waiting, threads)?;
        // A task should be through well before its time is over.
        let limit = args.time.as_ref().and_then(TimeLimit::seconds).map_or(f64::MAX, |time| time as f64 / 2.0);
        let tasks = tasks_of_about(estimate.seconds(), TASK_SECONDS.min(limit));
        let at_a_time = tasks.min(waiting.len()).min(args.max_running.map_or(usize::MAX, |most| most as usize));
        message(&format!("on processors like these, {}", estimate.line(at_a_time, threads)));
        chunks(estimate.seconds(), tasks)
    };
    Ok(shares.into_iter().map(|share| share.into_iter().map(|place| waiting[place]).collect()).collect())
}

/// Writes script and manifest.
fn write(plan: &Plan, tasks: &[Vec<usize>], resources: &Resources) -> Result<Submission> {
    let program = std::env::current_exe().context("this program cannot find itself")?;
    let grid = plan.directory.path();
    let slurm = plan.directory.slurm();
    let unwritable = || format!("{} cannot be written", slurm.display());
    let names = tasks.iter().map(|task| task.iter().map(|&run| plan.jobs[run].planned.name.clone()).collect());
    let manifest = rehearsal_grid::manifest(&plan.planned());
    let submission = Submission::create(&slurm, names.collect(), &manifest).with_context(unwritable)?;
    let script = Script {
        name: &job_name(grid),
        program: &program,
        from: &absolute(Path::new("."))?,
        grid,
        logs: &plan.directory.logs(),
        manifest: &submission.manifest(),
        tasks,
        resources,
    };
    match script.text() {
        Ok(text) => submission.write_script(&text).with_context(unwritable)?,
        Err(error) => {
            submission.withdraw();
            return Err(error.into());
        }
    }
    Ok(submission)
}

/// Gives it to Slurm: the number of its job.
fn hand_over(mut submission: Submission) -> Result<String> {
    match Scheduler.submit(&submission.script()) {
        Ok(job) => {
            // If this fails, or the process is killed here, the job is known by its script.
            let noted = submission.submitted_as(job.clone());
            noted.with_context(|| format!("job {job} is submitted, but that cannot be written down"))?;
            Ok(job)
        }
        Err(error) => {
            submission.withdraw();
            Err(error.into())
        }
    }
}
