//! The whole ResNet-18 on the processor as one operation of Burn, computed by the fused kernels of `crates/kernels`.
//!
//! One operation instead of a hundred: activations stay in the engine's own memory, normalisation is folded into the convolutions' passes,
//! and weights are packed once per set of parameters. On other devices the same module is composed of Burn's operations.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use burn::{
    backend::{
        Autodiff, Backend, BackendTensor, Dispatch, DispatchAutodiffContext, DispatchTensor, DispatchTensorKind,
        ExtensionType, Flex, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        flex::FlexTensor,
        tensor::FloatTensor,
    },
    module::{Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor},
    tensor::{Device, Shape, Tensor, TensorData},
};
use kernels::{Algorithm, Engine, Forward, Isa, LayerParameters, Machine, PackedParameters, Pool, Statistics, Tape};

use super::Architecture;

/// Weight, scale and shift of the 20 layers of ResNet-18.
const PARAMETERS: usize = 60;

/// The kernels of one network: an engine, and the parameters packed for it. It is a field of the module so that it goes where the
/// parameters go: mapping them (an optimisation step) forgets what was packed, copying them shares it.
#[derive(Clone)]
pub struct Fused {
    engine: Arc<Engine>,
    packed: Arc<OnceLock<PackedParameters>>,
    /// The last pass that can be differentiated: the virtual step and the real one begin with the same images under the same parameters.
    last: Arc<Mutex<Option<Arc<Done>>>>,
}

impl Fused {
    /// Kernels for one size of images, with threads of their own.
    pub(super) fn new(architecture: &Architecture, algorithm: Algorithm) -> Self {
        let Architecture { width, input, threads, .. } = *architecture;
        let (channels, image_height, image_width) = (input.channels, input.height, input.width);
        let dimensions = kernels::Architecture { width, channels, image_height, image_width };
        let machine = Machine::with(Pool::new(threads), Isa::detect(), algorithm);
        Self { engine: Arc::new(Engine::new(dimensions, machine)), packed: Arc::default(), last: Arc::default() }
    }

    /// Whether images of that height and width are what the kernels were made for.
    pub(super) fn fits(&self, images: &Tensor<4>) -> bool {
        let architecture = self.engine.architecture();
        let [_, height, width, _] = images.dims();
        (height, width) == (architecture.image_height, architecture.image_width)
    }

    /// How many pixels each layer's output has, per image.
    pub(super) fn pixels(&self) -> impl Iterator<Item = usize> {
        self.engine.layers().iter().map(|layer| layer.output.h * layer.output.w)
    }

    /// Forgets what was packed and passed: the parameters are about to change.
    pub(super) fn forget(&mut self) {
        (self.packed, self.last) = Default::default();
    }

    /// Images `[n, h, w, c]` to features `[n, 8·width]`; `parameters` are weight, scale and shift of each layer. Without `running`
    /// statistics the batch's normalise, and are returned.
    pub(super) fn forward(
        &self,
        images: Tensor<4>,
        parameters: Vec<DispatchTensor>,
        running: Option<Vec<Statistics>>,
    ) -> (Tensor<2>, Vec<Statistics>) {
        let pass = Arc::new(Pass { fused: self.clone(), running, taped: images.is_autodiff(), done: OnceLock::new() });
        let features = Dispatch::fused_backbone(images.into_dispatch(), Parameters(parameters), Arc::clone(&pass));
        (Tensor::from_dispatch(features), pass.done().statistics.clone())
    }
}

impl fmt::Debug for Fused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Fused").field("architecture", &self.engine.architecture()).finish_non_exhaustive()
    }
}

/// One pass on its way through Burn.
pub struct Pass {
    fused: Fused,
    running: Option<Vec<Statistics>>,
    /// Whether a gradient may be asked for.
    taped: bool,
    done: OnceLock<Arc<Done>>,
}

/// What came out of a pass.
struct Done {
    images: FlexTensor,
    parameters: Vec<FlexTensor>,
    features: Vec<f32>,
    statistics: Vec<Statistics>,
    tape: Option<Tape>,
}

impl Pass {
    fn done(&self) -> &Done {
        self.done.get().expect("a pass is asked after it was made")
    }

