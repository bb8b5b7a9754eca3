//! When to give up a download: after failed attempts, after too many restarts, and if it is too slow.

use std::time::{Duration, Instant};

use super::Timeouts;

/// The attempts and the speed of a download so far.
pub(super) struct Effort {
    timeouts: Timeouts,
    /// Attempts in a row that brought no data.
    fruitless: u32,
    /// How often it started over.
    restarts: u32,
    /// Time spent on attempts that brought data, since the window began, and the bytes they brought.
    spent: Duration,
    brought: u64,
    /// The start of the time that is not in `spent` yet.
    since: Instant,
}

impl Effort {
    pub(super) fn new(timeouts: Timeouts) -> Self {
        Self { timeouts, fruitless: 0, restarts: 0, spent: Duration::ZERO, brought: 0, since: Instant::now() }
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Bytes have arrived; an error if it is too slow.
    pub(super) fn came(&mut self, bytes: u64) -> Result<(), String> {
        self.brought += bytes;
        self.spent += self.since.elapsed();
        self.since = Instant::now();
        if self.brought >= self.timeouts.slowest {
            (self.spent, self.brought) = (Duration::ZERO, 0);
        } else if self.spent >= self.timeouts.window {
            let seconds = self.spent.as_secs_f64();
            return Err(format!(
                "only {} bytes arrived in {seconds:.0} s; they are kept: try again later",
                self.brought
            ));
        }
        Ok(())
    }

    /// It starts over; an error if it has done so too often.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        self.restarts += 1;
        if self.restarts <= self.timeouts.tries {
            return Ok(());
        }
        Err(format!("the server sends another file each time (started over {} times)", self.restarts))
    }

    /// An attempt has failed. Returns the wait before the next; an error if there is none.
    pub(super) fn failed(&mut self, why: &str, brought_something: bool) -> Result<Duration, String> {
        self.fruitless = if brought_something { 1 } else { self.fruitless + 1 };
        if self.fruitless >= self.timeouts.tries {
            let tries = self.fruitless;
            return Err(format!("{why} ({tries} attempts); the bytes that arrived are kept: try again later"));
        }
        let wait = self.timeouts.wait * 2u32.saturating_pow(self.fruitless - 1);
        if brought_something {
            self.spent += wait;
        }
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        tries: 3,
        wait: Duration::from_secs(1),
        silence: Duration::from_mins(1),
        window: Duration::from_secs(10),
        slowest: 100,
    };

    #[test]
    fn one_byte_per_connection_is_too_slow() {
        let mut effort = Effort::new(TIMEOUTS);
        let tries = (0..100).take_while(|_| effort.came(1).is_ok() && effort.failed("cut", true).is_ok()).count();
        assert_eq!(tries, 10, "a second of waiting for each, and ten in all");
        let mut effort = Effort::new(TIMEOUTS);
        assert!((0..1000).all(|_| effort.came(50).is_ok() && effort.failed("cut", true).is_ok()), "enough");
    }

    #[test]
    fn failed_attempts_and_restarts_are_counted() {
        let mut effort = Effort::new(TIMEOUTS);
        assert_eq!(effort.failed("busy", false), Ok(Duration::from_secs(1)));
        assert_eq!(effort.failed("busy", false), Ok(Duration::from_secs(2)));
        assert!(effort.failed("busy", false).unwrap_err().starts_with("busy (3 attempts)"));
        assert!((0..3).all(|_| effort.restart().is_ok()));
        assert!(effort.restart().unwrap_err().contains("4 times"));
    }
}
