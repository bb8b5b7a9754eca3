//! The probability below which an answer is unsure: at least 19 of 20 holdout answers above it are right.

/// What share of the answers must be right.
const RIGHT: f64 = 0.95;
/// Fewer answers say nothing about one in twenty.
pub(crate) const FEWEST: usize = 20;

/// The lowest probability from which on 19 of 20 answers are right; none where there is no such, or
/// too few answers to tell.
#[cfg(feature = "scratch")]
pub(crate) fn threshold(answers: &[crate::Answer]) -> Option<f64> {
    threshold_of(answers.iter().map(|answer| (answer.probability, answer.is_right())).collect())
}

/// As [`threshold`], of probabilities and whether the answers are right.
pub(crate) fn threshold_of(mut answers: Vec<(f32, bool)>) -> Option<f64> {
    answers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut lowest) = (0, None);
    for (index, &(probability, is_right)) in answers.iter().enumerate() {
        right += usize::from(is_right);
        let is_last_of_equals = answers.get(index + 1).is_none_or(|next| next.0 < probability);
        if is_last_of_equals && index + 1 >= FEWEST && right as f64 >= RIGHT * (index + 1) as f64 {
            lowest = Some(f64::from(probability));
        }
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(answers: &[(f32, bool)]) -> Option<f64> {
        threshold_of(answers.to_vec())
    }

    fn answers(list: impl IntoIterator<Item = (f32, bool)>) -> Vec<(f32, bool)> {
        list.into_iter().collect()
    }

    #[test]
    fn from_the_threshold_on_19_of_20_are_right_and_no_lower_one_will_do() {
        // Right down to 0.50, then every other one wrong.
        let list = (0..100).map(|i| ((99 - i) as f32 / 100.0, i < 50 || i % 2 == 0));
        let found = threshold(&answers(list.clone())).unwrap();
        let above = |threshold: f64| {
            let kept: Vec<bool> = list.clone().filter(|(p, _)| f64::from(*p) >= threshold).map(|(_, r)| r).collect();
            kept.iter().filter(|right| **right).count() as f64 / kept.len() as f64
        };
        assert!(above(found) >= 0.95 && above(found - 0.011) < 0.95, "{found}: {}", above(found));
    }

    #[test]
    fn there_is_none_if_no_part_is_right_enough_or_the_holdout_set_is_small() {
        assert_eq!(threshold(&[]), None);
        assert_eq!(threshold(&answers((0..19).map(|_| (0.9, true)))), None, "19 answers");
        assert_eq!(threshold(&answers((0..20).map(|_| (0.9, true)))), Some(f64::from(0.9f32)));
        assert_eq!(threshold(&answers((0..100).map(|i| (0.9, i % 10 != 0)))), None, "equals stand together");
        assert_eq!(threshold(&answers((0..200).map(|i| (i as f32 / 200.0, i % 3 != 0)))), None);
    }
}
