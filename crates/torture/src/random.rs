//! Random numbers from a seed, so that a trial can be repeated alone.

/// Marsaglia's xorshift.
pub struct Random(u64);

impl Random {
    /// For one trial of one kind.
    pub fn new(seed: u64, kind: &str, trial: usize) -> Self {
        let mix = |state: u64, value: u64| (state ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let name = kind.bytes().fold(0, |state, byte| mix(state, u64::from(byte)));
        let mut random = Self(mix(mix(name, seed), trial as u64) | 1);
        random.bytes(8);
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    /// From 0 to `bound` - 1; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 11) % bound.max(1) as u64) as usize
    }

    /// From 0 to 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
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
        let mut random = Random::new(1, "", 0);
        assert!((0..1000).all(|_| random.below(3) < 3 && (0.0..1.0).contains(&random.fraction())));
    }
}