    /// Passes the images, unless the last pass was the same.
    fn forward(&self, images: FlexTensor, parameters: Vec<FlexTensor>) -> &Done {
        let mut last = self.fused.last.lock().unwrap_or_else(PoisonError::into_inner);
        let repeatable = self.taped && self.running.is_none();
        let same = last.clone().filter(|last| repeatable && is_same(&last.images, &images));
        let done = same.unwrap_or_else(|| Arc::new(self.compute(images, parameters)));
        if repeatable {
            *last = Some(Arc::clone(&done));
        }
        self.done.get_or_init(|| done)
    }

    fn compute(&self, images: FlexTensor, parameters: Vec<FlexTensor>) -> Done {
        let (engine, pixels) = (&self.fused.engine, values(&images));
        let packed = self.fused.packed.get_or_init(|| engine.pack(&layers(&parameters)));
        let Forward { features, statistics, tape } = match &self.running {
            None => engine.forward_batch(packed, pixels, self.taped),
            Some(running) if self.taped => engine.forward_eval_taped(packed, running, pixels),
            Some(running) => {
                Forward { features: engine.forward_eval(packed, running, pixels), statistics: Vec::new(), tape: None }
            }
        };
        Done { images, parameters, features, statistics, tape }
    }

    /// The gradient of every parameter, in their order.
    fn backward(&self, features: &[f32]) -> impl Iterator<Item = Vec<f32>> {
        let Done { parameters, tape, .. } = self.done();
        let tape = tape.as_ref().expect("a pass under autodiff is taped");
        let gradients = self.fused.engine.backward(&layers(parameters), tape, features);
        gradients.layers.into_iter().flat_map(|layer| [layer.weight, layer.gamma, layer.beta])
    }
}

/// Contiguous weight, scale and shift of every layer, as the kernels want them.
fn layers(parameters: &[FlexTensor]) -> Vec<LayerParameters<'_>> {
    let layers = parameters.as_chunks().0.iter();
    layers
        .map(|[weight, scale, shift]| LayerParameters {
            weight: values(weight),
            gamma: values(scale),
            beta: values(shift),
        })
        .collect()
}

/// The same memory holds both. Since one of them is kept, that memory cannot have come to hold something else.
fn is_same(kept: &FlexTensor, images: &FlexTensor) -> bool {
    std::ptr::eq(values(kept), values(images))
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Pass").field("taped", &self.taped).finish_non_exhaustive()
    }
}

/// The operation, on the backends that have it.
#[backend_extension(Flex, Autodiff)]
pub trait FusedBackbone: Backend {
    /// Images `[n, h, w, c]` to features `[n, d]`.
    fn fused_backbone(
        images: FloatTensor<Self>,
        #[extension_type] parameters: Parameters<Self>,
        pass: Arc<Pass>,
    ) -> FloatTensor<Self>;
}

impl FusedBackbone for Flex {
    fn fused_backbone(images: FlexTensor, parameters: Parameters<Self>, pass: Arc<Pass>) -> FlexTensor {
        let count = images.shape()[0];
        let parameters = parameters.0.iter().map(FlexTensor::to_contiguous).collect();
        let features = pass.forward(images.to_contiguous(), parameters).features.clone();
        let size = features.len() / count;
        FlexTensor::from_data(TensorData::new(features, [count, size]))
    }
}

/// A backend whose tensors are slices of this process's memory.
pub trait OnHost: Backend {
    /// A copy of the values, row-major.
    fn read(tensor: FloatTensor<Self>) -> Vec<f32>;
    /// A tensor of these values.
    fn write(values: Vec<f32>, shape: Shape) -> FloatTensor<Self>;
}

impl OnHost for Flex {
    fn read(tensor: FlexTensor) -> Vec<f32> {
        values(&tensor.to_contiguous()).to_vec()
    }

    fn write(values: Vec<f32>, shape: Shape) -> FlexTensor {
        FlexTensor::from_data(TensorData::new(values, shape))
    }
}

fn values(contiguous: &FlexTensor) -> &[f32] {
    contiguous.as_slice().expect("contiguous, and networks are made of f32")
}

impl<B: FusedBackbone + OnHost, C: CheckpointStrategy> FusedBackbone for Autodiff<B, C> {
    fn fused_backbone(images: FloatTensor<Self>, parameters: Parameters<Self>, pass: Arc<Pass>) -> FloatTensor<Self> {
        let nodes: Vec<_> = parameters.0.iter().map(FloatTensor::<Self>::node).collect();
        let nodes: [_; PARAMETERS] = nodes.try_into().expect("ResNet-18 has 20 layers of three parameters");
        let inner: Vec<_> = parameters.0.into_iter().map(|parameter| parameter.into_parts().0).collect();
        let shapes: Vec<Shape> = inner.iter().map(TensorMetadata::shape).collect();
        let features = B::fused_backbone(images.into_parts().0, Parameters(inner), Arc::clone(&pass));
        match Differentiated.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((pass, shapes), features),
            OpsKind::UnTracked(prepared) => prepared.finish(features),
        }
    }
}

