//! A custom backbone, outside the crate: one wide convolution and a hidden layer, in an experiment
//! that is stopped, resumed and saved. A backbone of convolutions alone needs no module: see
//! `AnyBackbone::planned` in the example `exports`.
//!
//!     cargo run --release -p rehearsal --example custom_backbone

use std::ops::ControlFlow;

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::relu},
};
use rehearsal::{
    Learner,
    config::PartialConfig,
    device::upload,
    experiment::{Experiment, Outcome},
    learner::Parts,
    network::{AnyBackbone, Architecture, Backbone, ConvNorm, Convolution, Norm, Then, absorb, pool},
    observer::{Observer, StepEvent},
    rng::Rng,
};

#[derive(Module, Debug)]
struct Shallow {
    layer: ConvNorm,
    /// `[width, 32]`.
    hidden: Param<Tensor<2>>,
}

impl Shallow {
    fn new(architecture: &Architecture, rng: &mut Rng, device: &Device) -> Self {
        let width = architecture.width;
        let conv = Convolution { kernel: 3, stride: 2, cin: architecture.input.channels, cout: width };
        let layer = ConvNorm::new(conv, rng, device);
        let values: Vec<f32> = (0..width * 32).map(|_| rng.uniform(-0.3, 0.3) as f32).collect();
        let hidden = upload(TensorData::new(values, [width, 32]), device);
        Self { layer, hidden: Param::from_tensor(hidden) }
    }

    fn hidden(&self, x: Tensor<4>) -> Tensor<2> {
        relu(pool(x).matmul(self.hidden.val()))
    }
}

impl Backbone for Shallow {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.hidden(self.layer.forward(images, norm, Then::Relu).0)
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (x, moments) = self.layer.forward(images, Norm::Batch, Then::Relu);
        absorb(vec![&mut self.layer], moments.into_iter().collect());
        self.hidden(x)
    }

    fn feature_size(&self) -> usize {
        32
    }
}

/// Stops a run after 40 steps.
struct Impatient;

impl Observer for Impatient {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        if event.step == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = PartialConfig::parse("method = 'er'\nwidth = 24\ntrain-per-class = 100")?;
    let config = settings.resolve()?;
    let source = || config.dataset.open(&config.request());
    let parts = || {
        let build = |architecture: &Architecture, rng: &mut Rng, device: &Device| {
            AnyBackbone::new(Shallow::new(architecture, rng, device))
        };
        Parts::new().backbone("shallow", build)
    };
    let place = tempfile::tempdir()?;
    let run = |name: &str, observer: &mut dyn Observer| {
        let mut experiment = Experiment::with_parts(&settings, source()?, parts())?;
        experiment.write_to(&place.path().join(name))?;
        experiment.run(observer)
    };
    let Outcome::Finished(whole, learner) = run("whole", &mut ())? else { return Ok(()) };
    run("parted", &mut Impatient)?;
    let parted = Experiment::resume_with_parts(&place.path().join("parted"), source()?, parts())?;
    let Outcome::Finished(parted, _) = parted.run(&mut ())? else { return Ok(()) };
    assert_eq!(whole.matrix, parted.matrix, "resumed to the bit");

    let path = place.path().join("model.safetensors");
    learner.save(&path)?;
    let loaded = Learner::load_with(&path, parts())?;
    assert_eq!(loaded.network().state(), learner.network().state());
    println!("accuracy {:.1} %", 100.0 * whole.accuracy.unwrap_or(0.0));
    Ok(())
}
