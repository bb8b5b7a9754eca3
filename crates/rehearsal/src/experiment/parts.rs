//! From settings to a learner.

use burn::tensor::Device;

use crate::{
    config::{Config, DeviceKind},
    learner::{Parts, Settings, training_device},
    memory::{Memory, PolicyKind},
    network::{Architecture, Network},
    probe::Scoring,
    retrieval::RetrievalKind,
    stream::Stream,
};

/// What a learner is made of and how it learns, as the settings say. A part can be replaced by one of your own before
/// [`crate::learner::Learner::new`].
pub fn parts(config: &Config, stream: &Stream) -> (Parts, Settings) {
    let device = match config.device {
        DeviceKind::Cpu => Device::flex(),
    };
    let classes = stream.class_names().len();
    let architecture = Architecture {
        backbone: config.backbone,
        width: config.width,
        head: config.method.head(&config.method_options),
        classes,
        input: stream.shape(),
        kernels: config.kernels,
        threads: config.threads,
    };
    let settings = Settings {
        views: config.views,
        seed: config.seed,
        scoring: Scoring { lr: config.lr, norm: config.score_norm.into(), shape: stream.shape() },
    };
    let network = Network::new(&architecture, config.seed, &training_device(&device));
    // A method without memory has neither: nothing is drawn from a memory without slots, and nothing stays there.
    let retrieval = config.retrieval.unwrap_or(RetrievalKind::Random);
    let policy = config.memory_policy.unwrap_or(PolicyKind::Reservoir);
    let parts = Parts {
        method: config.method.build(&config.method_options, &network),
        retrieval: retrieval.build(&config.retrieval_options()),
        policy: policy.build(config.gss, config.shapley, classes),
        memory: Memory::new(config.memory),
        network,
    };
    (parts, settings)
}
