//! The instruction set to use: detected once per process, and passed as a value, so that a test can
//! choose any of them.
//!
//! A kernel is a struct with a generic `run`; [`Isa::run`] compiles it once per instruction set, each
//! inside a function that has the set's features enabled, and calls the right one. So a build without
//! flags has full speed.

use crate::simd::{Simd, portable::Portable};
use std::sync::OnceLock;

/// A computation written once for every instruction set. `run` and all it calls must be
/// `#[inline(always)]`.
pub(crate) trait Kernel {
    /// Computes, with the registers of `S`.
    fn run<S: Simd>(self, simd: S);
}

/// An instruction set that this processor has: only [`Isa::detect`], [`Isa::available`] and
/// [`Isa::portable`] create one, and only if the processor has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    Portable,
}

impl Isa {
    /// Every instruction set of this machine, best first; the last is always the portable one.
    pub fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            // Only the features that the functions below enable.
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 && is_x86_feature_detected!("avx512f") {
                found.push(Self(Set::Avx512));
            }
            if avx2 {
                found.push(Self(Set::Avx2));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            found.push(Self(Set::Neon));
        }
        found.push(Self(Set::Portable));
        found
    }

    /// The best instruction set of this machine, detected once per process.
    pub fn detect() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Self::available()[0])
    }

    /// Plain Rust, without special instructions.
    pub fn portable() -> Self {
        Self(Set::Portable)
    }

    /// Its name, for benchmarks and reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2+fma",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "neon",
            Set::Portable => "portable",
        }
    }

    /// Floats in one of its registers.
    pub fn lanes(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => 16,
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => 8,
            #[cfg(target_arch = "aarch64")]
            Set::Neon => 4,
            Set::Portable => 4,
        }
    }

    /// Whether two rows share a register for a tail of half a register: see
    /// [`crate::simd::Simd::HALVES`].
    pub(crate) fn halves(self) -> bool {
        self.lanes() > 4
    }

    /// Runs `kernel`, compiled for this instruction set.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            // SAFETY: the variant exists only if the features were detected.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { run_avx512(kernel) },
            // SAFETY: the variant exists only if the features were detected.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: the variant exists only if the feature was detected.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => unsafe { run_neon(kernel) },
            Set::Portable => kernel.run(Portable),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn run_avx512<K: Kernel>(kernel: K) {
    // SAFETY: the caller checked for the features.
    kernel.run(unsafe { crate::simd::avx512::Avx512::assume() });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn run_avx2<K: Kernel>(kernel: K) {
    // SAFETY: the caller checked for the features.
    kernel.run(unsafe { crate::simd::avx2::Avx2::assume() });
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn run_neon<K: Kernel>(kernel: K) {
    // SAFETY: the caller checked for the feature.
    kernel.run(unsafe { crate::simd::neon::Neon::assume() });
}
