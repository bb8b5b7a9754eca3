//! Tests of significance, intervals and power agree with SciPy on random cases. `scipy_reference.py`
//! made the cases, and `.ci/run` checks that it still makes the same ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use rehearsal_measure::{Paired, mcnemar, wilcoxon};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    wilcoxon: Vec<WilcoxonCase>,
    wilcoxon_of_many: Vec<WilcoxonCase>,
    paired: Vec<PairedCase>,
    mcnemar: Vec<McNemarCase>,
}

#[derive(Deserialize)]
struct WilcoxonCase {
    d: Vec<f64>,
    n: usize,
    /// The smaller rank sum.
    w: f64,
    p: f64,
}

#[derive(Deserialize)]
struct PairedCase {
    d: Vec<f64>,
    mean: f64,
    t: [f64; 2],
    bootstrap: [f64; 2],
    effect: f64,
    seen: f64,
}

#[derive(Deserialize)]
struct McNemarCase {
    b: u64,
    c: u64,
    p: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("scipy_reference.json")).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, case: &impl std::fmt::Debug) {
    assert!((found - expected).abs() <= 1e-11 * expected, "{found} is not {expected}: {case:?}");
}

impl WilcoxonCase {
    fn has_zeros(&self) -> bool {
        self.n < self.d.len()
    }

    fn has_ties(&self) -> bool {
        let sizes: BTreeSet<u64> = self.d.iter().filter(|&&d| d != 0.0).map(|d| d.abs().to_bits()).collect();
        sizes.len() < self.n
    }

    fn check(&self) {
        let found = wilcoxon(&self.d);
        assert_eq!((found.n, found.positive.min(found.negative)), (self.n, self.w), "{:?}", self.d);
        assert_eq!(found.exact, self.n <= 50, "{:?}", self.d);
        assert_near(found.p, self.p, &self.d);
    }
}

#[test]
fn wilcoxon_is_scipys_exact_permutation_with_ties_and_zeros() {
    let cases = reference().wilcoxon;
    assert_eq!(cases.len(), 1000);
    let (ties, zeros) = (cases.iter().filter(|case| case.has_ties()), cases.iter().filter(|case| case.has_zeros()));
    assert!(
        ties.clone().count() > 300 && zeros.clone().count() > 300 && ties.filter(|case| case.has_zeros()).count() > 100
    );
    cases.iter().for_each(WilcoxonCase::check);
}

#[test]
fn wilcoxon_of_many_pairs_is_exact_to_50_and_scipys_approximation_above() {
    let cases = reference().wilcoxon_of_many;
    let exact = |ties: bool| cases.iter().filter(|case| case.n <= 50 && case.has_ties() == ties).count();
    assert!(exact(true) > 50 && exact(false) > 5 && cases.iter().any(|case| case.n > 50));
    cases.iter().for_each(WilcoxonCase::check);
}

#[test]
fn intervals_effects_and_power_are_scipys() {
    for case in reference().paired {
        let found = Paired::from_differences(&case.d).unwrap();
        let size = case.d.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
        let near = |found: f64, expected: f64, digits: i32| {
            assert!((found - expected).abs() <= 10_f64.powi(-digits) * size, "{found} is not {expected}: {:?}", case.d);
        };
        near(found.mean, case.mean, 12);
        for (ours, scipys) in [(found.interval.unwrap(), case.t), (found.bootstrap.unwrap(), case.bootstrap)] {
            near(ours[0], scipys[0], 11);
            near(ours[1], scipys[1], 11);
        }
        assert!((found.effect.unwrap() - case.effect).abs() < 1e-11);
        // SciPy's noncentral t, whose root this is, is accurate to about 11 digits.
        assert!(
            (found.detectable.unwrap() / case.seen - 1.0).abs() < 1e-10,
            "{} {}",
            found.detectable.unwrap(),
            case.seen
        );
    }
}

#[test]
fn mcnemar_is_scipys() {
    let cases = reference().mcnemar;
    assert_eq!(cases.len(), 1000);
    let exact = cases.iter().filter(|case| mcnemar(case.b, case.c).chi_squared.is_none()).count();
    assert!(exact > 200 && cases.len() - exact > 200, "{exact} exact");
    for McNemarCase { b, c, p } in cases {
        assert_near(mcnemar(b, c).p, p, &(b, c));
    }
}
