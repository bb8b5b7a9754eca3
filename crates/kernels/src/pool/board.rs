//! The board where a job is posted and its tasks are taken.
//!
//! One thread at a time posts a job and waits until it is done; any thread takes tasks. This is sound
//! for these reasons:
//! - Taking is one atomic step on `open`, whose value says how many tasks are left, so no task is
//!   taken twice.
//! - It acquires what the poster released (every taking continues the poster's release sequence),
//!   so a thread that took a task sees the job of the task.
//! - The job cannot change, and its closure is not dropped, before the last task is done: [`Posted`]
//!   waits for that even in a panic.
//! - Doing a task releases `done`, and waiting acquires it: the poster sees all writes of the tasks.
//!
//! In `model.rs`, loom checks these claims on every interleaving.

use super::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Mutex, Ordering, fence, hint, thread};
use super::{Task, lock};
use crate::buffer::Buffer;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How often a worker looks for a job before it sleeps: some tens of microseconds. In loom's models it
/// sleeps at once.
const SPINS: u32 = if cfg!(loom) { 0 } else { 20_000 };

/// The payload of a task's panic.
pub(super) type Panic = Box<dyn Any + Send>;

pub(super) struct Board {
    /// The job's number (high 32 bits) and how many of its tasks are left (low 32 bits), in one word so
    /// that taking a task fails as soon as the job has changed.
    open: AtomicU64,
    tasks: AtomicUsize,
    done: AtomicUsize,
    /// A thin pointer to the job's (fat) reference, which lives on the caller's stack until every
    /// task is done.
    job: AtomicPtr<&'static Task<'static>>,
    asleep: Vec<AtomicBool>,
    /// The first panic of the job.
    panic: Mutex<Option<Panic>>,
    closing: AtomicBool,
}

/// A job on the board. When it is dropped, it waits until every task is done, because tasks use the
/// poster's stack.
pub(super) struct Posted<'a> {
    board: &'a Board,
    tasks: usize,
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        let mut spins = 0;
        while self.board.done.load(Ordering::Acquire) < self.tasks {
            relax(&mut spins);
        }
    }
}

/// Waits a moment; after some thousand calls, yields the core to another thread.
fn relax(spins: &mut u32) {
    *spins = spins.wrapping_add(1);
    if spins.is_multiple_of(4096) { thread::yield_now() } else { hint::spin_loop() }
}

impl Board {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            open: AtomicU64::new(0),
            tasks: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            asleep: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            panic: Mutex::new(None),
            closing: AtomicBool::new(false),
        }
    }

    /// Posts `tasks` tasks of `job`.
    ///
    /// # Safety
    /// No other job may be on the board. The returned value must be dropped, and `job` must be valid
    /// until then.
    pub(super) unsafe fn post(&self, job: *mut &'static Task<'static>, tasks: usize) -> Posted<'_> {
        let count = u32::try_from(tasks).expect("a job has fewer than 2^32 tasks");
        self.job.store(job, Ordering::Relaxed);
        self.tasks.store(tasks, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let number = (self.open.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.open.store(number << 32 | u64::from(count), Ordering::Release);
        Posted { board: self, tasks }
    }

    /// Which workers sleep and must be woken for the job just posted; see [`Board::sleep`].
    pub(super) fn sleepers(&self) -> impl Iterator<Item = usize> {
        fence(Ordering::SeqCst);
        (0..self.asleep.len()).filter(|&id| self.asleep[id].load(Ordering::Relaxed))
    }

    /// Takes one task of the current job and does it; false if none is left.
    pub(super) fn take_and_do(&self, scratch: &mut Buffer) -> bool {
        let mut open = self.open.load(Ordering::Relaxed);
        while open as u32 > 0 {
            if let Err(now) = self.open.compare_exchange_weak(open, open - 1, Ordering::Acquire, Ordering::Relaxed) {
                open = now;
            } else {
                self.carry_out(open as u32 as usize, scratch);
                return true;
            }
        }
        false
    }

    /// Does the task that was taken when `left` were left.
    fn carry_out(&self, left: usize, scratch: &mut Buffer) {
        let index = self.tasks.load(Ordering::Relaxed) - left;
        // SAFETY: a task was taken and is not done, so the poster still waits and the reference on
        // its stack is alive; the job cannot change before this task is done.
        let job = unsafe { *self.job.load(Ordering::Relaxed) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(index, scratch))) {
            self.keep(panic);
        }
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Keeps the first panic of a job. The others are leaked: dropping them could panic, and every task
    /// must count as done.
    fn keep(&self, panic: Panic) {
        let mut first = lock(&self.panic);
        if first.is_none() {
            *first = Some(panic);
        } else {
            std::mem::forget(panic);
        }
    }

    /// The payload of the first panic since the last call.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        lock(&self.panic).take()
    }

    /// Does tasks until the board is closed.
    pub(super) fn work(&self, id: usize) {
        let mut scratch = Buffer::new(0);
        let mut idle = 0;
        while !self.closing.load(Ordering::Acquire) {
            if self.take_and_do(&mut scratch) {
                idle = 0;
            } else if idle == SPINS {
                self.sleep(id);
                idle = 0;
            } else {
                idle += 1;
                hint::spin_loop();
            }
        }
    }

    /// Sleeps until a job is posted. The worker sets its flag before its last look at the board, and a
    /// poster reads the flag after posting, each with a fence between: at least one of the two sees the
    /// other's change.
    pub(super) fn sleep(&self, id: usize) {
        self.asleep[id].store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.open.load(Ordering::Relaxed) as u32 == 0 && !self.closing.load(Ordering::Acquire) {
            thread::park();
        }
        self.asleep[id].store(false, Ordering::Relaxed);
    }

    /// Ends [`Board::work`], once its threads have been woken.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }
}
