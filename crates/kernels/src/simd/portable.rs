//! Plain Rust on four lanes: for every processor, and the reference for tests of the other
//! implementations.

use super::Simd;

/// Four lanes in an array; compilers keep it in a 128-bit register if the processor has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

macro_rules! lanewise {
    ($($x:ident),+ => $value:expr) => {{
        let mut out = [0.0f32; 4];
        for i in 0..4 {
            $(let $x = $x[i];)+
            out[i] = $value;
        }
        out
    }};
}

impl Simd for Portable {
    type V = [f32; 4];
    const LANES: usize = 4;
    const WIDE: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        [x; 4]
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> Self::V {
        // SAFETY: the caller guarantees four floats; the read need not be aligned.
        unsafe { from.cast::<[f32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, v: Self::V) {
        // SAFETY: the caller guarantees four floats; the write need not be aligned.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(v) }
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => a + b)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => a - b)
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => a * b)
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => a / b)
    }

    // `f32::mul_add` would call a slow library function if the processor has no fused instruction, so
    // this rounds twice.
    #[inline(always)]
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        lanewise!(a, b, c => a * b + c)
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        lanewise!(a, b, c => c - a * b)
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        lanewise!(a, b => if a < b { a } else { b })
    }

    #[inline(always)]
    fn where_positive(self, gate: Self::V, value: Self::V) -> Self::V {
        lanewise!(gate, value => if gate > 0.0 { value } else { 0.0 })
    }

    const HALVES: bool = false;

    #[inline(always)]
    fn pair(self, low: Self::V, high: Self::V) -> Self::V {
        [low[0], low[1], high[2], high[3]]
    }

    #[inline(always)]
    fn upper(self, v: Self::V) -> Self::V {
        [v[2], v[3], v[2], v[3]]
    }

    #[inline(always)]
    unsafe fn load_half_twice(self, from: *const f32) -> Self::V {
        // SAFETY: the caller guarantees two floats; the read need not be aligned.
        let [a, b] = unsafe { from.cast::<[f32; 2]>().read_unaligned() };
        [a, b, a, b]
    }
}
