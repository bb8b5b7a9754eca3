//! The pool with real threads; `model.rs` tries every interleaving of a small one.

use super::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

/// How often each of `tasks` indices was run.
fn counts(pool: &Pool, tasks: usize) -> Vec<usize> {
    let counts: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    pool.run(tasks, |i, _| {
        counts[i].fetch_add(1, Ordering::Relaxed);
    });
    counts.into_iter().map(AtomicUsize::into_inner).collect()
}

/// Panics without a message: the test harness does not capture the output of a worker.
fn quiet_panic(with: impl Send + 'static) {
    resume_unwind(Box::new(with));
}

/// The panic of a job.
fn panic_of(pool: &Pool, tasks: usize, task: impl Fn(usize) + Sync) -> Box<dyn std::any::Any + Send> {
    catch_unwind(AssertUnwindSafe(|| pool.run(tasks, |i, _| task(i)))).expect_err("a task panicked")
}

#[test]
fn every_index_is_run_once() {
    for threads in [0, 1, 2, 3, 8] {
        let pool = Pool::new(threads);
        assert_eq!(pool.threads(), threads.max(1));
        for tasks in [0, 1, 2, 3, 7, 64, 1000] {
            assert_eq!(counts(&pool, tasks), vec![1; tasks], "{tasks} tasks on {threads} threads");
        }
    }
}

#[test]
fn many_small_jobs_follow_each_other() {
    let pool = Pool::new(3);
    for job in 0..20_000 {
        let total = AtomicUsize::new(0);
        pool.run(5, |i, _| {
            total.fetch_add(job + i, Ordering::Relaxed);
        });
        assert_eq!(total.into_inner(), 5 * job + 10);
    }
}

#[test]
fn all_threads_work_at_once_even_after_they_slept() {
    let pool = Pool::new(3);
    for pause in [0, 200] {
        std::thread::sleep(Duration::from_millis(pause));
        // No thread passes the barrier unless all three threads are in a task.
        let barrier = Barrier::new(3);
        pool.run(3, |_, _| {
            barrier.wait();
        });
    }
}

#[test]
fn scratch_is_the_threads_own() {
    let pool = Pool::new(3);
    for round in 0..100 {
        pool.run(30, |i, scratch| {
            let mine = (round * 30 + i) as f32;
            let memory = scratch.at_least(100);
            memory.fill(mine);
            std::thread::yield_now();
            assert!(memory.iter().all(|x| x.to_bits() == mine.to_bits()));
        });
    }
}

#[test]
fn jobs_of_several_callers_queue_up() {
    let pool = Pool::new(3);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|_| assert_eq!(counts(&pool, 17), vec![1; 17])));
        }
    });
}

#[test]
fn a_task_may_use_its_own_pool_and_others() {
    for threads in [1, 2, 3] {
        let (pool, other) = (Pool::new(threads), Pool::new(2));
        let total = AtomicUsize::new(0);
        pool.run(6, |_, _| {
            pool.run(5, |i, scratch| {
                scratch.at_least(10).fill(1.0);
                total.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(counts(&other, 5), vec![1; 5]);
        });
        assert_eq!(total.into_inner(), 6 * 10, "on {threads} threads");
        assert_eq!(counts(&pool, 9), vec![1; 9]);
    }
}

/// The caller's thread is busy for `outer` while it is busy for `inner`.
#[test]
fn a_task_of_another_pool_may_use_the_first() {
    let (outer, inner) = (Pool::new(1), Pool::new(1));
    let total = AtomicUsize::new(0);
    outer.run(2, |_, _| {
        inner.run(2, |_, _| {
            outer.run(2, |_, _| {
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
    });
    assert_eq!(total.into_inner(), 8);
}

#[test]
fn a_panic_reaches_the_caller_and_the_pool_keeps_working() {
    for threads in [1, 2, 3] {
        let pool = Pool::new(threads);
        for job in 0..50 {
            let panic = panic_of(&pool, 20, |i| {
                if i == job % 20 {
                    quiet_panic(job);
                }
            });
            assert_eq!(panic.downcast_ref(), Some(&job), "on {threads} threads");
            assert_eq!(counts(&pool, 20), vec![1; 20], "on {threads} threads");
        }
    }
}

#[test]
fn a_panic_stops_no_other_task() {
    let pool = Pool::new(3);
    let done = AtomicUsize::new(0);
    panic_of(&pool, 100, |i| {
        done.fetch_add(1, Ordering::Relaxed);
        if i % 3 == 0 {
            quiet_panic(i);
        }
    });
    assert_eq!(done.into_inner(), 100);
}

/// A panic's payload may panic when it is dropped: that must not end a worker, because the caller would
/// wait for it for ever.
#[test]
fn panics_that_panic_when_dropped_end_no_worker() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }
    let pool = Pool::new(3);
    let panic = panic_of(&pool, 50, |_| quiet_panic(Bomb));
    assert!(panic.is::<Bomb>());
    std::mem::forget(panic);
    assert_eq!(counts(&pool, 50), vec![1; 50]);
    let barrier = Barrier::new(3);
    pool.run(3, |_, _| {
        barrier.wait();
    });
}

#[test]
fn a_panic_in_a_nested_job_reaches_the_outer_caller() {
    let pool = Pool::new(3);
    let panic = panic_of(&pool, 4, |i| {
        pool.run(4, |j, _| {
            if (i, j) == (1, 2) {
                quiet_panic("inner");
            }
        });
    });
    assert_eq!(panic.downcast_ref(), Some(&"inner"));
    assert_eq!(counts(&pool, 9), vec![1; 9]);
}

/// A worker holds a reference to the board until its thread ends.
#[test]
fn dropping_a_pool_ends_its_threads_asleep_or_not() {
    for (threads, pause) in [(1, 0), (2, 0), (4, 0), (4, 200)] {
        let pool = Pool::new(threads);
        counts(&pool, 10);
        std::thread::sleep(Duration::from_millis(pause));
        let board = Arc::downgrade(&pool.board);
        assert_eq!(board.strong_count(), threads);
        drop(pool);
        assert_eq!(board.strong_count(), 0, "of {threads} threads");
    }
}

#[test]
fn many_pools_work_at_once() {
    let pools: Vec<_> = (0..40).map(|i| Pool::new(i % 4)).collect();
    for pool in pools.iter().chain(&pools) {
        assert_eq!(counts(pool, 13), vec![1; 13]);
    }
}

#[test]
fn more_tasks_than_can_be_counted_are_refused_before_any_runs() {
    if usize::BITS > 32 {
        let pool = Pool::new(2);
        let done = AtomicUsize::new(0);
        panic_of(&pool, (u32::MAX as usize).saturating_add(1), |_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 0);
        assert_eq!(counts(&pool, 9), vec![1; 9]);
    }
}

/// A pool may move to another thread and be shared.
#[test]
fn a_pool_can_be_sent_and_shared() {
    let (send, receive) = mpsc::channel();
    let pool = Arc::new(Pool::new(2));
    let theirs = Arc::clone(&pool);
    let thread = std::thread::spawn(move || send.send(counts(&theirs, 9)));
    assert_eq!(receive.recv().expect("counts"), vec![1; 9]);
    thread.join().expect("no panic").expect("someone received");
    assert_eq!(counts(&pool, 9), vec![1; 9]);
}
