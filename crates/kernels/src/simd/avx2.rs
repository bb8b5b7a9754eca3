//! AVX2 + FMA: eight lanes, sixteen registers.

use super::Simd;
use std::arch::x86_64::{
    __m256, _CMP_GT_OQ, _mm_loadu_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_and_ps, _mm256_blend_ps,
    _mm256_castps128_ps256, _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_maskload_ps, _mm256_max_ps,
    _mm256_min_ps, _mm256_mul_ps, _mm256_set_m128, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm256_sub_ps,
};

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor must have AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self(())
    }
}

// SAFETY (of every block below): an `Avx2` exists only if the processor has the instructions; the
// callers of `load` and `store` guarantee the memory.
impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    const WIDE: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: Self::V) {
        // SAFETY: see the impl.
        unsafe { _mm256_storeu_ps(to, v) }
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_fnmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_min_ps(a, b) }
    }

    #[inline(always)]
    fn where_positive(self, gate: Self::V, value: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(gate, _mm256_setzero_ps()), value) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> Self::V {
        /// Any eight consecutive numbers are the mask of a number of first lanes.
        const LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
        if count >= 8 {
            // SAFETY: the caller guarantees `count >= 8` floats.
            return unsafe { _mm256_loadu_ps(from) };
        }
        // SAFETY: eight numbers from `LANES[8 - count]` on; lanes whose number is 0 are not
        // touched.
        unsafe { _mm256_maskload_ps(from, _mm256_loadu_si256(LANES.as_ptr().add(8 - count).cast())) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, v: Self::V, count: usize) {
        // SAFETY: the caller guarantees `count` floats. Half a register is the common tail (20
        // channels = 8 + 8 + 4). Masked stores are slow on AMD, so other tails go through the stack.
        unsafe {
            match count {
                8.. => _mm256_storeu_ps(to, v),
                4 => _mm_storeu_ps(to, _mm256_castps256_ps128(v)),
                _ => {
                    let mut lanes = [0.0f32; 8];
                    _mm256_storeu_ps(lanes.as_mut_ptr(), v);
                    std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
                }
            }
        }
    }

    const HALVES: bool = true;

    #[inline(always)]
    fn pair(self, low: Self::V, high: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_blend_ps::<0b1111_0000>(low, high) }
    }

    #[inline(always)]
    fn upper(self, v: Self::V) -> Self::V {
        // SAFETY: see the impl.
        unsafe { _mm256_castps128_ps256(_mm256_extractf128_ps::<1>(v)) }
    }

    #[inline(always)]
    unsafe fn load_half_twice(self, from: *const f32) -> Self::V {
        // SAFETY: see the impl. Compiled to one broadcasting load.
        unsafe {
            let half = _mm_loadu_ps(from);
            _mm256_set_m128(half, half)
        }
    }
}
