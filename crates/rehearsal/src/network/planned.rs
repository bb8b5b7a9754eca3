//! The backbone that a plan describes.

use std::sync::Arc;

use burn::{
    module::{Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor},
    tensor::{Device, Tensor, module::max_pool2d, ops::MaxPoolOptions},
};
use rehearsal_kernels::{Part, Plan, PlannedLayer, Shape};

use super::{
    Architecture,
    backbone::{Backbone, Kernels, absorb, pool},
    conv_norm::{ConvNorm, Moments, Norm, Then},
    fused::Fused,
};
use crate::{device::is_host, rng::Rng, sample::ImageShape};

/// What container each layer is visited in.
const CONTAINER: &str = "Planned";

/// One module per layer of the plan, in its order. They are visited under the names of the plan.
#[derive(Clone, Debug)]
pub struct Planned {
    plan: Arc<Plan>,
    layers: Vec<ConvNorm>,
    feature_size: usize,
    /// The kernels that compute all of it at once, if the device and the plan have them.
    fused: Option<Fused>,
}

impl Planned {
    pub(super) fn new(plan: Plan, architecture: &Architecture, rng: &mut Rng, device: &Device) -> Self {
        let Architecture { width, input, kernels, .. } = *architecture;
        let layers = plan.layers().map(|layer| ConvNorm::new(layer.conv, rng, device)).collect();
        let has_kernels = is_host(device) && plan == Plan::resnet18(input.channels, width);
        let algorithm = kernels.algorithm().filter(|_| has_kernels);
        let fused = algorithm.map(|algorithm| Fused::new(architecture, algorithm));
        Self { feature_size: plan.features(one_image(input)), plan: Arc::new(plan), layers, fused }
    }

    /// `[n, h, w, c]` to features `[n, d]`, with each layer's moments in batch mode.
    fn forward(&self, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        match &self.fused {
            Some(fused) if fused.fits(&images) => match norm {
                Norm::Batches(batches) => {
                    let passed = images.chunk(batches, 0).into_iter().map(|batch| self.features(batch, Norm::Batch));
                    (Tensor::cat(passed.collect(), 0), Vec::new())
                }
                Norm::Batch | Norm::Eval => self.fused_forward(fused, images, norm),
            },
            _ => {
                let mut moments = Vec::new();
                let x = self.composed_forward(images, norm, &mut moments);
                (if self.plan.0.is_empty() { x.flatten(1, 3) } else { pool(x) }, moments)
            }
        }
    }

    fn fused_forward(&self, fused: &Fused, images: Tensor<4>, norm: Norm) -> (Tensor<2>, Vec<Moments>) {
        let count = images.dims()[0];
        let parameters = self.layers.iter().flat_map(ConvNorm::parameters).collect();
        let running = (norm == Norm::Eval).then(|| self.layers.iter().map(ConvNorm::running).collect());
        let (features, statistics) = fused.forward(images, parameters, running);
        let device = features.device().without_autodiff();
        let moments = statistics
            .into_iter()
            .zip(fused.pixels())
            .map(|(s, pixels)| Moments::new(s.mean, s.variance, count * pixels, &device));
        (features, moments.collect())
    }

    fn composed_forward(&self, mut x: Tensor<4>, norm: Norm, moments: &mut Vec<Moments>) -> Tensor<4> {
        let mut layers = self.layers.iter();
        let mut next = || layers.next().expect("one module per layer of the plan");
        for part in &self.plan.0 {
            x = match part {
                Part::Layer(_) => {
                    let (y, seen) = next().forward(x, norm, Then::Relu);
                    moments.extend(seen);
                    y
                }
                Part::MaxPool { kernel, stride } => max_pool(x, *kernel, *stride),
                Part::Residual { shortcut, .. } => {
                    let (first, second) = (next(), next());
                    let (inner, seen) = first.forward(x.clone(), norm, Then::Relu);
                    let (residual, last) = match shortcut {
                        None => (x, None),
                        Some(_) => next().forward(x, norm, Then::Nothing),
                    };
                    let (y, then) = second.forward(inner, norm, Then::AddRelu(residual));
                    moments.extend([seen, then, last].into_iter().flatten());
                    y
                }
            };
        }
        x
    }
}

/// The shape of a batch of one image.
pub(crate) fn one_image(ImageShape { height, width, channels }: ImageShape) -> Shape {
    Shape { n: 1, h: height, w: width, c: channels }
}

/// Burn pools channels first.
fn max_pool(x: Tensor<4>, kernel: usize, stride: usize) -> Tensor<4> {
    let options = MaxPoolOptions::new([kernel; 2]).with_stride([stride; 2]).with_padding([kernel / 2; 2]);
    max_pool2d(x.permute([0, 3, 1, 2]), options).permute([0, 2, 3, 1])
}

