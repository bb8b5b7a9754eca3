//! Runs that are tested after recalibrating: what is learned stays the same, both ways of
//! testing stand beside each other, and a resumed run equals an uninterrupted one.

use std::path::Path;

use rehearsal::{
    Learner,
    config::PartialConfig,
    experiment::{Experiment, Outcome},
};
use rehearsal_runs::{Record, RunDirectory};

use crate::stop_after::StopAfter;

/// Two tasks of two classes, 12 steps, on a memory of 40.
fn settings(more: &str) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 30\ntest-per-class = 40\nbackbone = 'tiny'\nwidth = 3\n\
                memory = 40\ncandidates = 12\nthreads = 2";
    PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

/// What a run leaves behind.
struct Left {
    record: Record,
    predictions: Vec<u8>,
    recalibrated: Option<Vec<u8>>,
    learner: Learner,
}

fn finish(experiment: Experiment, path: &Path) -> Left {
    let Outcome::Finished(record, _) = experiment.run(&mut ()).unwrap() else { panic!("stopped") };
    assert_eq!(RunDirectory::read_record(path).unwrap().as_ref(), Some(&*record), "result.json says the same");
    Left {
        record: *record,
        predictions: std::fs::read(path.join("predictions.bin")).unwrap(),
        recalibrated: std::fs::read(path.join("predictions-recalibrated.bin")).ok(),
        learner: Learner::load(RunDirectory::checkpoint_path(path)).unwrap(),
    }
}

fn run(more: &str) -> Left {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    finish(Experiment::new(&settings(more), Some(&path)).unwrap(), &path)
}

#[test]
fn both_is_what_off_and_memory_are_and_all_learn_the_same() {
    for method in ["method = 'pcr'", "method = 'cls-er'", "method = 'er'\nbackbone = 'resnet18'"] {
        let [off, memory, both] =
            ["off", "memory", "both"].map(|kind| run(&format!("{method}\nrecalibrate = '{kind}'")));
        for other in [&memory, &both] {
            assert_eq!(other.learner.network().state(), off.learner.network().state(), "{method}");
            assert_eq!(other.learner.memory(), off.learner.memory(), "{method}");
        }
        assert_ne!(memory.predictions, off.predictions, "{method}: it makes a difference");
        assert_eq!((&both.record.matrix, &both.predictions), (&off.record.matrix, &off.predictions), "{method}");
        let again = both.record.recalibrated.as_ref().unwrap();
        assert_eq!(again.matrix, memory.record.matrix, "{method}");
        assert_eq!(both.recalibrated.as_ref(), Some(&memory.predictions), "{method}");
        let measures = |record: &Record| (record.accuracy, record.forgetting, record.retention);
        assert_eq!((again.accuracy, again.forgetting, again.retention), measures(&memory.record), "{method}");
        assert_eq!((&off.record.recalibration, &off.recalibrated), (&None, &None));
        assert_eq!((&memory.record.recalibrated, &memory.recalibrated), (&None, &None));
        for record in [&memory.record, &both.record] {
            let counters = record.recalibration.as_ref().unwrap();
            assert_eq!((&counters.images[..], &counters.why_not), (&[Some(40), Some(40)][..], &None), "{method}");
        }
        let predicts_with = |left: &Left| left.learner.calibration_images();
        assert_eq!(predicts_with(&memory), Some(40), "what is saved predicts as it was tested");
        assert_eq!((predicts_with(&off), predicts_with(&both)), (None, None));
    }
}

#[test]
fn a_run_stopped_anywhere_and_resumed_equals_an_uninterrupted_one() {
    for kind in ["memory", "both"] {
        let more = format!("recalibrate = '{kind}'");
        let whole = run(&more);
        // In the first task, at its last step, in the second, at the very last step.
        for stop in [3, 6, 9, 12] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("run");
            let experiment = Experiment::new(&settings(&more), Some(&path)).unwrap();
            assert!(matches!(experiment.run(&mut StopAfter(stop)).unwrap(), Outcome::Stopped));
            let parted = finish(Experiment::resume(&path, |_| {}).unwrap(), &path);
            let measured = |left: &Left| {
                let Record { matrix, recalibrated, recalibration, .. } = left.record.clone();
                (matrix, recalibrated, recalibration, left.predictions.clone(), left.recalibrated.clone())
            };
            assert_eq!(measured(&parted), measured(&whole), "{kind} stopped at {stop}");
            assert_eq!(parted.learner.network().state(), whole.learner.network().state());
        }
    }
}

#[test]
fn where_nothing_can_be_re_estimated_the_result_says_so() {
    let few = "the running statistics are those of training: \
               the memory holds 19 images, and recalibrating needs at least 20";
    let none = "the running statistics are those of training: the method keeps no memory";
    for (method, why) in [("memory = 19", few), ("method = 'fine-tune'", none), ("method = 'joint'", none)] {
        let off = run(method);
        for kind in ["memory", "both"] {
            let left = run(&format!("{method}\nrecalibrate = '{kind}'"));
            let counters = left.record.recalibration.unwrap();
            assert!(counters.images.iter().all(Option::is_none), "{method}");
            assert_eq!(counters.why_not.as_deref(), Some(why), "{method}");
            assert_eq!((&left.record.matrix, left.predictions), (&off.record.matrix, off.predictions.clone()));
            assert_eq!((left.record.recalibrated, left.recalibrated), (None, None), "{method}");
        }
    }
}
