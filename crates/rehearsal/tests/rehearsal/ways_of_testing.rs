//! Task-incremental tests and tests inside tasks: what is learned stays the same, and a resumed run equals an
//! uninterrupted one.

use std::path::Path;

use rehearsal::{
    Learner,
    config::PartialConfig,
    experiment::{Experiment, Outcome},
};
use rehearsal_runs::{Record, RunDirectory};

use crate::stop_after::StopAfter;

/// Two tasks of two classes, six steps each.
fn settings(more: &str) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 40\nbackbone = 'tiny'\nwidth = 3\n\
                method = 'er'\nmemory = 40\nthreads = 2";
    PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

fn finish(experiment: Experiment, path: &Path) -> (Record, Learner) {
    let Outcome::Finished(record, _) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    assert_eq!(RunDirectory::read_record(path).unwrap().as_ref(), Some(&*record), "result.json says the same");
    (*record, Learner::load(RunDirectory::checkpoint_path(path)).unwrap())
}

fn run(more: &str) -> (Record, Learner) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    finish(Experiment::new(&settings(more), Some(&path)).unwrap(), &path)
}

#[test]
fn fewer_classes_to_choose_from_are_never_worse_and_one_task_is_no_easier() {
    let (record, _) = run("");
    let in_task = record.task_incremental.unwrap();
    assert_eq!(in_task.matrix.get(0, 0), record.matrix.get(0, 0), "the first task's classes are all that were seen");
    for task in 0..2 {
        assert!(in_task.matrix.get(1, task) >= record.matrix.get(1, task), "task {task}");
    }
    assert!(in_task.accuracy > record.accuracy, "choosing from two is easier than from four");
    assert_eq!((record.anytime, record.forward_transfer), (None, None));
}

#[test]
fn tests_inside_tasks_change_nothing_that_is_learned() {
    let ((plain, alone), (tested, watched)) = (run(""), run("test-every = 2"));
    assert_eq!((&plain.matrix, alone.network().state()), (&tested.matrix, watched.network().state()));
    let anytime = tested.anytime.unwrap();
    let steps: Vec<u64> = anytime.inside.iter().map(|test| test.step).collect();
    assert_eq!(steps, [2, 4, 8, 10], "the last step of a task is tested anyway");
    assert_eq!(anytime.inside.iter().map(|test| test.accuracy.len()).collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert!(anytime.worst_case_accuracy.unwrap() <= tested.accuracy.unwrap());
    // Step 10 is a step before the end: a run of five steps in its second task would say the same there.
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let all =
        anytime.inside.iter().map(|test| mean(&test.accuracy)).chain(tested.matrix.rows().iter().map(|row| mean(row)));
    assert!((anytime.average_accuracy.unwrap() - all.sum::<f64>() / 6.0).abs() < 1e-12);
}

#[test]
fn a_run_stopped_anywhere_and_resumed_has_the_same_tests() {
    let more = "test-every = 2";
    let (whole, _) = run(more);
    // Between two tests, at one, at the end of a task, at the very end.
    for stop in [3, 4, 6, 10, 12] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run");
        let experiment = Experiment::new(&settings(more), Some(&path)).unwrap();
        assert!(matches!(experiment.run(&mut StopAfter(stop)).unwrap(), Outcome::Stopped));
        let (parted, _) = finish(Experiment::resume(&path, |_| {}).unwrap(), &path);
        assert_eq!(
            (parted.anytime, parted.task_incremental),
            (whole.anytime.clone(), whole.task_incremental.clone()),
            "{stop}"
        );
    }
}
