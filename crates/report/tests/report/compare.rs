//! Two sets of runs side by side.

use crate::support::Made;
use rehearsal_report::{
    compare::{CompareError, Comparison},
    run::Run,
    study::Study,
};
use serde_json::json;

fn runs(made: impl IntoIterator<Item = Made>) -> Vec<Run> {
    let directory = tempfile::tempdir().unwrap();
    for (i, made) in made.into_iter().enumerate() {
        made.write(&directory.path().join(i.to_string()));
    }
    Study::read(&[directory.path().into()]).unwrap().groups.into_iter().flat_map(|group| group.runs).collect()
}

fn er() -> Made {
    Made::paper().with(json!({ "method": "er" })).quality(0.2)
}

#[test]
fn measures_differences_and_tests() {
    let a = runs((0..6).map(|seed| er().seed(seed)));
    let b = runs((0..5).map(|seed| Made::paper().seed(seed)));
    let comparison = Comparison::new(("a", &a), ("b", &b)).unwrap();
    assert_eq!(comparison.pairs, 5);
    let differing: Vec<_> =
        comparison.differing.iter().map(|one| (one.name.as_str(), one.a.as_str(), one.b.as_str())).collect();
    assert_eq!(differing, [("method", "er", "pcr")]);
    let accuracy = &comparison.measures[0];
    assert_eq!((accuracy.a.unwrap().n, accuracy.b.unwrap().n, accuracy.difference.unwrap().n), (6, 5, 5));
    assert!(accuracy.difference.unwrap().mean > 0.1, "B is better, so the difference is positive");
    let difference = accuracy.difference.unwrap();
    let [low, high] = difference.interval.unwrap();
    assert!(low < difference.mean && difference.mean < high && difference.effect.unwrap() > 0.0);
    assert!(difference.detectable.unwrap() > 0.0 && difference.bootstrap.is_some());
    let test = accuracy.test.unwrap();
    assert_eq!((test.n, test.negative, test.p), (5, 0.0, 0.0625));
    assert_eq!(comparison.images.len(), 5);
    let pooled = comparison.pooled.unwrap();
    assert_eq!(pooled.only_second, comparison.images.iter().map(|one| one.test.only_second).sum::<u64>());
    assert!(pooled.only_second > pooled.only_first && pooled.p < 1e-9);
}

#[test]
fn runs_without_partners_are_shown_but_not_tested() {
    let comparison = Comparison::new(("a", &runs([er().seed(0)])), ("b", &runs([Made::paper().seed(1)]))).unwrap();
    assert_eq!(comparison.pairs, 0);
    assert!(
        comparison.measures.iter().all(|line| line.test.is_none() && line.difference.is_none() && line.a.is_some())
    );
    assert!(comparison.pooled.is_none());
}

#[test]
fn runs_with_another_order_of_classes_are_not_a_pair() {
    let (mut a, b) = (runs((0..3).map(|seed| er().seed(seed))), runs((0..3).map(|seed| Made::paper().seed(seed))));
    a[1].class_names.reverse();
    let comparison = Comparison::new(("a", &a), ("b", &b)).unwrap();
    assert_eq!((comparison.pairs, comparison.images.len()), (2, 2));
}

#[test]
fn a_side_is_one_kind_of_run() {
    let mixed = runs([er(), Made::paper()]);
    let error = Comparison::new(("all", &mixed), ("b", &runs([er()]))).unwrap_err();
    assert_eq!(error, CompareError::Mixed { side: "all".into(), names: "method".into() });
    let several_data = runs([er(), er().with(json!({ "dataset": "food100" }))]);
    assert!(Comparison::new(("a", &several_data), ("b", &several_data)).is_ok());
    let error = Comparison::new(("none", &[]), ("b", &several_data)).unwrap_err();
    assert_eq!(error, CompareError::Empty("none".into()));
}
