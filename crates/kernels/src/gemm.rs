//! The inner loop of all kernels: a block of `MR` rows × `NV` registers of sums. Each product is a
//! broadcast number of the left matrix times a vector of the right one.
//!
//! Forward passes read pixels (or transformed tiles) on the left and packed weights on the right;
//! weight gradients read the layer's input on the left and the output's gradient on the right. Only
//! the steps between consecutive `k` differ.
//!
//! If the last register of a row is at most half full (20 channels on 8 lanes), two rows share it: 4
//! rows × 20 columns take ten products instead of twelve.

use crate::simd::Simd;

/// Sums of `MR` rows × `NV` registers, and with `HALF` another half register per row.
pub(crate) struct Block<S: Simd, const MR: usize, const NV: usize, const HALF: bool> {
    full: [[S::V; NV]; MR],
    /// Rows 2i and 2i + 1, in the lower and upper half of element i.
    shared: [S::V; MR],
}

impl<S: Simd, const MR: usize, const NV: usize, const HALF: bool> Block<S, MR, NV, HALF> {
    /// Registers of a row, the half one included.
    pub(crate) const REGISTERS: usize = NV + HALF as usize;

    #[inline(always)]
    pub(crate) fn zero(simd: S) -> Self {
        Self { full: [[simd.zero(); NV]; MR], shared: [simd.zero(); MR] }
    }

    /// Every row begins with the floats at `row`: a bias.
    ///
    /// # Safety
    /// The floats of a row must be readable.
    #[inline(always)]
    pub(crate) unsafe fn of(simd: S, row: *const f32) -> Self {
        let mut block = Self::zero(simd);
        for r in 0..MR {
            for j in 0..NV {
                // SAFETY: the caller guarantees a whole row.
                block.full[r][j] = unsafe { simd.load(row.add(j * S::LANES)) };
            }
            if HALF {
                // SAFETY: the caller guarantees a whole row, which ends with half a register.
                block.shared[r / 2] = unsafe { simd.load_half_twice(row.add(NV * S::LANES)) };
            }
        }
        block
    }

    /// `self[r][j] += Σ_k left[r][k · left_step] · right[k · right_step + j]`.
    ///
    /// # Safety
    /// Every float named above must be readable, for `k < depth` and all columns.
    #[inline(always)]
    pub(crate) unsafe fn accumulate(
        &mut self,
        simd: S,
        left: [*const f32; MR],
        left_step: usize,
        right: *const f32,
        right_step: usize,
        depth: usize,
    ) {
        for k in 0..depth {
            // SAFETY: the caller guarantees all operands up to `depth`.
            unsafe {
                let right = right.add(k * right_step);
                let mut columns = [simd.zero(); NV];
                for j in 0..NV {
                    columns[j] = simd.load(right.add(j * S::LANES));
                }
                let tail = if HALF { simd.load_half_twice(right.add(NV * S::LANES)) } else { simd.zero() };
                let mut previous = simd.zero();
                for r in 0..MR {
                    let x = simd.splat(*left[r].add(k * left_step));
                    for j in 0..NV {
                        self.full[r][j] = simd.mul_add(x, columns[j], self.full[r][j]);
                    }
                    if HALF && r % 2 == 1 {
                        self.shared[r / 2] = simd.mul_add(simd.pair(previous, x), tail, self.shared[r / 2]);
                    } else if HALF && r + 1 == MR {
                        self.shared[r / 2] = simd.mul_add(x, tail, self.shared[r / 2]);
                    }
                    previous = x;
                }
            }
        }
    }

    /// Register `j` of row `r`; only the lower half of the half register is valid.
    #[inline(always)]
    pub(crate) fn get(&self, simd: S, r: usize, j: usize) -> S::V {
        if j < NV {
            self.full[r][j]
        } else if r.is_multiple_of(2) {
            self.shared[r / 2]
        } else {
            simd.upper(self.shared[r / 2])
        }
    }

    /// Adds all rows to the matrix at `to`, whose rows are `pitch` floats apart and hold whole
    /// registers.
    ///
    /// # Safety
    /// The matrix must be readable and writable.
    #[inline(always)]
    pub(crate) unsafe fn add_to(&self, simd: S, to: *mut f32, pitch: usize) {
        for r in 0..MR {
            for j in 0..Self::REGISTERS {
                // SAFETY: the caller guarantees the matrix.
                unsafe {
                    let to = to.add(r * pitch + j * S::LANES);
                    simd.store(to, simd.add(simd.load(to), self.get(simd, r, j)));
                }
            }
        }
    }

    /// Stores all rows to the matrix at `to`, whose rows are `pitch` floats apart and hold whole
    /// registers.
    ///
    /// # Safety
    /// The matrix must be writable.
    #[inline(always)]
    pub(crate) unsafe fn store(&self, simd: S, to: *mut f32, pitch: usize) {
        for r in 0..MR {
            for j in 0..Self::REGISTERS {
                // SAFETY: the caller guarantees the matrix.
                unsafe { simd.store(to.add(r * pitch + j * S::LANES), self.get(simd, r, j)) };
            }
        }
    }
}

