//! How runs are distributed over the tasks of an array.

/// The most tasks of an array: Slurm's own default limit (`MaxArraySize`).
pub const MOST_TASKS: usize = 1000;

/// How many tasks there are if each takes about `each` seconds.
pub fn tasks_of_about(seconds: &[f64], each: f64) -> usize {
    let tasks = (seconds.iter().sum::<f64>() / each).ceil();
    // Also if the estimate is missing or infinite.
    if tasks.is_finite() { (tasks as usize).clamp(1, MOST_TASKS) } else { MOST_TASKS }
}

/// Cuts a list of runs that take these `seconds` into at most `tasks` tasks of about equal time: the indices of each
/// task's runs, at least one each. Runs stay in order, seed by seed, so that the first tasks compare everything with
/// some seeds.
pub fn chunks(seconds: &[f64], tasks: usize) -> Vec<Vec<usize>> {
    let tasks = tasks.clamp(1, MOST_TASKS).min(seconds.len().max(1));
    let known = |seconds: &f64| if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    // A little for each, so that runs without an estimate are distributed, too.
    let total: f64 = seconds.iter().map(known).sum();
    let least = if total > 0.0 { total * 1e-6 } else { 1.0 };
    let weights: Vec<f64> = seconds.iter().map(|seconds| known(seconds) + least).collect();
    let total: f64 = weights.iter().sum();
    let mut chunks: Vec<Vec<usize>> = vec![Vec::new()];
    let mut before = 0.0;
    for (run, weight) in weights.iter().enumerate() {
        // A run belongs to the task in whose share of the whole its middle lies.
        let share = (((before + weight / 2.0) / total) * tasks as f64) as usize;
        let is_begun = chunks.last().is_some_and(|chunk| !chunk.is_empty());
        let left = weights.len() - run;
        if is_begun && chunks.len() < tasks && (share >= chunks.len() || left <= tasks - chunks.len()) {
            chunks.push(Vec::new());
        }
        chunks.last_mut().expect("there is one from the start").push(run);
        before += weight;
    }
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_runs_are_shared_out_equally() {
        assert_eq!(chunks(&[1.0; 6], 3), [[0, 1], [2, 3], [4, 5]]);
        assert_eq!(chunks(&[0.0; 5], 5), [[0], [1], [2], [3], [4]]);
        let sizes: Vec<usize> = chunks(&[1.0; 10], 4).iter().map(Vec::len).collect();
        assert!(sizes.iter().all(|size| (2..=3).contains(size)), "{sizes:?}");
        assert_eq!(chunks(&[1.0; 3], 1), [[0, 1, 2]]);
        assert_eq!(chunks(&[1.0; 3], 7), [[0], [1], [2]]);
        assert_eq!(chunks(&[], 7), [[0; 0]; 0]);
    }

    #[test]
    fn long_runs_stand_alone_and_short_ones_share() {
        assert_eq!(
            chunks(&[60.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 60.0], 3),
            [vec![0], vec![1, 2, 3, 4, 5, 6], vec![7]]
        );
        assert_eq!(chunks(&[100.0, 1.0, 1.0], 2), [vec![0], vec![1, 2]]);
        // However they lie, no task is left without a run, and every run is in one.
        for tasks in 1..9 {
            let seconds = [1000.0, f64::NAN, 0.0, 3.0, 3.0, f64::INFINITY, 200.0, 1.0];
            let chunks = chunks(&seconds, tasks);
            assert_eq!(chunks.len(), tasks);
            assert_eq!(chunks.concat(), (0..8).collect::<Vec<_>>());
        }
    }

    #[test]
    fn about_so_long_each() {
        assert_eq!(tasks_of_about(&[600.0; 9], 1800.0), 3);
        assert_eq!(tasks_of_about(&[], 1800.0), 1);
        assert_eq!(tasks_of_about(&[1e9], 1.0), MOST_TASKS);
        assert_eq!(tasks_of_about(&[f64::NAN], 1.0), MOST_TASKS);
        assert_eq!(chunks(&vec![1.0; 5000], 5000).len(), MOST_TASKS);
    }
}