#[derive(Debug)]
struct Differentiated;

impl<B: OnHost> Backward<B, PARAMETERS> for Differentiated {
    type State = (Arc<Pass>, Vec<Shape>);

    fn backward(self, ops: Ops<Self::State, PARAMETERS>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (pass, shapes) = ops.state;
        let features = B::read(gradients.consume::<B>(&ops.node));
        for ((values, shape), parent) in pass.backward(&features).zip(shapes).zip(ops.parents) {
            if let Some(parent) = parent {
                gradients.register::<B>(parent.id, B::write(values, shape));
            }
        }
    }
}

/// Weight, scale and shift of each layer, as an argument of a backend extension.
pub struct Parameters<B: Backend>(Vec<FloatTensor<B>>);

impl<B: Backend> ExtensionType<B> for Parameters<B> {
    type Target = Parameters<Dispatch>;

    fn map_to_dispatch<F>(self, map_kind: F, autodiff: DispatchAutodiffContext) -> Self::Target
    where
        F: Fn(BackendTensor<B>) -> DispatchTensorKind,
    {
        let wrap = |tensor| DispatchTensor { kind: map_kind(BackendTensor::Float(tensor)), autodiff };
        Parameters(self.0.into_iter().map(wrap).collect())
    }

    fn map_from_dispatch<F>(target: Self::Target, unwrap_kind: F) -> Self
    where
        F: Fn(DispatchTensor) -> BackendTensor<B>,
    {
        Self(target.0.into_iter().map(|tensor| unwrap_kind(tensor).float()).collect())
    }

    fn routing_tensor(target: &Self::Target) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn routing_float_tensor(target: &Self::Target) -> Option<&DispatchTensor> {
        target.0.first()
    }

    fn autodiff_context(target: &Self::Target) -> DispatchAutodiffContext {
        target.0.iter().fold(DispatchAutodiffContext::default(), |context, tensor| context.merge(tensor.autodiff))
    }
}

impl Module for Fused {
    fn visit<V: ModuleVisitor>(&self, _: &mut V) {}

    /// A mapped module has other parameters.
    fn map<M: ModuleMapper>(mut self, _: &mut M) -> Self {
        self.forget();
        self
    }

    fn to_device(self, _: &Device) -> Self {
        self
    }

    fn fork(self, _: &Device) -> Self {
        self
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        devices
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.clone()
    }

    fn train(self) -> Self {
        self
    }
}

impl ModuleDisplayDefault for Fused {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"fused kernels".to_owned()).optional()
    }
}

