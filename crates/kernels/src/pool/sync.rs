//! Threads, locks and atomics of the pool: those of the standard library or, in the model, those of
//! loom, which explores their interleavings.

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
