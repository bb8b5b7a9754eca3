//! The pool in loom, which runs each model under every interleaving (up to a number of preemptions)
//! and every value that the memory model lets an atomic load return. A test fails if two threads use a
//! cell without synchronisation, if a thread is never woken, or if an assertion fails.
//!
//!     RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p rehearsal-kernels --release --lib pool

use super::Pool;
use super::board::Board;
use super::sync::{Arc, AtomicBool, Ordering, thread};
use crate::buffer::Buffer;
use crate::pool::Task;
use loom::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Explores `model` with at most `preemptions` switches away from a thread that could continue.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A number that tasks and callers use without a lock: loom fails if they could do so at once.
struct Plain(UnsafeCell<usize>);

// SAFETY: loom watches every use.
unsafe impl Sync for Plain {}

impl Plain {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn add(&self, n: usize) {
        // SAFETY: loom has checked that no other thread uses the cell.
        self.0.with_mut(|number| unsafe { *number += n });
    }

    fn get(&self) -> usize {
        // SAFETY: loom has checked that no other thread writes the cell.
        self.0.with(|number| unsafe { *number })
    }
}

/// Runs a job that adds `n` to `cells[i]` in task `i`.
fn add(pool: &Pool, cells: &[Plain], n: usize) {
    pool.run(cells.len(), |i, _| cells[i].add(n));
}

#[test]
fn every_task_of_every_job_is_done_once_and_seen_by_the_caller() {
    explore(3, || {
        let pool = Pool::new(2);
        let (two, three) = ([Plain::new(), Plain::new()], [Plain::new(), Plain::new(), Plain::new()]);
        add(&pool, &two, 1);
        assert_eq!(two.each_ref().map(Plain::get), [1, 1]);
        add(&pool, &three, 10);
        assert_eq!(three.each_ref().map(Plain::get), [10; 3]);
    });
}

#[test]
fn two_workers_share_a_job() {
    explore(2, || {
        let pool = Pool::new(3);
        let cells = [Plain::new(), Plain::new()];
        add(&pool, &cells, 1);
        assert_eq!(cells.each_ref().map(Plain::get), [1; 2]);
    });
}

#[test]
fn jobs_of_two_callers_do_not_mix() {
    explore(2, || {
        let pool = Arc::new(Pool::new(2));
        let theirs = Arc::clone(&pool);
        let other = thread::spawn(move || {
            let cells = [Plain::new(), Plain::new()];
            add(&theirs, &cells, 5);
            assert_eq!(cells.each_ref().map(Plain::get), [5, 5]);
        });
        let cells = [Plain::new(), Plain::new()];
        add(&pool, &cells, 1);
        assert_eq!(cells.each_ref().map(Plain::get), [1, 1]);
        other.join().expect("no panic");
    });
}

#[test]
fn a_panic_is_thrown_after_every_task_is_done() {
    explore(3, || {
        let pool = Pool::new(2);
        let cells = [Plain::new(), Plain::new()];
        let job = || {
            pool.run(2, |i, _| {
                cells[i].add(1);
                if i == 1 {
                    resume_unwind(Box::new("a task"));
                }
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(job)).expect_err("task 1 panics");
        assert_eq!(panic.downcast_ref(), Some(&"a task"));
        assert_eq!(cells.each_ref().map(Plain::get), [1, 1]);
        add(&pool, &cells, 1);
        assert_eq!(cells.each_ref().map(Plain::get), [2, 2]);
    });
}

#[test]
fn workers_end_whenever_the_pool_is_dropped() {
    explore(3, || drop(Pool::new(2)));
    explore(2, || drop(Pool::new(3)));
}

/// Here the poster does no task itself. So if it fails to wake a worker, loom finds that all threads
/// wait.
#[test]
fn a_worker_that_goes_to_sleep_is_woken_for_a_job() {
    explore(4, || {
        let board = Arc::new(Board::new(1));
        let theirs = Arc::clone(&board);
        let worker = thread::spawn(move || {
            let mut scratch = Buffer::new(0);
            while !theirs.take_and_do(&mut scratch) {
                theirs.sleep(0);
            }
        });
        let done = AtomicBool::new(false);
        let task = |_: usize, _: &mut Buffer| done.store(true, Ordering::Relaxed);
        let job: &Task<'_> = &task;
        // SAFETY: only the lifetime changes, and the worker has ended before `task` goes.
        let mut job: &'static Task<'static> = unsafe { std::mem::transmute(job) };
        // SAFETY: the only job, alive until it is done.
        let posted = unsafe { board.post(&raw mut job, 1) };
        board.sleepers().for_each(|_| worker.thread().unpark());
        worker.join().expect("no panic");
        drop(posted);
        assert!(done.load(Ordering::Relaxed));
    });
}
