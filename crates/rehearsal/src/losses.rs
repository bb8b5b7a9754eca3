//! Losses on logits.

use burn::tensor::{Device, Int, Tensor, TensorData};
use rehearsal_data::choice;

use crate::{device::upload, sample::Class};

/// Over which proxies the contrastive loss sums in its denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denominator {
    /// Those of the anchors' labels with multiplicity: a class with N anchors counts N times (PCR's code).
    Multiset,
    /// Each class present once (the paper's equation).
    Set,
}
choice!(Denominator, "denominator", Multiset = "multiset", Set = "set");

/// Cross-entropy of every sample over all classes of `logits` `[n, K]`: `[n]`.
pub fn cross_entropy(logits: Tensor<2>, labels: &[Class]) -> Tensor<1> {
    log_sum_exp(logits.clone()) - own_logits(logits, labels)
}

/// Cross-entropy of every sample over the classes `0..seen`: `[n]`.
pub fn cross_entropy_seen(logits: Tensor<2>, labels: &[Class], seen: usize) -> Tensor<1> {
    cross_entropy(logits.narrow(1, 0, seen), labels)
}

/// The mean over all entries of the squared difference: `[1]`.
pub fn mean_squared_error(logits: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    (logits - targets).square().mean()
}

/// Proxy-based contrastive loss of every anchor: `−s[i, y_i] + log Σ_j exp(s[i, y_j])`, j over all
/// anchors or over the classes present. `logits` are `[n, K]`, the result `[n]`. A class that no
/// anchor has gets exactly no gradient.
pub fn proxy_contrastive(logits: Tensor<2>, labels: &[Class], denominator: Denominator) -> Tensor<1> {
    let mut present = labels.to_vec();
    present.sort_unstable();
    present.dedup();
    let device = logits.device();
    let among = logits.clone().select(1, indices(&present, &device));
    let among = match denominator {
        Denominator::Set => among,
        // N·exp(s) = exp(s + ln N): the multiset without writing its members out.
        Denominator::Multiset => {
            let count = |class: &Class| labels.iter().filter(|label| *label == class).count();
            let logs: Vec<f32> = present.iter().map(|class| (count(class) as f32).ln()).collect();
            among + upload(TensorData::new(logs, [1, present.len()]), &device)
        }
    };
    log_sum_exp(among) - own_logits(logits, labels)
}

/// The logit of each row's own label: `[n, K]` to `[n]`.
fn own_logits(logits: Tensor<2>, labels: &[Class]) -> Tensor<1> {
    let count = labels.len();
    let own = indices(labels, &logits.device()).reshape([count, 1]);
    logits.gather(1, own).reshape([count])
}

/// log Σ exp of every row, shifted by its highest value: `[n, k]` to `[n]`.
fn log_sum_exp(logits: Tensor<2>) -> Tensor<1> {
    let count = logits.dims()[0];
    let highest = logits.clone().detach().max_dim(1);
    ((logits - highest.clone()).exp().sum_dim(1).log() + highest).reshape([count])
}

