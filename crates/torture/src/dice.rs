//! Chance from a seed: the same trial is the same again.

/// Marsaglia's xorshift.
pub struct Dice(u64);

impl Dice {
    /// For one trial of one part.
    pub fn new(seed: u64, part: &str, trial: usize) -> Self {
        let mix = |state: u64, value: u64| (state ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let name = part.bytes().fold(0, |state, byte| mix(state, u64::from(byte)));
        let mut dice = Self(mix(mix(name, seed), trial as u64) | 1);
        (0..8).for_each(|_| {
            dice.roll();
        });
        dice
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to one less than `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.roll() >> 11) % bound.max(1) as u64) as usize
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_the_same_again_and_others_are_others() {
        let first = |seed, part, trial| Dice::new(seed, part, trial).roll();
        assert_eq!(first(1, "kills", 7), first(1, "kills", 7));
        assert!(first(1, "kills", 7) != first(1, "kills", 8) && first(1, "kills", 7) != first(2, "kills", 7));
        assert_ne!(first(1, "kills", 7), first(1, "faults", 7));
        let mut dice = Dice::new(1, "", 0);
        assert!((0..1000).all(|_| dice.below(3) < 3 && (0.0..1.0).contains(&dice.share())));
    }
}
