//! Every combination of method, memory policy and retrieval: runs, and resumes bit for bit from
//! wherever it was stopped.

use std::path::Path;

use rehearsal::{
    Learner,
    config::{Combination, PartialConfig},
    datasets::choice::Choice,
    experiment::{Experiment, Outcome},
    memory::PolicyKind,
    methods::MethodKind,
    retrieval::RetrievalKind,
};
use rehearsal_runs::{Record, RunDirectory};

use crate::stop_after::StopAfter;

/// Two tasks of two classes, 12 steps of 10, on a memory that is soon full; every mechanism has its
/// turn.
fn settings(Combination { method, policy, retrieval }: Combination) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 2\nbackbone = 'tiny'\nwidth = 3\nmemory = 30\n\
                candidates = 12\ngss-groups = 2\ngss-group-size = 5\nthreads = 2";
    PartialConfig { method: Some(method), memory_policy: policy, retrieval, ..PartialConfig::parse(base).unwrap() }
}

/// The run's result and learner; its last checkpoint is that learner.
fn finish(experiment: Experiment, directory: &Path) -> (Box<Record>, Box<Learner>) {
    let Outcome::Finished(record, learner) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    let saved = Learner::load(RunDirectory::checkpoint_path(directory)).unwrap();
    assert_same(&saved, &learner, "the last checkpoint");
    (record, learner)
}

fn assert_same(a: &Learner, b: &Learner, what: &str) {
    let copy = |learner: &Learner, name: &str| {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name);
        learner.save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    assert!(copy(a, "a") == copy(b, "b"), "not the same file: {what}");
    assert_eq!(a.network().state(), b.network().state(), "{what}");
    assert_eq!(a.memory(), b.memory(), "{what}");
}

/// Runs, stops and resumes, and compares both ends. Every `index` stops somewhere else: after any step
/// of the run, the last included.
fn resumed(settings: &PartialConfig, index: usize, what: &str) -> Box<Learner> {
    let parent = tempfile::tempdir().unwrap();
    let [whole, parted] = ["whole", "parted"].map(|name| parent.path().join(name));
    let (a, first) = finish(Experiment::new(settings, Some(&whole)).unwrap(), &whole);
    let stop = StopAfter(1 + (5 * index + index / 12) as u64 % 12);
    let stopped = Experiment::new(settings, Some(&parted)).unwrap().run(&mut { stop }).unwrap();
    assert!(matches!(stopped, Outcome::Stopped));
    let (b, second) = finish(Experiment::resume(&parted, |_| {}).unwrap(), &parted);
    assert_same(&first, &second, what);
    assert_eq!((a.matrix, a.steps), (b.matrix, b.steps), "{what}");
    first
}

#[test]
fn every_combination_runs_and_resumes_bit_for_bit() {
    let sensible = Combination::all().into_iter().filter(|combination| combination.check().is_ok());
    for (index, combination) in sensible.enumerate() {
        let first = resumed(&settings(combination), index, &format!("{combination:?}"));
        let keeps_logits = first.memory().slots().iter().all(|stored| stored.logits.is_some());
        assert_eq!(
            keeps_logits,
            combination.method == MethodKind::DerPp || first.memory().is_empty(),
            "{combination:?}"
        );
    }
}

/// Methods that pass new and replayed samples together or apart, with and without features of their
/// own, with one draw a step and with two.
#[test]
fn every_option_of_replay_runs_and_resumes_bit_for_bit() {
    let options = [
        "score-norm = 'eval'",
        "score-norm = 'eval'\nretrieval = 'imir'\nviews = 'augmented'\nmemory-policy = 'gss'",
        "retrieval = 'random'\nreduction = 'sum-of-means'",
    ];
    let methods = ["pcr", "er", "der-pp", "er-ace'\nhead = 'cosine", "cls-er", "a-gem"];
    for (option, more) in options.iter().enumerate() {
        // PCR with every option, and two others in turn.
        for (turn, method) in [0, 1 + option % 5, 1 + (option + 2) % 5].into_iter().enumerate() {
            let what = format!("method = '{}'\n{more}", methods[method]);
            let base = settings(Combination { method: MethodKind::Pcr, policy: None, retrieval: None });
            let settings = base.overridden_by(&PartialConfig::parse(&what).unwrap());
            resumed(&settings, 3 * option + turn, &what);
        }
    }
}

#[test]
fn what_makes_no_sense_together_is_refused_with_the_reason() {
    for &method in MethodKind::ALL.iter().filter(|method| !method.replays()) {
        for &policy in PolicyKind::ALL {
            assert!(Combination { method, policy: Some(policy), retrieval: None }.check().is_err());
        }
        for &retrieval in RetrievalKind::ALL {
            let asked = Combination { method, policy: None, retrieval: Some(retrieval) };
            let error = settings(asked).resolve().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("{method} replays nothing: `retrieval = \"{retrieval}\"` cannot be used with it")
            );
        }
    }
}

#[test]
fn joint_training_is_one_task_of_all_passes() {
    let joint = settings(Combination { method: MethodKind::Joint, policy: None, retrieval: None });
    let Outcome::Finished(record, _) = Experiment::new(&joint, None).unwrap().run(&mut ()).unwrap() else { panic!() };
    assert_eq!(
        (record.matrix.tasks_seen(), record.steps),
        (1, 2 * 120 / 10),
        "120 images, one epoch for each of two tasks"
    );
    assert_eq!((record.forgetting, record.config.number("tasks")), (None, Some(2.0)));
}
