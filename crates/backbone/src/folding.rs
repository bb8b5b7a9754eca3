//! Weights as kernels read them: a norm folded into the convolution before it, and the other order of
//! dimensions.

use rehearsal_kernels::mobile::Folded;

use crate::{BackboneError, weights::Weights};

/// Weights `[…, cout]` of a layer, and its bias.
pub(crate) struct Layer {
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
}

impl Layer {
    pub fn folded(&self) -> Folded<'_> {
        Folded { weights: &self.weights, bias: &self.bias }
    }

    /// A layer that is in the file as it is computed.
    pub fn stored(from: &Weights<'_>, name: &str, shape: &[usize], cout: usize) -> Result<Self, BackboneError> {
        Ok(Self {
            weights: from.tensor(&format!("{name}.weight"), shape)?,
            bias: from.tensor(&format!("{name}.bias"), &[cout])?,
        })
    }

    /// A convolution `[cout, cin, kernel, kernel]` without bias, and the `BatchNorm` that follows it.
    pub fn convolution(
        from: &Weights<'_>,
        [conv, norm]: [&str; 2],
        [cout, cin, kernel]: [usize; 3],
        epsilon: f64,
    ) -> Result<Self, BackboneError> {
        let weights = from.tensor(&format!("{conv}.weight"), &[cout, cin, kernel, kernel])?;
        let part = |part: &str| from.tensor(&format!("{norm}.{part}"), &[cout]);
        let (gamma, beta, mean, variance) =
            (part("weight")?, part("bias")?, part("running_mean")?, part("running_var")?);
        let scale = |c: usize| f64::from(gamma[c]) / (f64::from(variance[c]) + epsilon).sqrt();
        let scales: Vec<f64> = (0..cout).map(scale).collect();
        let bias = (0..cout).map(|c| (f64::from(beta[c]) - f64::from(mean[c]) * scales[c]) as f32).collect();
        let weights = reordered(&weights, [cout, cin, kernel], |c, value| (f64::from(value) * scales[c]) as f32);
        Self { weights, bias }.finite(norm)
    }

    /// A convolution `[cout, cin, kernel, kernel]` with a bias.
    pub fn patches(from: &Weights<'_>, name: &str, sizes: [usize; 3]) -> Result<Self, BackboneError> {
        let [cout, cin, kernel] = sizes;
        let weights = from.tensor(&format!("{name}.weight"), &[cout, cin, kernel, kernel])?;
        let bias = from.tensor(&format!("{name}.bias"), &[cout])?;
        Ok(Self { weights: reordered(&weights, sizes, |_, value| value), bias })
    }

    /// A linear layer `[cout, cin]`, each output times its scale.
    pub fn linear(
        from: &Weights<'_>,
        name: &str,
        [cout, cin]: [usize; 2],
        scale: Option<&[f32]>,
    ) -> Result<Self, BackboneError> {
        let weights = from.tensor(&format!("{name}.weight"), &[cout, cin])?;
        let mut bias = from.tensor(&format!("{name}.bias"), &[cout])?;
        let scale = |c: usize| scale.map_or(1.0, |scale| scale[c]);
        bias.iter_mut().enumerate().for_each(|(c, bias)| *bias *= scale(c));
        let weights = reordered(&weights, [cout, cin, 1], |c, value| value * scale(c));
        Self { weights, bias }.finite(name)
    }

    /// A norm of a tiny variance may give what no float holds.
    fn finite(self, name: &str) -> Result<Self, BackboneError> {
        let finite = self.weights.iter().chain(&self.bias).all(|value| value.is_finite());
        if finite { Ok(self) } else { Err(BackboneError::NotFinite(name.to_owned())) }
    }
}

/// From `[cout, cin, kernel, kernel]` to `[kernel, kernel, cin, cout]`, each value changed.
fn reordered(from: &[f32], [cout, cin, kernel]: [usize; 3], value: impl Fn(usize, f32) -> f32) -> Vec<f32> {
    let mut to = vec![0.0; from.len()];
    let taps = kernel * kernel;
    for (co, filter) in from.chunks_exact(cin * taps).enumerate() {
        for (ci, plane) in filter.chunks_exact(taps).enumerate() {
            for (tap, &from) in plane.iter().enumerate() {
                to[(tap * cin + ci) * cout + co] = value(co, from);
            }
        }
    }
    to
}
