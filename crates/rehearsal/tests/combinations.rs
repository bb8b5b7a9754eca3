//! Every combination of method, memory policy and retrieval: runs, and resumes bit for bit from wherever it was stopped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stop_after;

use std::path::Path;

use rehearsal::{
    checkpoint::{Checkpoint, Progress},
    choice::Choice,
    config::{Combination, Said},
    experiment::{Experiment, Outcome},
    memory::PolicyKind,
    methods::MethodKind,
    retrieval::RetrievalKind,
    sample::ImageShape,
};
use rehearsal_runs::RunDirectory;
use stop_after::StopAfter;

const GREY: ImageShape = ImageShape { height: 28, width: 28, channels: 1 };

/// Two tasks of two classes, 12 steps of 10, on a memory that is soon full; every mechanism has its turn.
fn said(Combination { method, policy, retrieval }: Combination) -> Said {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 2\nbackbone = 'tiny'\nwidth = 3\nmemory = 30\n\
                candidates = 12\ngss-groups = 2\ngss-group-size = 5\nthreads = 2";
    Said {
        method: Some(method.to_string()),
        memory_policy: policy.map(|policy| policy.to_string()),
        retrieval: retrieval.map(|retrieval| retrieval.to_string()),
        ..Said::parse(base).unwrap()
    }
}

fn checkpoint(directory: &Path) -> Checkpoint {
    Checkpoint::from_bytes(&RunDirectory::read_checkpoint(directory).unwrap().unwrap(), GREY).unwrap()
}

fn finish(experiment: Experiment) {
    assert!(matches!(experiment.run(&mut ()).unwrap(), Outcome::Finished(_)));
}

#[test]
fn every_combination_runs_and_resumes_bit_for_bit() {
    let sensible = Combination::all().into_iter().filter(|combination| combination.check().is_ok());
    for (index, combination) in sensible.enumerate() {
        let (said, parent) = (said(combination), tempfile::tempdir().unwrap());
        let [whole, parted] = ["whole", "parted"].map(|name| parent.path().join(name));
        finish(Experiment::new(&said, Some(&whole)).unwrap());
        // Another place for each: any step of the run, the last included.
        let stop = StopAfter(1 + (5 * index + index / 12) as u64 % 12);
        let stopped = Experiment::new(&said, Some(&parted)).unwrap().run(&mut { stop }).unwrap();
        assert!(matches!(stopped, Outcome::Stopped));
        finish(Experiment::resume(&parted, |_| {}).unwrap());
        let (a, b) = (checkpoint(&whole), checkpoint(&parted));
        assert_eq!(a.network, b.network, "{combination:?}");
        assert_eq!(a.method, b.method, "{combination:?}");
        assert_eq!(a.memory, b.memory, "{combination:?}");
        let results = |progress: Progress| (progress.matrix, progress.position, progress.steps);
        assert_eq!(results(a.progress), results(b.progress), "{combination:?}");
        let keeps_scores = a.memory.slots().iter().all(|stored| stored.logits.is_some());
        assert_eq!(keeps_scores, combination.method == MethodKind::DerPp || a.memory.is_empty(), "{combination:?}");
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
            let error = said(asked).resolve().unwrap_err().to_string();
            assert_eq!(error, format!("{method} replays nothing: `--retrieval {retrieval}` cannot be used with it"));
        }
    }
}

#[test]
fn joint_training_is_one_task_of_all_passes() {
    let joint = said(Combination { method: MethodKind::Joint, policy: None, retrieval: None });
    let Outcome::Finished(record) = Experiment::new(&joint, None).unwrap().run(&mut ()).unwrap() else { panic!() };
    assert_eq!(
        (record.matrix.tasks_seen(), record.steps),
        (1, 2 * 120 / 10),
        "120 images, one epoch for each of two tasks"
    );
    assert_eq!((record.forgetting, record.config.number("tasks")), (None, Some(2.0)));
}
