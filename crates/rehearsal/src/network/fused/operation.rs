//! The operation itself: a pass through the kernels as Burn sees it, forward and backward.

use std::{
    fmt,
    sync::{Arc, OnceLock, PoisonError},
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
    tensor::{Shape, TensorData},
};
use rehearsal_kernels::{Forward, LayerParameters, Statistics, Tape};

use super::Fused;

/// Weight, scale and shift of the 20 layers of ResNet-18.
const PARAMETERS: usize = 60;

/// One pass on its way through Burn.
pub struct Pass {
    fused: Fused,
    running: Option<Vec<Statistics>>,
    /// Whether a gradient may be asked for.
    taped: bool,
    done: OnceLock<Arc<Done>>,
}

/// What came out of a pass.
pub struct Done {
    images: FlexTensor,
    parameters: Vec<FlexTensor>,
    features: Vec<f32>,
    statistics: Vec<Statistics>,
    tape: Option<Tape>,
}

impl Pass {
    /// A pass to be made; without `running` statistics the batch's normalise.
    pub(super) fn new(fused: Fused, running: Option<Vec<Statistics>>, taped: bool) -> Self {
        Self { fused, running, taped, done: OnceLock::new() }
    }

    /// Mean and variance of every layer, where the batch's normalised.
    pub(super) fn statistics(&self) -> &[Statistics] {
        &self.done().statistics
    }

    fn done(&self) -> &Done {
        self.done.get().expect("a pass is asked after it was made")
    }

    /// Passes the images, unless the last pass was the same.
    fn forward(&self, images: FlexTensor, parameters: Vec<FlexTensor>) -> &Done {
        if !self.taped || self.running.is_some() {
            // Nothing to repeat: predictions from many threads do not wait for each other here.
            return self.done.get_or_init(|| Arc::new(self.compute(images, parameters)));
        }
        let mut last = self.fused.last.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.clone().filter(|last| is_same(&last.images, &images));
        let done = same.unwrap_or_else(|| Arc::new(self.compute(images, parameters)));
        *last = Some(Arc::clone(&done));
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

impl Parameters<Dispatch> {
    /// To be given to the operation.
    pub(super) fn new(tensors: Vec<DispatchTensor>) -> Self {
        Self(tensors)
    }
}

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
