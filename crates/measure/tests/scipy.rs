//! The tests of significance agree with SciPy on a thousand random cases each. `scipy_reference.py`
//! made the cases, and `.ci/run` checks that it would make them again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use rehearsal_measure::{mcnemar, wilcoxon};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    wilcoxon: Vec<WilcoxonCase>,
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

#[test]
fn wilcoxon_is_scipys() {
    let cases = reference().wilcoxon;
    assert_eq!(cases.len(), 1000);
    let (mut exact, mut zeros) = (0, 0);
    for case in &cases {
        let found = wilcoxon(&case.d);
        assert_eq!((found.n, found.positive.min(found.negative)), (case.n, case.w), "{:?}", case.d);
        assert_near(found.p, case.p, &case.d);
        exact += usize::from(found.exact);
        zeros += usize::from(case.n < case.d.len());
    }
    assert!(exact > 200 && cases.len() - exact > 200 && zeros > 200, "{exact} exact, {zeros} with zeros");
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
