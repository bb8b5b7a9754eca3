//! Memory for kernels: zeroed, aligned to cache lines, readable a little beyond its end.

use crate::size;
use memmap2::MmapMut;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Floats that may be *read* past the end of a buffer: vector loads of the last channels read fewer
/// floats than this beyond the end.
pub(crate) const SLACK: usize = 64;
const ALIGN: usize = 64;
/// Buffers of at least this number of bytes are mapped from the system: when they are dropped, the
/// system has the memory at once, and the heap is not fragmented.
const MAPPED: usize = 1 << 20;

/// `len` floats, all 0 at first.
pub(crate) struct Buffer {
    start: NonNull<f32>,
    len: usize,
    /// The mapping that `start` points to, if the memory is not from the heap.
    mapped: Option<MmapMut>,
}

// SAFETY: a `Buffer` owns its memory like a `Vec<f32>` does.
unsafe impl Send for Buffer {}
// SAFETY: a `Buffer` owns its memory like a `Vec<f32>` does.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocates `len` zeros (and [`SLACK`] more after them).
    ///
    /// # Panics
    /// If no memory could hold them.
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a layout asks for more than a float's alignment, and a map begins on a page"
    )]
    pub(crate) fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() >= MAPPED
            && let Ok(mut mapped) = MmapMut::map_anon(layout.size())
            && let Some(start) = NonNull::new(mapped.as_mut_ptr().cast::<f32>())
        {
            // Fewer, larger pages make address translation faster. If the system has none, this has no effect.
            #[cfg(target_os = "linux")]
            let _ = mapped.advise(memmap2::Advice::HugePage);
            return Self { start, len, mapped: Some(mapped) };
        }
        // SAFETY: the layout is never empty, because of the slack.
        let start = unsafe { alloc_zeroed(layout) }.cast::<f32>();
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), len, mapped: None }
    }

    /// At least `len` floats of any value: keeps the memory if it is large enough.
    pub(crate) fn at_least(&mut self, len: usize) -> &mut [f32] {
        if self.len < len {
            *self = Self::new(len);
        }
        &mut self[..len]
    }

    /// The address of float `offset`. Unlike a slice's pointer it may be read up to [`SLACK`] floats
    /// beyond the end.
    ///
    /// # Panics
    /// If `offset` is beyond the end.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize) -> *const f32 {
        assert!(offset <= self.len, "float {offset} of a buffer of {}", self.len);
        // SAFETY: inside the allocation, or just after its last float.
        unsafe { self.start.as_ptr().add(offset) }
    }

    fn layout(len: usize) -> Layout {
        let bytes = (size::floats([len]) + SLACK) * size_of::<f32>();
        Layout::from_size_align(bytes, ALIGN).expect("no more floats than fit into memory")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.mapped.is_none() {
            // SAFETY: allocated in `new` with the same layout.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) }
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: `start` points to `len` initialised floats owned by `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: `start` points to `len` initialised floats owned by `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Unused buffers, kept for reuse: a new buffer costs a page fault every 4 KiB.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<Buffer>>);

/// How many unused buffers are kept; the oldest are freed first.
const KEPT: usize = 128;

impl Spare {
    /// A buffer of at least `len` floats of any value, until it is dropped.
    pub(crate) fn lend(self: &Arc<Self>, len: usize) -> Loan {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Buffer| (len..=len.saturating_mul(2)).contains(&buffer.len);
        let found = spare.iter().rposition(fits).map(|at| spare.swap_remove(at));
        Loan { buffer: found.unwrap_or_else(|| Buffer::new(len)), home: Arc::clone(self) }
    }
}

/// A buffer that returns to its [`Spare`] when it is dropped.
pub(crate) struct Loan {
    buffer: Buffer,
    home: Arc<Spare>,
}

impl Drop for Loan {
    fn drop(&mut self) {
        let mut spare = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push(std::mem::replace(&mut self.buffer, Buffer::new(0)));
        if spare.len() > KEPT {
            spare.remove(0);
        }
    }
}

impl Deref for Loan {
    type Target = Buffer;
    fn deref(&self) -> &Buffer {
        &self.buffer
    }
}

impl DerefMut for Loan {
    fn deref_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }
}

/// A pointer that tasks share; each task writes its own part of the memory.
#[derive(Clone, Copy)]
pub(crate) struct Shared(*mut f32);

// SAFETY: only a pointer; every use says why its writes do not overlap another task's.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new(slice: &mut [f32]) -> Self {
        Self(slice.as_mut_ptr())
    }

    /// The pointer, `offset` floats further.
    ///
    /// # Safety
    /// `offset` must lie within the slice this was made from.
    #[inline(always)]
    pub(crate) unsafe fn at(self, offset: usize) -> *mut f32 {
        // SAFETY: the caller guarantees the offset.
        unsafe { self.0.add(offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_or_mapped_buffer_is_zero_including_its_slack() {
        for len in [0, 1, 1000, 1 << 19] {
            let buffer = Buffer::new(len);
            assert_eq!((buffer.len(), buffer.mapped.is_some()), (len, 4 * (len + SLACK) >= MAPPED));
            assert!(buffer.iter().all(|x| *x == 0.0));
            // SAFETY: the slack may be read.
            let slack = (0..SLACK).map(|i| unsafe { *buffer.at(len).add(i) });
            assert!(slack.into_iter().all(|x| x == 0.0));
        }
    }

    #[test]
    fn a_length_whose_bytes_wrap_around_is_refused() {
        // Four bytes times these lengths are 0, 256 bytes and all of the address space.
        for len in [1 << (usize::BITS - 2), (1 << (usize::BITS - 2)) + 64, usize::MAX] {
            assert!(std::panic::catch_unwind(|| Buffer::new(len)).is_err(), "{len}");
        }
    }

    #[test]
    fn a_grown_buffer_is_long_enough_and_a_loan_is_reused() {
        let mut buffer = Buffer::new(3);
        assert_eq!(buffer.at_least(5).len(), 5);
        assert_eq!(buffer.at_least(2).len(), 2);
        let spare = Arc::new(Spare::default());
        let first = spare.lend(100).start;
        assert_eq!(spare.lend(60).start, first, "the same memory again");
        assert_ne!(spare.lend(1000).start, first, "too small");
    }
}
