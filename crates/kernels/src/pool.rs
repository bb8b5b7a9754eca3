//! Threads for loops of a few microseconds: workers spin a little for the next job before they
//! sleep, and the caller works too.
//!
//! A job is `tasks` calls of one closure. Any thread may run any task. A job must make sure that its
//! result does not depend on that: it splits its work by *shape*, never by the number of threads, and
//! adds partial results in task order. If a worker is late (asleep, or suspended by the system), the
//! others take its tasks.

mod board;
#[cfg(all(loom, test))]
mod model;
mod sync;
#[cfg(all(not(loom), test))]
mod tests;

use crate::buffer::Buffer;
use board::Board;
use std::panic::resume_unwind;
use std::sync::{LockResult, PoisonError};
use sync::{Arc, JoinHandle, Mutex, MutexGuard, ThreadId, thread};

type Task<'a> = dyn Fn(usize, &mut Buffer) + Sync + 'a;

/// A fixed number of threads, the caller's included. Dropping it ends them.
pub struct Pool {
    board: Arc<Board>,
    workers: Vec<JoinHandle<()>>,
    /// The caller's scratch memory; only the thread that holds it may post a job.
    caller: Mutex<Buffer>,
    /// The thread that holds it.
    posting: Mutex<Option<ThreadId>>,
}

impl Pool {
    /// A pool of `threads` threads (0 counts as 1): the callers of its jobs and `threads - 1`
    /// workers.
    ///
    /// # Panics
    /// If the system refuses to start a thread.
    pub fn new(threads: usize) -> Self {
        let extra = threads.max(1) - 1;
        let board = Arc::new(Board::new(extra));
        // Threads are added to an existing pool, so that they end if one of them cannot be started.
        let mut pool =
            Self { board, workers: Vec::new(), caller: Mutex::new(Buffer::new(0)), posting: Mutex::new(None) };
        for id in 0..extra {
            let board = Arc::clone(&pool.board);
            let thread = thread::Builder::new().name(format!("kernels-{id}")).spawn(move || board.work(id));
            pool.workers.push(thread.expect("a thread could be started"));
        }
        pool
    }

    /// Threads that work on a job.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task(i, scratch)` for every `i < tasks`, in any order and on any thread, and returns
    /// when all are done. `scratch` is the running thread's own memory, of unspecified content and
    /// kept from job to job.
    ///
    /// Jobs of several callers queue up. A task that calls `run` of its own pool does that job
    /// alone. (It must not wait for another thread that does: that thread waits for the task.)
    ///
    /// # Panics
    /// If a task panicked, with the payload of the first panic, after all tasks of the job have ended.
    pub(crate) fn run(&self, tasks: usize, task: impl Fn(usize, &mut Buffer) + Sync) {
        if self.is_busy_for(thread::current().id()) {
            let mut scratch = Buffer::new(0);
            (0..tasks).for_each(|i| task(i, &mut scratch));
            return;
        }
        let mut turn = self.turn();
        if self.workers.is_empty() || tasks <= 1 {
            (0..tasks).for_each(|i| task(i, &mut turn.scratch));
            return;
        }
        let job: &Task<'_> = &task;
        // SAFETY: only the lifetime changes; workers use the job only for tasks that they took, and
        // the code below waits for all of those.
        let mut job: &'static Task<'static> = unsafe { std::mem::transmute(job) };
        // SAFETY: it is our turn, so no other job is on the board; `posted` is dropped before `job`
        // goes, also in a panic.
        let posted = unsafe { self.board.post(&raw mut job, tasks) };
        for id in self.board.sleepers() {
            self.workers[id].thread().unpark();
        }
        while self.board.take_and_do(&mut turn.scratch) {}
        drop(posted);
        let panic = self.board.take_panic();
        drop(turn);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Whether `thread` is doing a task of this pool.
    fn is_busy_for(&self, thread: ThreadId) -> bool {
        self.workers.iter().any(|worker| worker.thread().id() == thread) || *lock(&self.posting) == Some(thread)
    }

    /// Waits until no other caller has a job on the board.
    fn turn(&self) -> Turn<'_> {
        let scratch = lock(&self.caller);
        *lock(&self.posting) = Some(thread::current().id());
        Turn { pool: self, scratch }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.board.close();
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker catches every panic of its tasks, so the result says nothing.
            let _ = worker.join();
        }
    }
}

/// The right to post a job, until it is dropped.
struct Turn<'a> {
    pool: &'a Pool,
    scratch: MutexGuard<'a, Buffer>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.pool.posting) = None;
    }
}

/// Locks, also after a panic with the lock held: data that is locked here is never half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let guard: LockResult<_> = mutex.lock();
    guard.unwrap_or_else(PoisonError::into_inner)
}
