//! A custom method, outside the crate, in a whole experiment: experience replay with the focal
//! loss, which looks most at what is not yet known. It is stopped in the middle and goes on from
//! its checkpoint.
//!
//!     cargo run --release -p rehearsal --example custom_method

use std::ops::ControlFlow;

use rehearsal::{
    Tensor,
    config::PartialConfig,
    experiment::{Experiment, Outcome},
    learner::Parts,
    losses::cross_entropy,
    methods::{Method, Objective, StepBatch},
    network::Network,
    observer::{Observer, StepEvent},
    views::ViewBatch,
};

#[derive(Clone)]
struct FocalReplay {
    gamma: f64,
}

impl FocalReplay {
    /// The mean of (1 − p)^γ · −log p, p being the probability of the label.
    fn focal(&self, network: &mut Network, views: &ViewBatch) -> Tensor<1> {
        let losses = cross_entropy(network.train_logits(views.images.clone()), &views.labels);
        let doubt = losses.clone().neg().exp().neg() + 1.0;
        (doubt.clamp_min(1e-6).powf_scalar(self.gamma) * losses).mean()
    }
}

impl Method for FocalReplay {
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        let new = self.focal(network, &batch.incoming);
        match batch.retrieved() {
            Some(retrieved) => (new + self.focal(network, retrieved)).into(),
            None => new.into(),
        }
    }
}

/// Stops a run after 60 steps.
struct Impatient;

impl Observer for Impatient {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if event.step == 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = PartialConfig::parse("method = 'er'\nbackbone = 'tiny'\nwidth = 16\ntrain-per-class = 100")?;
    let config = settings.resolve()?;
    let source = || config.dataset.open(&config.request());
    let parts = || Parts::new().method("focal-replay", FocalReplay { gamma: 2.0 });
    let place = tempfile::tempdir()?;
    let directory = place.path().join("run");

    let mut experiment = Experiment::with_parts(&settings, source()?, parts())?;
    experiment.write_to(&directory)?;
    assert!(matches!(experiment.run(&mut Impatient)?, Outcome::Stopped));
    let experiment = Experiment::resume_with_parts(&directory, source()?, parts())?;
    if let Outcome::Finished(record, _) = experiment.run(&mut ())? {
        println!("accuracy {:.1} %", 100.0 * record.accuracy.unwrap_or(0.0));
    }
    Ok(())
}
