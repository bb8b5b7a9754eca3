//! A vector of `f32` lanes, for every instruction set: all arithmetic of the kernels uses it.
//!
//! A value of a type that implements [`Simd`] is a token: it exists only if the processor has the
//! instructions (see [`crate::isa`]), so its methods need no further check. Every method is
//! `#[inline(always)]` because it must be compiled *inside* the `#[target_feature]` entry point that
//! dispatched to it.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;

/// The largest number of lanes of any implementation; the size of buffers on the stack.
pub(crate) const MAX_LANES: usize = 16;

/// Vector arithmetic of one instruction set.
pub(crate) trait Simd: Copy + Send + Sync + 'static {
    /// A register.
    type V: Copy;
    /// Floats in a register.
    const LANES: usize;
    /// Whether there are 32 registers (room for 24 accumulators) and not 16 (room for 12).
    const WIDE: bool;

    /// `x` in every lane.
    fn splat(self, x: f32) -> Self::V;
    /// The `LANES` floats at `from`.
    ///
    /// # Safety
    /// `from` must be readable for `LANES` floats; it need not be aligned.
    unsafe fn load(self, from: *const f32) -> Self::V;
    /// Writes the lanes of `v` to `to`.
    ///
    /// # Safety
    /// `to` must be writable for `LANES` floats; it need not be aligned.
    unsafe fn store(self, to: *mut f32, v: Self::V);
    /// `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a − b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b`.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a / b`.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `c − a · b`.
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The larger of the two.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller of the two.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// `value` in lanes with `gate > 0`, else 0.
    fn where_positive(self, gate: Self::V, value: Self::V) -> Self::V;

    /// Whether the three methods below are cheap enough for two rows to share a register, if their last
    /// registers are at most half full.
    const HALVES: bool;
    /// The lower half of `low` and the upper half of `high`.
    fn pair(self, low: Self::V, high: Self::V) -> Self::V;
    /// The upper half of `v`, in the lower half; the rest is unspecified.
    fn upper(self, v: Self::V) -> Self::V;
    /// `LANES / 2` floats at `from`, in both halves.
    ///
    /// # Safety
    /// `from` must be readable for half a register.
    unsafe fn load_half_twice(self, from: *const f32) -> Self::V;

    /// 0 in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0.0)
    }

    /// The first `count` lanes from `from`, the rest 0.
    ///
    /// # Safety
    /// `from` must be readable for `count` floats.
    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> Self::V {
        if count >= Self::LANES {
            // SAFETY: the caller guarantees `count >= LANES` floats.
            return unsafe { self.load(from) };
        }
        let mut lanes = [0.0f32; MAX_LANES];
        // SAFETY: the caller guarantees `count` floats, fewer than `lanes` holds.
        unsafe {
            std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count);
            self.load(lanes.as_ptr())
        }
    }

    /// Writes the first `count` lanes of `v` to `to`, and nothing after them.
    ///
    /// # Safety
    /// `to` must be writable for `count` floats.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, v: Self::V, count: usize) {
        if count >= Self::LANES {
            // SAFETY: the caller guarantees `count >= LANES` floats.
            unsafe { self.store(to, v) };
            return;
        }
        let mut lanes = [0.0f32; MAX_LANES];
        // SAFETY: `lanes` holds any register, the caller guarantees `count` floats.
        unsafe {
            self.store(lanes.as_mut_ptr(), v);
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
        }
    }
}
