//! Looking into a run: what is written, that it changes nothing, and that a resumed run writes the
//! same.

use std::path::Path;

use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, Outcome},
};
use rehearsal_runs::{Record, TaskDiagnostics};

use crate::stop_after::StopAfter;

/// Two tasks of two classes, 60 steps each.
fn settings(more: &str) -> PartialConfig {
    let base = "classes = 4\ntasks = 2\ntrain-per-class = 100\ntest-per-class = 20\nepochs = 3\nbackbone = 'tiny'\nwidth = 4\n\
                memory = 40\ncandidates = 12\nthreads = 1";
    PartialConfig::parse(base).unwrap().overridden_by(&PartialConfig::parse(more).unwrap())
}

fn finish(experiment: Experiment) -> Record {
    match experiment.run(&mut ()).unwrap() {
        Outcome::Finished(record, _) => *record,
        Outcome::Stopped => panic!("stopped"),
    }
}

fn read(directory: &Path) -> Vec<TaskDiagnostics> {
    let text = std::fs::read_to_string(directory.join("diagnostics.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Per task, how many samples the steps replayed.
fn replayed(directory: &Path) -> Vec<u64> {
    let mut counts = vec![0; 2];
    for line in std::fs::read_to_string(directory.join("steps.jsonl")).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(retrieved) = line["retrieved"].as_u64() {
            counts[line["task"].as_u64().unwrap() as usize] += retrieved;
        }
    }
    counts
}

#[test]
fn what_was_retrieved_is_counted_and_nothing_else_changes() {
    let parent = tempfile::tempdir().unwrap();
    let [plain, watched] = ["plain", "watched"].map(|name| parent.path().join(name));
    let without = finish(Experiment::new(&settings(""), Some(&plain)).unwrap());
    let with = finish(Experiment::new(&settings("diagnostics = true"), Some(&watched)).unwrap());
    assert_eq!(with.matrix, without.matrix);
    let steps = |directory: &Path| std::fs::read_to_string(directory.join("steps.jsonl")).unwrap();
    let losses = |text: String| text.lines().filter(|line| line.contains("loss")).map(String::from).collect::<Vec<_>>();
    assert_eq!(losses(steps(&watched)), losses(steps(&plain)), "looking changes no bit of what is learned");
    assert!(!plain.join("diagnostics.jsonl").exists());

    let (tasks, replayed) = (read(&watched), replayed(&watched));
    assert_eq!(tasks.len(), 2);
    for (index, task) in tasks.iter().enumerate() {
        let seen = 2 * (index + 1);
        assert_eq!((task.task, task.proxy_drift.len(), task.class_mix.len()), (index, seen, seen));
        assert!(task.proxy_drift.iter().all(|drift| drift.distance.raw > 0.0));
        assert_eq!(task.class_mix.iter().sum::<u64>(), replayed[index]);
        let inner = task.inner_distance.unwrap().normalised;
        assert!(inner > 0.0 && inner < 2.0, "points of a sphere of radius 1: {inner}");
        assert!(task.distance_to_proxies.unwrap().normalised < 2.0);
        let [high, low] = [&task.alignment_high, &task.alignment_low].map(|side| side.as_ref().unwrap().total());
        assert_eq!((high, low), (5, 5), "one sampled step of 60, half and half");
        // All steps but the very first score two draws of 12, the second step has a memory of 10.
        let scored = if index == 0 { 2 * 10 + 58 * 24 } else { 60 * 24 };
        assert_eq!(task.loss_change.as_ref().unwrap().total(), scored);
        let sides = [&task.picks_high, &task.picks_low].map(|picks| picks.as_ref().unwrap());
        assert_eq!((sides[0].total() + sides[1].total(), &task.picks_other), (replayed[index], &None));
        for picks in sides {
            assert_eq!((picks.class_mix.len(), picks.task_age.len()), (seen, index + 1), "no task is older");
            assert_eq!(picks.task_age.iter().sum::<u64>(), picks.total());
            assert_eq!(picks.slots_by_replays.iter().sum::<u64>(), 40, "every slot counts once");
        }
        let mix: Vec<u64> = sides[0].class_mix.iter().zip(&sides[1].class_mix).map(|(high, low)| high + low).collect();
        assert_eq!(mix, task.class_mix);
        let pairs = [&task.first_order, &task.first_order_high, &task.first_order_low].map(|c| c.unwrap().n);
        assert_eq!(pairs, [10, 5, 5]);
        // 60 steps in stretches of two; in the very first of all nothing was replayed.
        assert_eq!((task.distances.len(), task.distances[29].to), (30, 60));
        let weight = |from: u64, to: u64| (to - from + 1 - u64::from(index == 0 && from == 1)) as f64;
        let (sum, steps) = task.distances.iter().fold((0.0, 0.0), |(sum, steps), stretch| {
            let weight = weight(stretch.from, stretch.to);
            (sum + weight * stretch.inner_distance.unwrap().raw, steps + weight)
        });
        assert!((sum / steps - task.inner_distance.unwrap().raw).abs() < 1e-9, "the mean of the series is the task's");
    }
}

/// ER-ACE replays from the second task on.
#[test]
fn where_not_every_step_replays_gradients_are_compared_in_the_next_that_does() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    finish(Experiment::new(&settings("method = 'er-ace'\ndiagnostics = true"), Some(&path)).unwrap());
    let tasks = read(&path);
    assert!(tasks[0].alignment_high.is_none());
    assert_eq!(tasks[1].alignment_high.as_ref().unwrap().total(), 10, "step 50 replays nothing, 61 and 100 do");
}

#[test]
fn a_method_without_proxies_or_scores_leaves_them_out() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    finish(
        Experiment::new(&settings("method = 'er'\nretrieval = 'random'\ndiagnostics = true\nepochs = 1"), Some(&path))
            .unwrap(),
    );
    let task = &read(&path)[1];
    assert!(task.proxy_drift.is_empty() && task.distance_to_proxies.is_none());
    assert!(task.alignment_high.is_none() && task.loss_change.is_none());
    assert!(task.picks_high.is_none() && task.first_order.is_none() && task.distances.is_empty());
    assert_eq!(task.picks_other.as_ref().unwrap().total(), 200);
    assert_eq!(task.class_mix.iter().sum::<u64>(), 200);
}

#[test]
fn a_resumed_run_writes_the_same() {
    let parent = tempfile::tempdir().unwrap();
    let settings = settings("diagnostics = true");
    let [whole, parted] = ["whole", "parted"].map(|name| parent.path().join(name));
    finish(Experiment::new(&settings, Some(&whole)).unwrap());
    let mut experiment = Experiment::new(&settings, Some(&parted)).unwrap();
    // Before and after a sampled step, at a task's end, in the second task.
    for stop in [17, 49, 50, 60, 61, 111] {
        assert!(matches!(experiment.run(&mut StopAfter(stop)).unwrap(), Outcome::Stopped));
        experiment = Experiment::resume(&parted, |_| {}).unwrap();
    }
    finish(experiment);
    let text = |directory: &Path| std::fs::read_to_string(directory.join("diagnostics.jsonl")).unwrap();
    assert_eq!(text(&parted), text(&whole), "bit for bit");
}
