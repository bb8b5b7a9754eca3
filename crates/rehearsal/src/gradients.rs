//! Gradients as values: one flat vector per parameter, in the order of the network's parameters.

use burn::tensor::Tensor;

use crate::network::Network;

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
    /// otherwise g.
    pub fn projected(self, reference: &Self) -> Self {
        let (along, length) = (self.dot(reference), reference.dot(reference));
        if along >= 0.0 || length == 0.0 {
            return self;
        }
        let factor = along / length;
        let project = |(g, r): (Tensor<1>, &Tensor<1>)| g - r.clone() * factor;
        Self(self.0.into_iter().zip(&reference.0).map(project).collect())
    }

    /// All values one after another, on the host.
    pub fn flat(self) -> FlatGradient {
        let mut values = Vec::with_capacity(self.0.iter().map(|tensor| tensor.dims()[0]).sum());
        for tensor in self.0 {
            values.extend_from_slice(tensor.into_data().as_slice::<f32>().expect("gradients are f32"));
        }
        let length = dot(&values, &values).sqrt();
        FlatGradient { values, length }
    }

    /// Sum of the products of all pairs of values.
    pub fn dot(&self, other: &Self) -> f64 {
        let products = self.0.iter().zip(&other.0).map(|(a, b)| {
            let [a, b] = [a, b].map(|tensor| tensor.to_data());
            let [a, b] = [&a, &b].map(|data| data.as_slice::<f32>().expect("gradients are f32"));
            dot(a, b)
        });
        products.sum()
    }
}

/// A gradient as one vector on the host, to be compared with many others.
#[derive(Clone, Debug)]
pub struct FlatGradient {
    values: Vec<f32>,
    length: f64,
}

impl FlatGradient {
    /// The inner product of two gradients.
    pub fn dot(&self, other: &Self) -> f64 {
        dot(&self.values, &other.values)
    }

    /// The cosine between two gradients; 0 where one of them is 0.
    pub fn cosine(&self, other: &Self) -> f32 {
        (dot(&self.values, &other.values) / (self.length * other.length).max(1e-8)) as f32
    }
}

/// Σ a·b, in blocks of f32 added up as f64: as fast as f32 and, over millions of values, nearly as
/// exact as f64.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 16;
    let block = |a: &[f32], b: &[f32]| {
        let mut sums = [0.0f32; LANES];
        let (a, b) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (a, b) in a.0.iter().zip(b.0) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
        let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
        f64::from(sums.iter().sum::<f32>() + rest)
    };
    a.chunks(1024).zip(b.chunks(1024)).map(|(a, b)| block(a, b)).sum()
}

impl Network {
    /// The network whose every parameter is `share` of this one's and the rest of the other's.
    /// Running statistics stay.
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
        Self(vec![Tensor::from_data(values, &burn::tensor::Device::flex())])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(gradients: &Gradients) -> Vec<f32> {
        gradients.clone().flat().values
    }

    #[test]
    fn v4_projection() {
        let project = |g: &[f32], r: &[f32]| values(&Gradients::from_values(g).projected(&Gradients::from_values(r)));
        assert_eq!(project(&[1.0, -2.0, -3.0], &[-1.0, 0.0, 1.0]), [-1.0, -2.0, -1.0]);
        assert_eq!(project(&[1.0, -2.0, 3.0], &[-1.0, 0.0, 1.0]), [1.0, -2.0, 3.0], "no conflict: unchanged");
        assert_eq!(project(&[1.0, -2.0, -3.0], &[0.0; 3]), [1.0, -2.0, -3.0], "r = 0: unchanged, no NaN");
    }

    #[test]
    fn a_cosine_is_that_of_the_vectors_and_zero_for_none() {
        let flat = |values: &[f32]| Gradients::from_values(values).flat();
        assert!((flat(&[3.0, 4.0]).cosine(&flat(&[4.0, 3.0])) - 0.96).abs() < 1e-6);
        assert!(flat(&[0.0, 0.0]).cosine(&flat(&[4.0, 3.0])).abs() < 1e-9);
        let long: Vec<f32> = (0..5000).map(|i| (i % 7) as f32 - 2.5).collect();
        let exact: f64 = long.iter().map(|value| f64::from(*value).powi(2)).sum();
        assert!((dot(&long, &long) - exact).abs() < 1e-9 * exact);
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
