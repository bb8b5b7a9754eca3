//! A method of your own, outside the crate: experience replay with the focal loss, which looks most at what is not yet known.
//!
//!     cargo run --release -p rehearsal --example custom_method

use rehearsal::{
    Tensor,
    config::Said,
    experiment::parts,
    learner::{Learner, Stage},
    losses::cross_entropy,
    methods::{Method, StepBatch},
    network::Network,
    stream::Stream,
    views::Anchors,
};

struct FocalReplay {
    gamma: f64,
}

impl FocalReplay {
    /// The mean of (1 − p)^γ · −log p, p being the probability of the label.
    fn focal(&self, network: &mut Network, anchors: &Anchors) -> Tensor<1> {
        let losses = cross_entropy(network.train_logits(anchors.images.clone()), &anchors.labels);
        let doubt = losses.clone().neg().exp().neg() + 1.0;
        (doubt.clamp_min(1e-6).powf_scalar(self.gamma) * losses).mean()
    }
}

impl Method for FocalReplay {
    fn loss(&mut self, network: &mut Network, batch: &StepBatch) -> Option<Tensor<1>> {
        let new = self.focal(network, &batch.incoming);
        Some(match batch.retrieved() {
            Some(retrieved) => new + self.focal(network, retrieved),
            None => new,
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Said::parse("method = 'er'\nbackbone = 'tiny'\nwidth = 16\ntrain-per-class = 100")?.resolve()?;
    let stream = Stream::new(config.dataset.open(&config.request())?, &config.plan())?;
    let (mut parts, settings) = parts(&config, &stream);
    parts.method = Box::new(FocalReplay { gamma: 2.0 });
    let mut learner = Learner::new(parts, settings);
    for task in stream.tasks() {
        let (epoch, seen) = (stream.epoch(task, 0), stream.seen(task));
        for number in 0..stream.batches(task) {
            learner.step(&epoch.batch(number)?, Stage { task, seen, offered: true });
        }
        let test = stream.test(task)?;
        let right =
            learner.predict(&test, seen).into_iter().zip(&test).filter(|(class, sample)| *class == sample.label);
        println!("task {}: {} of {} right just after learning it", task.0 + 1, right.count(), test.len());
    }
    Ok(())
}
