//! Pseudo-random numbers.

/// Numbers between −1 and 1, times a scale.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn take(&mut self, count: usize, scale: f32) -> Vec<f32> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            scale * ((self.0 >> 40) as f32 / 8388608.0 - 1.0)
        };
        (0..count).map(|_| next()).collect()
    }
}
