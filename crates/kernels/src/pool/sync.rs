//! Threads, locks and atomics of the pool: the standard library's or, in the model, those whose
//! interleavings loom explores.

#[cfg(not(all(loom, test)))]
pub(super) use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Mutex, MutexGuard},
    thread::{self, JoinHandle, ThreadId},
};

#[cfg(all(loom, test))]
pub(super) use loom::{
    hint,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Mutex, MutexGuard},
    thread::{self, JoinHandle, ThreadId},
};
