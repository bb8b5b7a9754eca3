//! What a real step costs with each retrieval. All take their steps in turns, so that what else the
//! machine does slows them alike.

use std::time::Instant;

use anyhow::Result;
use rehearsal::{Learner, config::PartialConfig};

use super::{Variant, batches::Batches};

/// Milliseconds of a step.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Over all steps: those that score and those that do not, those that compute features and those
    /// that find them.
    pub mean: f64,
    pub median: f64,
}

/// Of each variant, in their order.
pub fn of_variants(settings: &PartialConfig, variants: &[Variant], batches: &Batches) -> Result<Vec<Pace>> {
    let learner = |variant: &Variant| batches.learner(&settings.overridden_by(&variant.settings));
    let mut learners = variants.iter().map(learner).collect::<Result<Vec<Learner>>>()?;
    let mut times = vec![Vec::new(); variants.len()];
    for batch in batches.iter() {
        for (learner, times) in learners.iter_mut().zip(&mut times) {
            batch.begin(learner)?;
            let start = Instant::now();
            learner.step(batch.samples)?;
            if batch.is_measured {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    Ok(times.into_iter().map(pace).collect())
}

fn pace(mut times: Vec<f64>) -> Pace {
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    Pace { mean, median: times.get(times.len() / 2).copied().unwrap_or(f64::NAN) }
}
