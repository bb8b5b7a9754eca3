//! NEON: four lanes, thirty-two registers, on every 64-bit ARM processor.

use super::Simd;
use std::arch::aarch64::{
    float32x4_t, vaddq_f32, vandq_u32, vcgtzq_f32, vcombine_f32, vdivq_f32, vdupq_n_f32, vfmaq_f32, vfmsq_f32,
    vget_high_f32, vget_low_f32, vld1_f32, vld1q_f32, vmaxq_f32, vminq_f32, vmulq_f32, vreinterpretq_f32_u32,
    vreinterpretq_u32_f32, vst1q_f32, vsubq_f32,
};

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// # Safety
    /// The processor must have NEON.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self(())
    }
}

// SAFETY (of every block below): a `Neon` exists only if the processor has the instructions; the
// callers of `load` and `store` guarantee the memory.
impl Simd for Neon {
    type V = float32x4_t;
    const LANES: usize = 4;
    const WIDE: bool = true;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vdupq_n_f32(x) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vld1q_f32(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: Self::V) {
        // SAFETY: see the impl.
        unsafe { vst1q_f32(to, v) }
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vaddq_f32(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vsubq_f32(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vmulq_f32(a, b) }
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vdivq_f32(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vfmsq_f32(c, a, b) }
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vmaxq_f32(a, b) }
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vminq_f32(a, b) }
    }

    #[inline(always)]
    fn where_positive(self, gate: Self::V, value: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vreinterpretq_f32_u32(vandq_u32(vcgtzq_f32(gate), vreinterpretq_u32_f32(value))) }
    }

    const HALVES: bool = false;

    #[inline(always)]
    fn pair(self, low: Self::V, high: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vcombine_f32(vget_low_f32(low), vget_high_f32(high)) }
    }

    #[inline(always)]
    fn upper(self, v: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { vcombine_f32(vget_high_f32(v), vget_high_f32(v)) }
    }

    #[inline(always)]
    unsafe fn load_half_twice(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe {
            let half = vld1_f32(from);
            vcombine_f32(half, half)
        }
    }
}
