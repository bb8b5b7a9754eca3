//! Gradients as values: one flat vector per parameter, in the order of the network's parameters.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{self, Tensor},
};

use crate::network::Network;

/// The gradient of a loss with respect to every parameter of a network.
#[derive(Clone, Debug)]
pub struct Gradients(Vec<Tensor<1>>);

impl Gradients {
    /// Differentiates `loss` with respect to `network`, from whose parameters it was computed. A parameter that the loss does not depend on
    /// gets zeros.
    pub fn of(loss: &Tensor<1>, network: &Network) -> Self {
        let mut collector = Collector { by_tensor: loss.backward(), gradients: Vec::new() };
        network.visit(&mut collector);
        Self(collector.gradients)
    }

    /// Sum of the products of all pairs of values.
    pub fn dot(&self, other: &Self) -> f64 {
        let product = |(a, b): (&Tensor<1>, &Tensor<1>)| f64::from((a.clone() * b.clone()).sum().into_scalar::<f32>());
        self.0.iter().zip(&other.0).map(product).sum()
    }
}

impl Network {
    /// The network one plain step of gradient descent further: θ − lr·g. Running statistics stay.
    pub fn descend(self, gradients: &Gradients, lr: f64) -> Self {
        self.map(&mut Descent { gradients: gradients.0.iter(), lr })
    }
}

struct Collector {
    by_tensor: tensor::Gradients,
    gradients: Vec<Tensor<1>>,
}

impl ModuleVisitor for Collector {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = parameter.val();
        let size = value.shape().num_elements();
        let gradient = match value.grad_remove(&mut self.by_tensor) {
            Some(gradient) => gradient.reshape([size]),
            None => Tensor::zeros([size], &value.device().without_autodiff()),
        };
        self.gradients.push(gradient);
    }
}

struct Descent<'a> {
    gradients: std::slice::Iter<'a, Tensor<1>>,
    lr: f64,
}

impl ModuleMapper for Descent<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let gradient = self.gradients.next().expect("one gradient per parameter");
        let (id, value, mapper) = parameter.consume();
        let (autodiff, trainable, dims) = (value.is_autodiff(), value.is_require_grad(), value.dims());
        let moved = value.without_autodiff() - gradient.clone().reshape(dims) * self.lr;
        let moved = if autodiff { Tensor::from_inner(moved) } else { moved };
        Param::from_mapped_value(id, if trainable { moved.require_grad() } else { moved }, mapper)
    }
}