impl ModuleDisplay for Fused {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chance::{Chance, Decides},
        gradients::Gradients as OfNetwork,
        losses::cross_entropy,
        network::{BackboneKind, HeadKind, Kernels, Network, Norm, State},
        sample::{Class, ImageShape},
    };

    fn network(input: ImageShape, width: usize, kernels: Kernels) -> Network {
        let architecture = Architecture {
            backbone: BackboneKind::ResNet18,
            width,
            head: HeadKind::Linear,
            classes: 5,
            input,
            kernels,
            threads: 2,
        };
        Network::new(&architecture, 3, &Device::flex().autodiff())
    }

    fn images(count: usize, shape: ImageShape, device: &Device) -> Tensor<4> {
        let mut chance = Chance::new(1, Decides::Split, &[]);
        let values: Vec<f32> = (0..count * shape.bytes()).map(|_| chance.unit() as f32).collect();
        Tensor::from_data(TensorData::new(values, [count, shape.height, shape.width, shape.channels]), device)
    }

    fn flat(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    /// ‖a − b‖ / ‖b‖.
    fn difference(a: &[f32], b: &[f32]) -> f64 {
        let norm =
            |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied()).max(1e-12)
    }

    /// Features in every mode, running statistics after a training pass, and θ − g.
    fn everything(input: ImageShape, width: usize, kernels: Kernels) -> (Vec<Vec<f32>>, State, State) {
        let mut network = network(input, width, kernels);
        let x = images(6, input, &network.device());
        let labels = [0, 1, 2, 3, 4, 0].map(Class);
        let trained = network.train_logits(x.clone());
        let features = [
            flat(trained),
            flat(network.features(x.clone(), Norm::Batch)),
            flat(network.features(x.clone(), Norm::Eval)),
        ];
        let plain = network.valid().features(x.clone().without_autodiff(), Norm::Eval);
        let loss = cross_entropy(network.logits(x, Norm::Batch), &labels).mean();
        let stepped = network.valid().descend(&OfNetwork::of(&loss, &network), 1.0).state();
        (features.into_iter().chain([flat(plain)]).collect(), network.state(), stepped)
    }

    #[test]
    fn kernels_and_composed_operations_agree_forward_and_backward() {
        for (height, width_px, channels, width) in [(32, 32, 3, 5), (9, 14, 1, 4), (28, 28, 1, 20)] {
            let input = ImageShape { height, width: width_px, channels };
            let (features, state, stepped) = everything(input, width, Kernels::Composed);
            for kernels in [Kernels::Direct, Kernels::Winograd] {
                let (f, s, t) = everything(input, width, kernels);
                for (ours, composed) in f.iter().zip(&features) {
                    assert!(
                        difference(ours, composed) < 1e-4,
                        "{kernels} {input:?}: features by {}",
                        difference(ours, composed)
                    );
                }
                for (name, composed) in &state.0 {
                    let by = difference(&s.0[name].values, &composed.values);
                    assert!(by < 1e-4, "{kernels} {input:?}: {name} by {by}");
                }
                for (name, composed) in &stepped.0 {
                    let gradient = |state: &State, stepped: &State| -> Vec<f32> {
                        state.0[name].values.iter().zip(&stepped.0[name].values).map(|(a, b)| a - b).collect()
                    };
                    let (ours, composed) =
                        (gradient(&s, &t), gradient(&state, &State([(name.clone(), composed.clone())].into())));
                    // By norm: a ReLU input within rounding of zero may change sign and move single entries.
                    assert!(
                        name.contains("running") || difference(&ours, &composed) < 1e-2,
                        "{kernels} {input:?}: gradient of {name} by {}",
                        difference(&ours, &composed)
                    );
                }
            }
        }
    }

    #[test]
    fn images_of_another_size_fall_back_to_composed_operations() {
        let network = network(ImageShape { height: 16, width: 16, channels: 1 }, 4, Kernels::Winograd).valid();
        let other = images(2, ImageShape { height: 24, width: 16, channels: 1 }, &Device::flex());
        assert_eq!(network.features(other, Norm::Eval).dims(), [2, 32]);
    }

    #[test]
    fn a_pass_shared_by_two_losses_gives_each_its_own_gradient() {
        let input = ImageShape { height: 8, width: 8, channels: 1 };
        let gradient = |network: &Network, images: Tensor<4>, labels: [u16; 4]| {
            let loss = cross_entropy(network.logits(images, Norm::Batch), &labels.map(Class)).mean();
            network.valid().descend(&OfNetwork::of(&loss, network), 1.0).state()
        };
        let shared = network(input, 4, Kernels::Winograd);
        let x = images(4, input, &shared.device());
        let first = gradient(&shared, x.clone(), [0, 1, 2, 3]);
        let second = gradient(&shared, x.clone(), [3, 3, 0, 0]);
        let other_images = gradient(&shared, x.clone() * 0.5, [3, 3, 0, 0]);
        let alone = |images: Tensor<4>, labels| gradient(&network(input, 4, Kernels::Winograd), images, labels);
        assert_eq!(first, alone(x.clone(), [0, 1, 2, 3]));
        assert_eq!(second, alone(x.clone(), [3, 3, 0, 0]));
        assert_eq!(other_images, alone(x * 0.5, [3, 3, 0, 0]));
    }

    #[test]
    fn a_step_forgets_the_packed_parameters() {
        let input = ImageShape { height: 8, width: 8, channels: 1 };
        let network = network(input, 4, Kernels::Winograd);
        let x = images(4, input, &network.device());
        let loss = cross_entropy(network.logits(x.clone(), Norm::Batch), &[0, 1, 2, 3].map(Class)).mean();
        let stepped = network.clone().descend(&OfNetwork::of(&loss, &network), 0.5);
        let before = flat(network.features(x.clone(), Norm::Batch));
        assert_ne!(before, flat(stepped.features(x.clone(), Norm::Batch)));
        let mut loaded = stepped;
        loaded.load(&network.state()).unwrap();
        assert_eq!(before, flat(loaded.features(x, Norm::Batch)));
    }
}