/// The largest number of rows of a block with `registers` columns: at most 12 accumulators of 16
/// registers, or 24 of 32. A block of 4 × 3 would need all 16 registers, and compilers then spill one
/// in the innermost loop.
#[inline(always)]
pub(crate) const fn tallest(wide: bool, registers: usize, half: bool) -> usize {
    match (wide, registers, half) {
        (false, 1, false) => 8,
        (false, 1, true) | (false, 2, false) => 6,
        (false, 2, true) => 4,
        (false, _, _) => 3,
        (true, 1, _) | (true, 2, false) => 12,
        (true, _, _) => 8,
    }
}

/// Runs `$body` on blocks of rows `$first .. $first + $MR` until `$rows` are done: first the largest
/// blocks that the registers allow, then smaller ones. `$MR` is a constant within `$body`.
macro_rules! row_blocks {
    ($S:ident, $NV:expr, $HALF:expr, $rows:expr, $first:ident, $MR:ident => $body:block) => {{
        let rows: usize = $rows;
        let tallest = const { $crate::gemm::tallest($S::WIDE, $NV, $HALF) };
        let mut $first: usize = 0;
        $crate::gemm::row_blocks!(@ tallest, 12, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 8, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 6, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 4, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 3, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 2, rows, $first, $MR, $body);
        $crate::gemm::row_blocks!(@ tallest, 1, rows, $first, $MR, $body);
        debug_assert_eq!($first, rows);
    }};
    (@ $tallest:ident, $height:literal, $rows:ident, $first:ident, $MR:ident, $body:block) => {
        if $tallest >= $height {
            while $rows - $first >= $height {
                const $MR: usize = $height;
                $body
                $first += $height;
            }
        }
    };
}
pub(crate) use row_blocks;

/// Calls `$self.$method::<$S, NV, HALF>(…)` with the panel's numbers as constants.
macro_rules! with_panel {
    ($panel:expr, $self:ident . $method:ident :: <$S:ident> $args:tt) => {
        match ($panel.full, $panel.half) {
            (1, false) => $self.$method::<$S, 1, false> $args,
            (2, false) => $self.$method::<$S, 2, false> $args,
            (3, false) => $self.$method::<$S, 3, false> $args,
            (1, true) => $self.$method::<$S, 1, true> $args,
            _ => $self.$method::<$S, 2, true> $args,
        }
    };
}
pub(crate) use with_panel;

/// Columns in groups of a few registers: the order of packed weights and of outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panels {
    columns: usize,
    lanes: usize,
    /// Whether the last panel ends with a shared half register.
    half: bool,
}

/// Columns `first .. first + width`: `full` whole registers (the last of which may be padded) and
/// maybe a half one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panel {
    pub first: usize,
    pub width: usize,
    pub full: usize,
    pub half: bool,
}

impl Panel {
    pub(crate) fn registers(self) -> usize {
        self.full + usize::from(self.half)
    }

    /// The offset of the panel's weights if each panel is packed as `[depth][registers · lanes]`.
    #[inline(always)]
    pub(crate) fn packed_at(self, depth: usize) -> usize {
        self.first * depth
    }
}

impl Panels {
    #[inline(always)]
    pub(crate) fn new(columns: usize, lanes: usize, halves: bool) -> Self {
        let tail = columns % lanes;
        Self { columns, lanes, half: halves && columns > lanes && tail > 0 && tail <= lanes / 2 }
    }

    #[inline(always)]
    pub(crate) fn registers(self) -> usize {
        self.columns.div_ceil(self.lanes)
    }

    /// Floats of a row with the padding of the last register.
    #[inline(always)]
    pub(crate) fn padded(self) -> usize {
        self.registers() * self.lanes
    }

    /// Whole registers before the panel with the half one, which takes up to two more.
    #[inline(always)]
    fn plain(self) -> usize {
        let full = self.registers() - usize::from(self.half);
        if self.half { full - full.min(2) } else { full }
    }

    #[inline(always)]
    pub(crate) fn count(self) -> usize {
        // An odd number of whole registers gives one panel of three (or one of one), the rest are
        // pairs.
        let plain = self.plain();
        let pairs = if plain == 1 { 1 } else { plain / 2 };
        pairs + usize::from(self.half)
    }

    #[inline(always)]
    pub(crate) fn panel(self, index: usize) -> Panel {
        let plain = self.plain();
        let odd = plain % 2;
        let last = self.half && index + 1 == self.count();
        let (start, full) = match index {
            _ if last => (plain, self.registers() - 1 - plain),
            0 => (0, if plain == 1 { 1 } else { 2 + odd }),
            _ => (2 * index + odd, 2),
        };
        let first = start * self.lanes;
        let registers = full + usize::from(last);
        Panel { first, width: (registers * self.lanes).min(self.columns - first), full, half: last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_every_column_once() {
        for (lanes, halves) in [(4, false), (8, false), (8, true), (16, true)] {
            for columns in 1..200 {
                let panels = Panels::new(columns, lanes, halves);
                let mut next = 0;
                for panel in (0..panels.count()).map(|index| panels.panel(index)) {
                    assert_eq!(panel.first, next, "{columns} columns, {lanes} lanes");
                    assert!(panel.width <= panel.registers() * lanes && (1..=3).contains(&panel.full));
                    assert!(!panel.half || panel.full <= 2 && panel.width <= panel.full * lanes + lanes / 2);
                    next += panel.width;
                }
                assert_eq!(next, columns);
            }
        }
    }
}
