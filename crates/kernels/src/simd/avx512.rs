//! AVX-512F: sixteen lanes, thirty-two registers, and masks, so that tails cost nothing.

use super::Simd;
use std::arch::x86_64::{
    __m512, _CMP_GT_OQ, _mm256_loadu_pd, _mm512_add_ps, _mm512_castpd_ps, _mm512_castpd256_pd512, _mm512_cmp_ps_mask,
    _mm512_div_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps, _mm512_insertf64x4, _mm512_loadu_ps, _mm512_mask_blend_ps,
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4, _mm512_storeu_ps, _mm512_sub_ps,
};

/// Proof that the processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The processor must have AVX-512F.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self(())
    }
}

/// The mask of the first `count` lanes.
#[inline(always)]
fn first(count: usize) -> u16 {
    if count >= 16 { u16::MAX } else { (1 << count) - 1 }
}

// SAFETY (of every block below): an `Avx512` exists only if the processor has the instructions; the
// callers of loads and stores guarantee the memory.
impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    const WIDE: bool = true;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: Self::V) {
        // SAFETY: see the impl.
        unsafe { _mm512_storeu_ps(to, v) }
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_fnmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    fn where_positive(self, gate: Self::V, value: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps()), value) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> Self::V {
        // SAFETY: see the impl; masked lanes are not touched.
        unsafe { _mm512_maskz_loadu_ps(first(count), from) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, v: Self::V, count: usize) {
        // SAFETY: see the impl; masked lanes are not touched.
        unsafe { _mm512_mask_storeu_ps(to, first(count), v) }
    }

    const HALVES: bool = true;

    #[inline(always)]
    fn pair(self, low: Self::V, high: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_mask_blend_ps(0xFF00, low, high) }
    }

    #[inline(always)]
    fn upper(self, v: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm512_shuffle_f32x4::<0b11_10_11_10>(v, v) }
    }

    #[inline(always)]
    unsafe fn load_half_twice(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl. The 64-bit lanes only carry bits.
        unsafe {
            let half = _mm512_castpd256_pd512(_mm256_loadu_pd(from.cast()));
            _mm512_castpd_ps(_mm512_insertf64x4::<1>(half, _mm256_loadu_pd(from.cast())))
        }
    }
}
