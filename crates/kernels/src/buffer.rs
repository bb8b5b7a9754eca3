//! Memory for kernels: zeroed, aligned to cache lines, readable a little beyond its end.

use memmap2::MmapMut;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Floats that may be *read* past the end of a buffer: vector loads of a channel tail run over by less than this.
pub const SLACK: usize = 64;
const ALIGN: usize = 64;
/// Bytes from which on memory comes from the system itself: it goes back there at once and leaves no holes in the heap.
const MAPPED: usize = 1 << 20;

/// `len` floats, all 0 at first.
pub struct Buffer {
    start: NonNull<f32>,
    len: usize,
    /// Whose `start` it is, where it is not the heap's.
    mapped: Option<MmapMut>,
}

// SAFETY: a `Buffer` owns its memory like a `Vec<f32>` does.
unsafe impl Send for Buffer {}
// SAFETY: a `Buffer` owns its memory like a `Vec<f32>` does.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocates `len` zeros (and [`SLACK`] more behind them).
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a layout asks for more than a float's alignment, and a map begins on a page"
    )]
    pub fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() >= MAPPED
            && let Ok(mut mapped) = MmapMut::map_anon(layout.size())
            && let Some(start) = NonNull::new(mapped.as_mut_ptr().cast::<f32>())
        {
            // Fewer, larger pages are faster to find; where there are none, nothing is lost.
            #[cfg(target_os = "linux")]
            let _ = mapped.advise(memmap2::Advice::HugePage);
            return Self { start, len, mapped: Some(mapped) };
        }
        // SAFETY: the layout is never empty, because of the slack.
        let start = unsafe { alloc_zeroed(layout) }.cast::<f32>();
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), len, mapped: None }
    }

    /// At least `len` floats of any value: keeps the memory if it is large enough.
    pub fn at_least(&mut self, len: usize) -> &mut [f32] {
        if self.len < len {
            *self = Self::new(len);
        }
        &mut self[..len]
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align((len + SLACK) * size_of::<f32>(), ALIGN).expect("a buffer fits into memory")
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

/// Buffers between two uses: a fresh one costs a page fault every 4 KiB.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<Buffer>>);

/// More unused buffers than this are thrown away, the oldest first.
const KEPT: usize = 128;

impl Spare {
    /// A buffer of at least `len` floats of any value, until it is dropped.
    pub(crate) fn lend(self: &Arc<Self>, len: usize) -> Loan {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Buffer| (len..=2 * len).contains(&buffer.len);
        let found = spare.iter().rposition(fits).map(|at| spare.swap_remove(at));
        Loan { buffer: found.unwrap_or_else(|| Buffer::new(len)), home: Arc::clone(self) }
    }
}

/// A buffer that goes back to where it was borrowed.
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
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.buffer
    }
}

impl DerefMut for Loan {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.buffer
    }
}

/// A pointer that tasks share because each writes its own part of what it points to.
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
        // SAFETY: the caller vouches for the offset.
        unsafe { self.0.add(offset) }
    }
}
