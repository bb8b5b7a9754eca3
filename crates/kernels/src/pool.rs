//! Threads for loops of a few microseconds: workers spin a little for the next job before they sleep, and the caller works too.
//!
//! A job is `tasks` calls of one closure. Who runs which task is left to chance; that a result does not depend on it is up to the
//! job: it cuts its work by its *shape*, never by the number of threads, and adds partial results in task order.
//! A worker that is late (asleep, or pushed aside by another process) delays nobody: the others take its tasks.

use crate::buffer::Buffer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// How often a worker looks for a job before it goes to sleep: some tens of microseconds.
const SPINS: u32 = 20_000;

type Task<'a> = dyn Fn(usize, &mut Buffer) + Sync + 'a;

/// A fixed number of threads, the caller's included.
pub struct Pool {
    board: Arc<Board>,
    workers: Vec<JoinHandle<()>>,
    handles: Vec<Thread>,
    /// The caller's scratch memory; holding it is the right to post a job.
    caller: Mutex<Buffer>,
}

/// Where a job is posted.
struct Board {
    /// Number of the job (high 32 bits) and of its tasks not yet taken (low 32 bits), in one word so that taking a task fails
    /// as soon as the job has changed.
    open: AtomicU64,
    tasks: AtomicUsize,
    done: AtomicUsize,
    /// A thin pointer to the job's (fat) reference, which lives on the caller's stack until every task is done.
    job: AtomicPtr<&'static Task<'static>>,
    asleep: Vec<AtomicBool>,
    panicked: AtomicBool,
    closing: AtomicBool,
}

impl Pool {
    /// A pool of `threads` threads (0 counts as 1): the caller of [`Pool::run`] and `threads - 1` workers.
    ///
    /// # Panics
    /// If the system refuses to start a thread.
    pub fn new(threads: usize) -> Self {
        let extra = threads.max(1) - 1;
        let board = Arc::new(Board {
            open: AtomicU64::new(0),
            tasks: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            asleep: (0..extra).map(|_| AtomicBool::new(false)).collect(),
            panicked: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        });
        let start = |id| {
            let board = Arc::clone(&board);
            let name = format!("kernels-{id}");
            thread::Builder::new().name(name).spawn(move || board.work(id)).expect("a thread could be started")
        };
        let workers: Vec<_> = (0..extra).map(start).collect();
        let handles = workers.iter().map(|w| w.thread().clone()).collect();
        Self { board, workers, handles, caller: Mutex::new(Buffer::new(0)) }
    }

    /// Threads that work on a job.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task(i, scratch)` for every `i < tasks`, in any order and on any thread, and returns when all are done.
    /// `scratch` is the running thread's own memory, of unspecified content and kept from job to job.
    ///
    /// Jobs of several callers queue up. A task must not call `run` on its own pool.
    ///
    /// # Panics
    /// If a task panicked.
    pub(crate) fn run(&self, tasks: usize, task: impl Fn(usize, &mut Buffer) + Sync) {
        let mut scratch = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        if self.workers.is_empty() || tasks <= 1 {
            (0..tasks).for_each(|i| task(i, &mut scratch));
            return;
        }
        let job: &Task<'_> = &task;
        // SAFETY: only the lifetime changes; workers use the job only for tasks they took, and all of those are waited for below.
        let mut job: &'static Task<'static> = unsafe { std::mem::transmute(job) };
        self.board.post(&raw mut job, tasks);
        for (worker, asleep) in self.handles.iter().zip(&self.board.asleep) {
            if asleep.load(Ordering::SeqCst) {
                worker.unpark();
            }
        }
        while self.board.take_and_do(&mut scratch) {}
        let mut spins = 0u32;
        while self.board.done.load(Ordering::Acquire) < tasks {
            relax(&mut spins);
        }
        assert!(!self.board.panicked.swap(false, Ordering::Relaxed), "a task of a kernel panicked");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.board.closing.store(true, Ordering::SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker catches every panic of its tasks, so there is nothing to learn from the result.
            let _ = worker.join();
        }
    }
}

/// Waits a moment; after some thousand moments, lets another thread have the core.
fn relax(spins: &mut u32) {
    *spins += 1;
    if spins.is_multiple_of(4096) { thread::yield_now() } else { std::hint::spin_loop() }
}

impl Board {
    fn post(&self, job: *mut &'static Task<'static>, tasks: usize) {
        self.job.store(job, Ordering::Relaxed);
        self.tasks.store(tasks, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let number = (self.open.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        let count = u32::try_from(tasks).expect("fewer than 2^32 tasks");
        self.open.store(number << 32 | u64::from(count), Ordering::SeqCst);
    }

    /// Takes one task of the current job and does it; false if none is left.
    fn take_and_do(&self, scratch: &mut Buffer) -> bool {
        let mut open = self.open.load(Ordering::SeqCst);
        while open as u32 > 0 {
            if let Err(now) = self.open.compare_exchange_weak(open, open - 1, Ordering::SeqCst, Ordering::SeqCst) {
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
        // SAFETY: a task was taken and is not done, so `run` still waits and the reference on its stack is alive; the job cannot
        // change before this task is done.
        let job = unsafe { *self.job.load(Ordering::Relaxed) };
        if catch_unwind(AssertUnwindSafe(|| job(index, scratch))).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.done.fetch_add(1, Ordering::Release);
    }

    fn work(&self, id: usize) {
        let mut scratch = Buffer::new(0);
        let mut idle = 0;
        while !self.closing.load(Ordering::Relaxed) {
            if self.take_and_do(&mut scratch) {
                idle = 0;
            } else if idle < SPINS {
                idle += 1;
                std::hint::spin_loop();
            } else {
                self.sleep(id);
                idle = 0;
            }
        }
    }

    /// Sleeps until a job is posted. The flag goes up before the last look at the board, and a poster looks at the flag after
    /// posting: one of the two sees the other.
    fn sleep(&self, id: usize) {
        self.asleep[id].store(true, Ordering::SeqCst);
        if self.open.load(Ordering::SeqCst) as u32 == 0 && !self.closing.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep[id].store(false, Ordering::SeqCst);
    }
}
