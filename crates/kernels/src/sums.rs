//! Sums per channel. Tasks compute them in any order; they are added in the order of the tasks.

use crate::buffer::{Buffer, Shared};
use crate::simd::{MAX_LANES, Simd};
use crate::size;

/// A row of `K · stride` floats per task: the first sum of every channel, then the second ones, ….
pub struct Sums<const K: usize> {
    data: Buffer,
    rows: usize,
    channels: usize,
}

impl<const K: usize> Default for Sums<K> {
    fn default() -> Self {
        Self { data: Buffer::new(0), rows: 0, channels: 0 }
    }
}

impl<const K: usize> Sums<K> {
    /// Makes room for the sums of `rows` tasks, all 0. Returns them and the floats from one kind of
    /// sum to the next.
    pub(crate) fn begin(&mut self, rows: usize, channels: usize) -> (Shared, usize) {
        (self.rows, self.channels) = (rows, channels);
        let stride = self.stride();
        let data = self.data.at_least(size::floats([rows, K, stride]));
        data.fill(0.0);
        (Shared::new(data), stride)
    }

    /// Whole registers of any size.
    fn stride(&self) -> usize {
        self.channels.next_multiple_of(MAX_LANES)
    }

    /// The totals per channel, added in f64 in the order of the tasks; empty if there are no sums yet.
    pub fn totals(&self) -> Vec<[f64; K]> {
        let stride = self.stride();
        let mut totals = vec![[0.0; K]; self.channels];
        for row in self.data[..self.rows * K * stride].chunks_exact((K * stride).max(1)) {
            for (channel, total) in totals.iter_mut().enumerate() {
                for (kind, sum) in total.iter_mut().enumerate() {
                    *sum += f64::from(row[kind * stride + channel]);
                }
            }
        }
        totals
    }
}

/// Adds a register of each of two sums to a task's row.
///
/// # Safety
/// `row` must point to the channel's first sum in a row that belongs to the calling task, with
/// `stride` as [`Sums::begin`] said.
#[inline(always)]
pub(crate) unsafe fn add_to_row<S: Simd>(simd: S, row: *mut f32, stride: usize, sums: [S::V; 2]) {
    for (kind, sum) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees the row, which holds whole registers.
        unsafe {
            let to = row.add(kind * stride);
            simd.store(to, simd.add(simd.load(to), sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_nothing_are_none() {
        assert!(Sums::<2>::default().totals().is_empty());
    }

    #[test]
    fn totals_add_the_tasks_rows() {
        let mut sums = Sums::<2>::default();
        let (rows, stride) = sums.begin(3, 2);
        for (i, value) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            // SAFETY: the second sum of channel 1, in each of three rows.
            unsafe { *rows.at((2 * i + 1) * stride + 1) = value };
        }
        assert_eq!(sums.totals(), [[0.0, 0.0], [0.0, 7.0]]);
    }
}
