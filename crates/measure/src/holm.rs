//! Holm's correction: of many comparisons, some look significant by chance.

/// Adjusts the p-values of comparisons that share a table, and keeps their order. If each adjusted value
/// is compared with a level, the probability of *any* false positive is at most that level.
///
/// # Panics
///
/// If a p-value is not between 0 and 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "p-values are between 0 and 1");
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut highest: f64 = 0.0;
    for (smaller, &i) in order.iter().enumerate() {
        // No comparison may look more significant than one with a smaller p-value.
        highest = highest.max((p.len() - smaller) as f64 * p[i]).min(1.0);
        adjusted[i] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// By hand: sorted .005 .01 .03 .04, times 4 3 2 1, then the running maximum.
    #[test]
    fn four_comparisons() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert_eq!(holm(&[0.03125]), [0.03125]);
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn the_order_stays_and_nothing_gets_smaller(p in vec(0.0..=1.0, 1..9)) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                prop_assert!((0..p.len()).all(|j| p[i] > p[j] || adjusted[i] <= adjusted[j]));
            }
        }
    }
}