impl Backbone for Planned {
    fn features(&self, images: Tensor<4>, norm: Norm) -> Tensor<2> {
        self.forward(images, norm).0
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        let (features, moments) = self.forward(images, Norm::Batch);
        absorb(self.layers.iter_mut().collect(), moments);
        features
    }

    fn feature_size(&self) -> usize {
        self.feature_size
    }

    fn kernels(&self) -> Kernels {
        self.fused.as_ref().map_or(Kernels::Composed, |fused| Kernels::of(fused.algorithm()))
    }

    fn plan(&self) -> Option<Plan> {
        Some((*self.plan).clone())
    }
}

impl Module for Planned {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        for (planned, layer) in self.plan.layers().zip(&self.layers) {
            visitor.enter_module(&planned.name, CONTAINER);
            layer.visit(visitor);
            visitor.exit_module(&planned.name, CONTAINER);
        }
    }

    fn map<M: ModuleMapper>(mut self, mapper: &mut M) -> Self {
        let named = self.plan.layers().zip(self.layers);
        let map = |(planned, layer): (&PlannedLayer, ConvNorm)| {
            mapper.enter_module(&planned.name, CONTAINER);
            let layer = layer.map(mapper);
            mapper.exit_module(&planned.name, CONTAINER);
            layer
        };
        self.layers = named.map(map).collect();
        self.fused.iter_mut().for_each(Fused::forget);
        self
    }

    fn to_device(self, device: &Device) -> Self {
        Self { layers: self.layers.to_device(device), ..self }
    }

    fn fork(self, device: &Device) -> Self {
        Self { layers: self.layers.fork(device), ..self }
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        self.layers.collect_devices(devices)
    }

    fn materialize(self) -> Self {
        Self { layers: self.layers.materialize(), ..self }
    }

    fn valid(&self) -> Self {
        let Self { plan, layers, feature_size, fused } = self;
        Self { plan: plan.clone(), layers: layers.valid(), feature_size: *feature_size, fused: fused.clone() }
    }

    fn train(self) -> Self {
        Self { layers: self.layers.train(), ..self }
    }
}

impl ModuleDisplayDefault for Planned {
    fn content(&self, content: Content) -> Option<Content> {
        content.add("layers", &self.layers).optional()
    }
}

impl ModuleDisplay for Planned {}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::{
        device::read,
        gradients::Gradients,
        losses::cross_entropy,
        network::{AnyBackbone, BackboneKind, Convolution, HeadKind, Network},
        sample::Class,
    };

    #[test]
    fn pooling_takes_the_maximum_of_windows_that_are_padded_with_nothing() {
        let values: Vec<f32> = (0..20).map(|value| value as f32 - 100.0).collect();
        let x = Tensor::from_data(TensorData::new(values, [1, 4, 5, 1]), &Device::flex());
        let y = max_pool(x, 3, 2);
        assert_eq!(y.dims(), [1, 2, 3, 1]);
        assert_eq!(read(y), [-94.0, -92.0, -91.0, -84.0, -82.0, -81.0]);
    }

    #[test]
    fn a_network_of_another_plan_is_computed_by_burn_and_trained() {
        let device = Device::flex().autodiff();
        let input = ImageShape { height: 33, width: 20, channels: 3 };
        let architecture = Architecture {
            backbone: BackboneKind::ResNet18,
            width: 4,
            head: HeadKind::Linear,
            classes: 2,
            input,
            kernels: Kernels::Winograd,
            threads: 1,
        };
        let mut plan = Plan::resnet18(3, 4);
        let stem = PlannedLayer::new("stem", Convolution { kernel: 7, stride: 2, cin: 3, cout: 4 });
        plan.0.splice(..1, [Part::Layer(stem), Part::MaxPool { kernel: 3, stride: 2 }]);
        let build = |rng: &mut Rng| AnyBackbone::planned(plan.clone(), &architecture, rng, &device);
        let mut network = Network::with_backbone(build, HeadKind::Linear, 2, 0, &device);
        assert_eq!((network.kernels(), network.feature_size(), network.plan()), (Kernels::Composed, 32, Some(plan)));
        let values = (0..2 * input.bytes()).map(|i| (i * i % 255) as f32 / 255.0).collect::<Vec<_>>();
        let images = Tensor::from_data(TensorData::new(values, [2, 33, 20, 3]), &device);
        let before = network.state();
        let loss = cross_entropy(network.train_logits(images), &[Class(0), Class(1)]).mean();
        let after = network.clone().plain_step(&Gradients::from_loss(&loss, &network), 0.1).state();
        assert!(after.is_finite());
        assert_ne!(after.0["backbone.stem.weight"], before.0["backbone.stem.weight"], "the gradient passes the pool");
        assert_ne!(after.0["backbone.stem.running_mean"], before.0["backbone.stem.running_mean"]);
    }
}
