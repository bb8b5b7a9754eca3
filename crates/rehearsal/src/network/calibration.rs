//! Recalibrating the running statistics of a network: each becomes the plain average, over some
//! batches, of what the batch itself has, every layer in the same pass.
//!
//! Of its norm layers a custom backbone says only that it keeps their statistics in
//! [`super::Running`], and that a training pass moves them: r ← (1 − m)·r + m·b, with b the batch's
//! own. So passes are asked for both: from r = 0 one leaves m·b, and from an r beside which every b is
//! nothing, (1 − m)·r.

use burn::tensor::Tensor;

use super::{Array, Network, State};

/// Beside it the statistics of any batch are nothing; a power of two, so that shares of it are exact.
const VAST: f32 = (1u128 << 100) as f32;

impl Network {
    /// The network without autodiff and with the statistics of these batches, `[n, h, w, c]` each;
    /// none if there are no batches, or if it has no running statistics or a frozen backbone.
    pub(crate) fn calibrated(&self, batches: impl IntoIterator<Item = Tensor<4>>) -> Option<Self> {
        if self.is_frozen() {
            return None;
        }
        let network = self.valid();
        let own = network.running();
        let from_zero = network.with_running(&filled(&own, 0.0)).ok()?;
        let mut batches = batches.into_iter().peekable();
        let kept = network.with_running(&filled(&own, VAST)).ok()?.running_after(batches.peek()?.clone());
        let mut count = 0u32;
        let mut sums: Vec<Vec<f64>> = own.0.values().map(|array| vec![0.0; array.values.len()]).collect();
        for images in batches {
            let moved = from_zero.running_after(images);
            for (sum, array) in sums.iter_mut().zip(moved.0.values()) {
                sum.iter_mut().zip(&array.values).for_each(|(sum, value)| *sum += f64::from(*value));
            }
            count += 1;
        }
        let mut found = own;
        for ((array, sum), kept) in found.0.values_mut().zip(sums).zip(kept.0.values()) {
            for ((value, sum), kept) in array.values.iter_mut().zip(sum).zip(&kept.values) {
                let share = 1.0 - f64::from(kept / VAST);
                // What no pass moves stays.
                if share > 0.0 {
                    *value = (sum / f64::from(count) / share) as f32;
                }
            }
        }
        (!found.0.is_empty()).then(|| network.with_running(&found).ok()).flatten()
    }

    /// The running statistics that a training pass over these images leaves.
    fn running_after(&self, images: Tensor<4>) -> State {
        // A clone shares the packed weights, which loading would drop.
        let mut passed = self.clone();
        passed.train_features(images);
        passed.running()
    }
}

/// The same names and shapes, every value the same.
fn filled(state: &State, value: f32) -> State {
    let filled = |array: &Array| Array { shape: array.shape.clone(), values: vec![value; array.values.len()] };
    State(state.0.iter().map(|(name, array)| (name.clone(), filled(array))).collect())
}
