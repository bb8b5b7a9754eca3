//! Gradients as values: one flat vector per parameter, in the order of the network's parameters.

mod flat;

use burn::tensor::Tensor;
use flat::{Blocks, Flat};

pub use flat::FlatGradient;

use crate::{
    device::{is_host, read, read_one},
    network::Network,
};

/// The gradient of a loss with respect to every parameter of a network.
#[derive(Clone, Debug)]
pub struct Gradients(Vec<Tensor<1>>);

impl Gradients {
    /// One flat gradient for each parameter, in the order of the network's parameters.
    pub fn new(gradients: Vec<Tensor<1>>) -> Self {
        Self(gradients)
    }

    /// The gradient of each parameter, flat.
    pub fn iter(&self) -> impl Iterator<Item = &Tensor<1>> {
        self.0.iter()
    }

    /// Differentiates `loss` with respect to `network`, from whose parameters it was computed. A
    /// parameter that the loss does not depend on gets zeros.
    pub fn from_loss(loss: &Tensor<1>, network: &Network) -> Self {
        Self(network.gradients(loss.backward()))
    }

    /// The gradient without what points against `reference`: g − (g·r)/(r·r)·r where g·r < 0,
    /// otherwise g. On a GPU it stays there: nothing is read back to decide it.
    pub fn projected(self, reference: &Self) -> Self {
        if self.is_on_host() { self.projected_on_host(reference) } else { self.projected_on_device(reference) }
    }

    fn projected_on_device(self, reference: &Self) -> Self {
        let (own, other) = (Blocks::of(&self.0), Blocks::of(&reference.0));
        // 0 where they do not conflict, and where the reference is 0, as the product is then.
        let factor = own.dot(&other).clamp_max(0.0) / other.dot(&other).clamp_min(f32::MIN_POSITIVE);
        let project = |(g, r): (Tensor<1>, &Tensor<1>)| g - r.clone() * factor.clone();
        Self(self.0.into_iter().zip(&reference.0).map(project).collect())
    }

    fn projected_on_host(self, reference: &Self) -> Self {
        let (along, length) = (self.dot(reference), reference.dot(reference));
        if along >= 0.0 || length == 0.0 {
            return self;
        }
        let factor = along / length;
        let project = |(g, r): (Tensor<1>, &Tensor<1>)| g - r.clone() * factor;
        Self(self.0.into_iter().zip(&reference.0).map(project).collect())
    }

    /// All values one after another, to be compared with others: on the host if they are there.
    pub fn flat(self) -> FlatGradient {
        FlatGradient(if self.is_on_host() { Flat::on_host(&self.0) } else { Flat::on_device(&self.0) })
    }

    /// Sum of the products of all pairs of values.
    pub fn dot(&self, other: &Self) -> f64 {
        if self.is_on_host() {
            let pairs = self.0.iter().zip(&other.0);
            return pairs.map(|(a, b)| flat::dot(&read(a.clone()), &read(b.clone()))).sum();
        }
        f64::from(read_one(Blocks::of(&self.0).dot(&Blocks::of(&other.0))))
    }

    /// Whether the host adds it up: the one place that decides it. The processor's results are held
    /// to the bit, and a GPU's sums are added up in another order.
    fn is_on_host(&self) -> bool {
        self.0.first().is_none_or(|first| is_host(&first.device()))
    }
}

impl Network {
    /// The network whose every parameter is `share` of this one's and the rest of the other's. Running statistics stay.
    pub fn averaged(self, other: &Self, share: f64) -> Self {
        let mut others = other.parameters().into_iter();
        self.map_parameters(|value| {
            let (_, other) = others.next().expect("networks of one shape");
            value * share + other * (1.0 - share)
        })
    }

    /// The network one plain step of gradient descent further: θ − lr·g. Running statistics stay.
    pub fn plain_step(self, gradients: &Gradients, lr: f64) -> Self {
        let mut gradients = gradients.0.iter();
        self.map_parameters(|value| value - gradients.next().expect("one gradient per parameter").clone() * lr)
    }
}

#[cfg(test)]
impl Gradients {
    /// Of one parameter, for tests that need no network.
    pub(crate) fn from_values(values: &[f32]) -> Self {
        Self(vec![crate::device::upload(values, &burn::tensor::Device::flex())])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(gradients: &Gradients) -> Vec<f32> {
        gradients.iter().flat_map(|gradient| read(gradient.clone())).collect()
    }

    #[test]
    fn v4_projection() {
        let project = |g: &[f32], r: &[f32]| values(&Gradients::from_values(g).projected(&Gradients::from_values(r)));
        assert_eq!(project(&[1.0, -2.0, -3.0], &[-1.0, 0.0, 1.0]), [-1.0, -2.0, -1.0]);
        assert_eq!(project(&[1.0, -2.0, 3.0], &[-1.0, 0.0, 1.0]), [1.0, -2.0, 3.0], "no conflict: unchanged");
        assert_eq!(project(&[1.0, -2.0, -3.0], &[0.0; 3]), [1.0, -2.0, -3.0], "r = 0: unchanged, no NaN");
        let on_device =
            |g: &[f32], r: &[f32]| values(&Gradients::from_values(g).projected_on_device(&Gradients::from_values(r)));
        assert_eq!(on_device(&[1.0, -2.0, -3.0], &[-1.0, 0.0, 1.0]), [-1.0, -2.0, -1.0]);
        assert_eq!(on_device(&[1.0, -2.0, 3.0], &[-1.0, 0.0, 1.0]), [1.0, -2.0, 3.0]);
        assert_eq!(on_device(&[1.0, -2.0, -3.0], &[0.0; 3]), [1.0, -2.0, -3.0]);
    }

    proptest! {
        #[test]
        fn a_projected_gradient_does_not_point_against_the_reference(
            pairs in prop::collection::vec((-10f32..10.0, -10f32..10.0), 1..40),
        ) {
            let (g, r): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (g, r) = (Gradients::from_values(&g), Gradients::from_values(&r));
            let (before, projected) = (g.dot(&r), g.clone().projected(&r));
            // Exactly 0 in exact arithmetic; what is left is the rounding of f32.
            let rounding = 1e-5 * (g.dot(&g) * r.dot(&r)).sqrt();
            prop_assert!(projected.dot(&r) >= -rounding, "{} after {before}", projected.dot(&r));
            prop_assert!(before < 0.0 || values(&projected) == values(&g), "without conflict it stays");
        }
    }
}
