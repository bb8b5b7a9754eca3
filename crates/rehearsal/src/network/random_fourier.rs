//! Random Fourier features of pixels, as `RanDumb` has them: √2 cos(Wx + b), which nothing trains.
//!
//! The product of two images' features approximates a Gaussian kernel of their pixels (Rahimi and Recht). With
//! `method = "gaussian"` behind it, this is a classifier without any learned representation: what a continual learner
//! that learns one has to beat (Prabhu et al., `RanDumb`).

use std::f64::consts::{PI, SQRT_2};

use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};

use super::{
    backbone::Backbone,
    conv_norm::Norm,
    running::{Running, onto},
};
use crate::{device::upload, rng::Rng, sample::ImageShape};

/// The variance of pixels from 0 to 1 of which nothing is known. scikit-learn's `gamma="scale"` measures it on the data;
/// images that come one after another are not there to be measured.
const VARIANCE: f64 = 1.0 / 12.0;

/// √2 cos(Wx + b), with W from a normal distribution and b uniform.
#[derive(Module, Debug)]
pub struct RandomFourier {
    /// `[pixels, features]`, flat: kept with the network, and never trained.
    frequencies: Running,
    /// `[features]`.
    phases: Running,
}

impl RandomFourier {
    /// So many features of images of this shape.
    pub(super) fn new(input: ImageShape, features: usize, rng: &mut Rng, device: &Device) -> Self {
        let pixels = input.height * input.width * input.channels;
        // The kernel exp(−γ‖x − y‖²) with γ = 1 / (pixels · variance).
        let deviation = (2.0 / (pixels as f64 * VARIANCE)).sqrt();
        let frequencies = (0..pixels * features).map(|_| (deviation * normal(rng)) as f32).collect();
        let phases = (0..features).map(|_| rng.uniform(0.0, 2.0 * PI) as f32).collect();
        let kept = |values: Vec<f32>| {
            let size = values.len();
            Running::new(upload(TensorData::new(values, [size]), &device.clone().without_autodiff()))
        };
        Self { frequencies: kept(frequencies), phases: kept(phases) }
    }
}

impl Backbone for RandomFourier {
    fn features(&self, images: Tensor<4>, _: Norm) -> Tensor<2> {
        let pixels: Tensor<2> = images.flatten(1, 3);
        let size = [pixels.dims()[1], self.feature_size()];
        let frequencies = onto(&self.frequencies, &pixels).reshape(size);
        let phases = onto(&self.phases, &pixels).unsqueeze();
        (pixels.matmul(frequencies) + phases).cos() * SQRT_2
    }

    fn train_features(&mut self, images: Tensor<4>) -> Tensor<2> {
        self.features(images, Norm::Eval)
    }

    fn feature_size(&self) -> usize {
        self.phases.value().dims()[0]
    }
}

/// A number of the standard normal distribution, after Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let length = (-2.0 * libm::log(1.0 - rng.unit())).sqrt();
    length * libm::cos(2.0 * PI * rng.unit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::read, rng::RngStream};

    #[test]
    fn products_of_features_approximate_a_gaussian_kernel() {
        let shape = ImageShape { height: 2, width: 2, channels: 1 };
        let rng = &mut Rng::new(0, RngStream::Initialisation, &[]);
        let device = Device::flex();
        let backbone = RandomFourier::new(shape, 4096, rng, &device);
        let (one, other) = ([0.0, 0.5, 1.0, 0.2], [0.3, 0.1, 0.9, 0.6_f32]);
        let images = Tensor::<1>::from_data([one, other].concat().as_slice(), &device).reshape([2, 2, 2, 1]);
        let features = read(backbone.features(images, Norm::Eval));
        let (one_features, other_features) = features.split_at(4096);
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>() / 4096.0;
        let distance: f64 = one.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum();
        let kernel = (-distance / (4.0 * VARIANCE)).exp();
        // The deviation of a mean of 4,096 numbers between −2 and 2 is below 0.03.
        assert!((product(one_features, one_features) - 1.0).abs() < 0.1);
        assert!((product(one_features, other_features) - kernel).abs() < 0.1, "{kernel}");
        assert!(kernel > 0.1 && kernel < 0.9);
    }
}
