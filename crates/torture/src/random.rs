//! Random numbers from a seed, so that a trial can be repeated alone.

pub struct Random(fastrand::Rng);

impl Random {
    /// For one trial of one kind.
    pub fn new(seed: u64, kind: &str, trial: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        for value in kind.bytes().map(u64::from).chain([trial as u64]) {
            random = fastrand::Rng::with_seed(random.u64(..) ^ value);
        }
        Self(random)
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.0.u8(..)).collect()
    }

    /// From 0 to `bound` - 1; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound.max(1))
    }

    /// From 0 to 1.
    pub fn fraction(&mut self) -> f64 {
        self.0.f64()
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_seed_kind_and_trial_only() {
        let first = |seed, kind, trial| Random::new(seed, kind, trial).bytes(8);
        assert_eq!(first(1, "kills", 7), first(1, "kills", 7));
        assert_ne!(first(1, "kills", 7), first(1, "kills", 8));
        assert_ne!(first(1, "kills", 7), first(2, "kills", 7));
        assert_ne!(first(1, "kills", 7), first(1, "faults", 7));
    }
}
