//! A head to first order: the gradient of a loss with respect to its parameters, and how logits
//! change along such a gradient. By hand, and exact: both follow from features that are at hand, and
//! nothing is differentiated below them.
//!
//! A linear head's logit z = ⟨w, f⟩ + b has the gradient (f, 1). A proxy's logit
//! s = ⟨u, w/(r + ε)⟩/τ, with u = f/(‖f‖ + ε) and r = ‖w‖, has the gradient P·u/τ, where
//! P = 1/(r + ε) − w·wᵀ/(r·(r + ε)²) takes away most of what points along the proxy.

use burn::tensor::Tensor;

use super::head::{EPSILON, Head, cosines, direction, length};

/// The gradient of a loss with respect to the parameters of the classes `0..seen`; those of other
/// classes have none.
#[derive(Clone, Debug)]
pub struct HeadGradient {
    /// `[seen, d]`: of the classes' rows.
    rows: Tensor<2>,
    /// `[1, seen]`: of their biases, where the head has them.
    bias: Option<Tensor<2>>,
}

impl Head {
    /// The gradient of a loss that depends on the logits of features `[n, d]`; `errors` `[n, seen]`
    /// are its derivatives with respect to the logits.
    pub fn gradient(&self, features: Tensor<2>, errors: Tensor<2>) -> HeadGradient {
        let seen = errors.dims()[1];
        match self {
            Self::Linear(_) => {
                let bias = Some(errors.clone().sum_dim(0));
                HeadGradient { rows: errors.transpose().matmul(features), bias }
            }
            Self::Proxies(head) => {
                let inputs = errors.transpose().matmul(direction(features));
                HeadGradient { rows: across(inputs, head.proxies(seen)) / head.temperature(), bias: None }
            }
        }
    }

    /// How fast the logits of features `[n, d]` change as the parameters move along `gradient`:
    /// `[n, seen]`.
    pub fn slopes(&self, features: Tensor<2>, gradient: &HeadGradient) -> Tensor<2> {
        let HeadGradient { rows, bias } = gradient.clone();
        match (self, bias) {
            (Self::Linear(_), Some(bias)) => features.matmul(rows.transpose()) + bias,
            (Self::Linear(_), None) => features.matmul(rows.transpose()),
            (Self::Proxies(head), _) => {
                let seen = rows.dims()[0];
                let along = across(rows, head.proxies(seen)) / head.temperature();
                direction(features).matmul(along.transpose())
            }
        }
    }
}

impl Head {
    /// The logits `[n, seen]` of features `[n, d]` after a plain step of the parameters along
    /// `gradient`: not to first order, but as they will be.
    pub fn logits_after(&self, features: Tensor<2>, gradient: &HeadGradient, lr: f64) -> Tensor<2> {
        let seen = gradient.rows.dims()[0];
        match self {
            Self::Linear(_) => self.logits(features.clone()).narrow(1, 0, seen) - self.slopes(features, gradient) * lr,
            Self::Proxies(head) => {
                let stepped = head.proxies(seen) - gradient.rows.clone() * lr;
                cosines(features, stepped) / head.temperature()
            }
        }
    }
}

/// P·x for every row x `[k, d]` and its proxy.
fn across(rows: Tensor<2>, proxies: Tensor<2>) -> Tensor<2> {
    let length = length(proxies.clone());
    let longer = length.clone() + EPSILON;
    let along = (proxies.clone() * rows.clone()).sum_dim(1) / (length * longer.clone().square());
    rows / longer - proxies * along
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::{
        losses::{cross_entropy_seen, errors_seen},
        methods::testing::{close, values},
        network::HeadKind,
        rng::{Rng, RngStream},
        sample::Class,
    };

    const HEADS: [HeadKind; 2] = [HeadKind::Linear, HeadKind::Proxies { temperature: 0.09 }];
    const SEEN: usize = 4;

    fn head(kind: HeadKind, device: &Device) -> Head {
        Head::new(kind, 5, 6, &mut Rng::new(3, RngStream::Initialisation, &[]), device)
    }

    fn features(rows: usize, seed: u64, device: &Device) -> Tensor<2> {
        let mut rng = Rng::new(seed, RngStream::Split, &[]);
        let values: Vec<f32> = (0..rows * 5).map(|_| rng.uniform(-1.0, 2.0) as f32).collect();
        Tensor::from_data(TensorData::new(values, [rows, 5]), device)
    }

    fn labels(labels: &[u16]) -> Vec<Class> {
        labels.iter().copied().map(Class).collect()
    }

    /// What automatic differentiation finds for the mean loss: rows and bias, of all classes.
    fn differentiated(kind: HeadKind, features: Tensor<2>, labels: &[Class]) -> (Vec<f32>, Option<Vec<f32>>) {
        let head = head(kind, &Device::flex().autodiff());
        let loss = cross_entropy_seen(head.logits(Tensor::from_inner(features)), labels, SEEN).mean();
        let mut gradients = loss.backward();
        match &head {
            Head::Linear(linear) => {
                let [weight, bias] = linear.gradients(&mut gradients);
                (weight, Some(bias))
            }
            Head::Proxies(head) => (head.gradient(&mut gradients), None),
        }
    }

    #[test]
    fn gradients_are_those_of_automatic_differentiation() {
        for kind in HEADS {
            let (x, y) = (features(3, 1, &Device::flex()), labels(&[0, 3, 1]));
            let head = head(kind, &Device::flex());
            let errors = errors_seen(head.logits(x.clone()), &y, SEEN) / 3.0;
            let found = head.gradient(x.clone(), errors);
            let (rows, bias) = differentiated(kind, x, &y);
            close(&values(found.rows), &rows[..SEEN * 5]);
            assert!(rows[SEEN * 5..].iter().all(|value| *value == 0.0), "classes that were not seen have no gradient");
            assert_eq!(found.bias.is_some(), bias.is_some());
            if let (Some(found), Some(bias)) = (found.bias, bias) {
                close(&values(found), &bias[..SEEN]);
            }
        }
    }

    /// ⟨∇L, ∇ℓ(x)⟩ by automatic differentiation of each is errors × slopes.
    #[test]
    fn slopes_times_errors_are_inner_products_of_gradients() {
        for kind in HEADS {
            let (batch, y) = (features(3, 1, &Device::flex()), labels(&[0, 3, 1]));
            let (others, z) = (features(4, 2, &Device::flex()), labels(&[1, 0, 2, 3]));
            let head = head(kind, &Device::flex());
            let errors = |x: &Tensor<2>, y: &[Class]| errors_seen(head.logits(x.clone()), y, SEEN);
            let gradient = head.gradient(batch.clone(), errors(&batch, &y) / 3.0);
            let found = (head.slopes(others.clone(), &gradient) * errors(&others, &z)).sum_dim(1);
            let (rows, bias) = differentiated(kind, batch, &y);
            let expected: Vec<f32> = (0..4)
                .map(|i| {
                    let (other_rows, other_bias) = differentiated(kind, others.clone().narrow(0, i, 1), &z[i..=i]);
                    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
                    dot(&rows, &other_rows) + bias.iter().zip(&other_bias).map(|(a, b)| dot(a, b)).sum::<f32>()
                })
                .collect();
            let found = values(found);
            let scale = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            assert!(scale > 1e-3);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-5 * scale.max(1.0), "{kind:?}: {found}, expected {expected}");
            }
        }
    }
}
