//! Ranks of numbers, with equal numbers at their mean rank.

/// The ranks of some numbers, and which were tied.
pub(crate) struct Ranked {
    /// From 1, in the order of the numbers.
    pub(crate) ranks: Vec<f64>,
    /// How many numbers share a value, for every value that is shared.
    pub(crate) ties: Vec<usize>,
}

/// Ranks numbers from the smallest.
pub(crate) fn mean_ranks(numbers: &[f64]) -> Ranked {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranked = Ranked { ranks: vec![0.0; numbers.len()], ties: Vec::new() };
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).is_eq()) {
        // The mean of before + 1 ..= before + equal.
        let rank = before as f64 + (equal.len() + 1) as f64 / 2.0;
        for &i in equal {
            ranked.ranks[i] = rank;
        }
        if equal.len() > 1 {
            ranked.ties.push(equal.len());
        }
        before += equal.len();
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_share_the_mean_of_their_ranks() {
        let ranked = mean_ranks(&[3.0, 1.0, 3.0, 2.0, 1.0, 3.0]);
        assert_eq!(ranked.ranks, [5.0, 1.5, 5.0, 3.0, 1.5, 5.0]);
        assert_eq!(ranked.ties, [2, 3]);
        assert!(mean_ranks(&[]).ranks.is_empty());
    }
}