fn indices(classes: &[Class], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = classes.iter().map(|class| i64::from(class.0)).collect();
    upload(TensorData::new(values, [classes.len()]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::cosines;

    // V1: features, labels and proxies; class 3 has no anchor.
    const F: [[f32; 3]; 4] = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]];
    const W: [[f32; 3]; 4] = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]];
    const Y: [Class; 4] = [Class(0), Class(1), Class(0), Class(2)];

    fn rows(rows: &[[f32; 3]]) -> Tensor<2> {
        let device = Device::flex().autodiff();
        Tensor::<2>::from_data(TensorData::new(rows.concat(), [rows.len(), 3]), &device).require_grad()
    }

    fn vector<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    fn close(found: &[f32], expected: &[f32], tolerance: f32) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance), "{found:?}, expected {expected:?}");
    }

    fn losses(f: &[[f32; 3]], y: &[Class], temperature: f64, denominator: Denominator) -> Vec<f32> {
        vector(proxy_contrastive(cosines(rows(f), rows(&W)) / temperature, y, denominator))
    }

    #[test]
    fn v1_losses_of_every_anchor() {
        let multiset = losses(&F, &Y, 0.5, Denominator::Multiset);
        close(&multiset, &[0.820_075_55, 0.340_753_82, 1.176_534_73, 0.910_768_81], 1e-6);
        let set = losses(&F, &Y, 0.5, Denominator::Set);
        close(&set, &[0.239_545_41, 0.239_545_41, 0.807_866_17, 0.807_866_04], 1e-6);
        let multiset = losses(&F, &Y, 0.09, Denominator::Multiset);
        close(&multiset, &[0.693_162_13, 0.000_044_84, 1.098_740_02, 0.693_531_62], 2e-6);
        let set = losses(&F, &Y, 0.09, Denominator::Set);
        close(&set, &[0.000_029_89, 0.000_029_89, 0.693_338_77, 0.693_338_11], 2e-6);
    }

    #[test]
    fn v1_cross_entropy_over_seen_and_over_all() {
        let logits = |temperature: f64| cosines(rows(&F), rows(&W)) / temperature;
        let seen = vector(cross_entropy_seen(logits(0.5), &Y, 3));
        close(&seen, &[0.239_545_41, 0.239_545_41, 0.807_866_17, 0.807_866_04], 1e-6);
        let all = vector(cross_entropy(logits(0.5), &Y));
        close(&all, &[0.530_687_44, 0.530_687_59, 1.249_234_72, 1.249_234_56], 1e-6);
        let all = vector(cross_entropy(logits(0.09), &Y));
        close(&all, &[0.009_118_99, 0.009_119_02, 1.681_230_19, 1.681_229_13], 2e-6);
    }

    #[test]
    fn v1_gradients() {
        let gradients = |denominator| {
            let (f, w) = (rows(&F), rows(&W));
            let loss = proxy_contrastive(cosines(f.clone(), w.clone()) / 0.5, &Y, denominator).mean();
            let gradients = loss.backward();
            (vector(f.grad(&gradients).unwrap()), vector(w.grad(&gradients).unwrap()))
        };
        let (f, w) = gradients(Denominator::Multiset);
        close(
            &f,
            &[
                0.0, 0.029801, 0.029801, 0.048128, 0.0, 0.024064, -0.122268, 0.122268, 0.026504, 0.069145, 0.176776,
                -0.176776,
            ],
            2e-6,
        );
        close(&w, &[0.0, 0.014940, 0.034572, 0.138817, 0.0, 0.142204, 0.018768, -0.045572, 0.0, 0.0, 0.0, 0.0], 2e-6);
        assert_eq!(w[9..], [0.0; 3], "a class without anchors gets exactly no gradient");
        let (f, w) = gradients(Denominator::Set);
        close(
            &f,
            &[
                0.0, 0.053254, 0.053254, 0.026627, 0.0, 0.026627, -0.176776, 0.176776, 0.038319, 0.038319, 0.176776,
                -0.176776,
            ],
            2e-6,
        );
        close(&w, &[0.0, -0.052182, 0.019160, 0.210870, 0.0, 0.157617, 0.030524, -0.034788, 0.0, 0.0, 0.0, 0.0], 2e-6);
        assert_eq!(w[9..], [0.0; 3]);
    }

    #[test]
    fn v1_properties() {
        let mean = |losses: Vec<f32>| losses.iter().sum::<f32>() / losses.len() as f32;
        let doubled_labels = [Y, Y].concat();
        let doubled = mean(losses(&[F, F].concat(), &doubled_labels, 0.5, Denominator::Multiset));
        close(&[doubled], &[1.505_180_41], 1e-6);
        close(&[mean(losses(&[F, F].concat(), &doubled_labels, 0.5, Denominator::Set))], &[0.523_705_75], 1e-6);
        let scaled = F.map(|row| row.map(|value| value * 7.0));
        close(&losses(&scaled, &Y, 0.5, Denominator::Multiset), &losses(&F, &Y, 0.5, Denominator::Multiset), 3e-6);
        let order = [2, 0, 3, 1];
        let (shuffled, labels) = (order.map(|i| F[i]), order.map(|i| Y[i]));
        let permuted = losses(&shuffled, &labels, 0.5, Denominator::Multiset);
        close(&permuted, &order.map(|i| losses(&F, &Y, 0.5, Denominator::Multiset)[i]), 1e-6);
        let one_class = losses(&F, &[Class(1); 4], 0.5, Denominator::Multiset);
        close(&one_class, &[4f32.ln(); 4], 1e-6);
        close(&losses(&F, &[Class(1); 4], 0.5, Denominator::Set), &[0.0; 4], 1e-6);
    }

    #[test]
    fn a_zero_feature_has_a_finite_gradient() {
        let f = rows(&[[0.0; 3]]);
        let loss = cross_entropy(cosines(f.clone(), rows(&W)) / 0.09, &[Class(1)]).mean();
        let gradients = loss.backward();
        assert!(vector(f.grad(&gradients).unwrap()).iter().all(|value| value.is_finite()));
    }
}
