//! Convolution, batch normalisation, residual and ReLU as one module with one forward pass.
//!
//! Composed of Burn's operations, so it runs on every device. Activations are `[n, h, w, c]` and
//! weights `[k, k, in, out]`.

use burn::{
    backend::DispatchTensor,
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::relu, module::conv2d, ops::ConvOptions},
};

use rehearsal_kernels::{Convolution, Statistics};

use super::{
    running::{Running, onto},
    xavier,
};
use crate::{
    device::{read, upload},
    rng::Rng,
};

const EPSILON: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

/// What normalises the activations of a pass that moves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Mean and variance of the batch.
    Batch,
    /// The batch is this number of batches of equal size, one after another: each is normalised by
    /// its own mean and variance, as in [`Norm::Batch`].
    Batches(usize),
    /// The running mean and variance.
    Eval,
}

/// Mean and biased variance of every channel over one batch, and how many values each was taken from.
#[derive(Clone, Debug)]
pub struct Moments {
    mean: Tensor<1>,
    variance: Tensor<1>,
    count: usize,
}

impl Moments {
    pub(super) fn new(mean: Vec<f32>, variance: Vec<f32>, count: usize, device: &Device) -> Self {
        let vector = |values: Vec<f32>| {
            let size = values.len();
            upload(TensorData::new(values, [size]), device)
        };
        Self { mean: vector(mean), variance: vector(variance), count }
    }
}

/// `relu?(norm(conv(x)) + residual?)`.
#[derive(Module, Debug)]
pub struct ConvNorm {
    weight: Param<Tensor<4>>,
    scale: Param<Tensor<1>>,
    shift: Param<Tensor<1>>,
    running_mean: Running,
    running_variance: Running,
    stride: usize,
}

/// What follows the normalisation.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it lives for one call")]
pub enum Then {
    /// Nothing (a shortcut).
    Nothing,
    /// ReLU.
    Relu,
    /// ReLU of the sum with a residual `[n, h, w, c]`.
    AddRelu(Tensor<4>),
}

impl ConvNorm {
    /// A convolution without bias, padded to keep the size at stride 1.
    pub fn new(conv: Convolution, rng: &mut Rng, device: &Device) -> Self {
        let Convolution { kernel, stride, cin: from, cout: to } = conv;
        let area = kernel * kernel;
        Self {
            weight: Param::from_tensor(xavier([kernel, kernel, from, to], (from + to) * area, rng, device)),
            scale: Param::from_tensor(Tensor::ones([to], device)),
            shift: Param::from_tensor(Tensor::zeros([to], device)),
            running_mean: Running::new(Tensor::zeros([to], &device.clone().without_autodiff())),
            running_variance: Running::new(Tensor::ones([to], &device.clone().without_autodiff())),
            stride,
        }
    }

    /// `[n, h, w, in]` to `[n, ⌈h/stride⌉, ⌈w/stride⌉, out]`, with the batch's moments where they normalised it.
    pub fn forward(&self, x: Tensor<4>, norm: Norm, then: Then) -> (Tensor<4>, Option<Moments>) {
        let convolved = self.convolve(x);
        let [n, h, w, c] = convolved.dims();
        let flat = convolved.reshape([n * h * w, c]);
        let (normalised, moments) = match norm {
            Norm::Batch => self.normalise_by_batch(flat),
            Norm::Batches(batches) => (self.normalise_by_batches(flat, batches), None),
            Norm::Eval => (self.normalise_by_running(flat), None),
        };
        let normalised = normalised.reshape([n, h, w, c]);
        let y = match then {
            Then::Nothing => normalised,
            Then::Relu => relu(normalised),
            Then::AddRelu(residual) => relu(normalised + residual),
        };
        (y, moments)
    }

    /// Burn convolves channels first. A convolution of single pixels is a product of matrices, and several times faster as one.
    fn convolve(&self, x: Tensor<4>) -> Tensor<4> {
        let [kernel, _, from, to] = self.weight.dims();
        if kernel == 1 && self.stride == 1 {
            let [n, h, w, _] = x.dims();
            return x.reshape([n * h * w, from]).matmul(self.weight.val().reshape([from, to])).reshape([n, h, w, to]);
        }
        let weight = self.weight.val().permute([3, 2, 0, 1]);
        let padding = weight.dims()[2] / 2;
        let options = ConvOptions::new([self.stride; 2], [padding; 2], [1, 1], 1);
        conv2d(x.permute([0, 3, 1, 2]), weight, None, options).permute([0, 2, 3, 1])
    }

    fn normalise_by_batch(&self, x: Tensor<2>) -> (Tensor<2>, Option<Moments>) {
        let count = x.dims()[0];
        let mean = x.clone().mean_dim(0);
        let centred = x - mean.clone();
        let variance = centred.clone().square().mean_dim(0);
        let scale = self.scale.val().unsqueeze() * (variance.clone() + EPSILON).sqrt().recip();
        let normalised = centred * scale + self.shift.val().unsqueeze();
        let vector = |row: Tensor<2>| row.without_autodiff().squeeze_dim(0);
        (normalised, Some(Moments { mean: vector(mean), variance: vector(variance), count }))
    }

    fn normalise_by_batches(&self, x: Tensor<2>, batches: usize) -> Tensor<2> {
        let [count, channels] = x.dims();
        let x = x.reshape([batches, count / batches, channels]);
        let centred = x.clone() - x.mean_dim(1);
        let variance = centred.clone().square().mean_dim(1);
        let scale = self.scale.val().unsqueeze() * (variance + EPSILON).sqrt().recip();
        (centred * scale + self.shift.val().unsqueeze()).reshape([count, channels])
    }

    fn normalise_by_running(&self, x: Tensor<2>) -> Tensor<2> {
        let scale = self.scale.val() * (onto(&self.running_variance, &x) + EPSILON).sqrt().recip();
        let shift = self.shift.val() - onto(&self.running_mean, &x) * scale.clone();
        x * scale.unsqueeze() + shift.unsqueeze()
    }

    /// Moves the running statistics towards a batch's: momentum 0.1, and the unbiased variance.
    pub fn absorb(&mut self, moments: Moments) {
        let Moments { mean, variance, count } = moments;
        let unbiased = variance * (count as f64 / (count.max(2) - 1) as f64);
        let moved = |running: &Running, batch: Tensor<1>| running.value().clone() * (1.0 - MOMENTUM) + batch * MOMENTUM;
        self.running_mean.set(moved(&self.running_mean, mean));
        self.running_variance.set(moved(&self.running_variance, unbiased));
    }

    /// Weight, scale and shift, for an operation of a backend.
    pub(super) fn parameters(&self) -> [DispatchTensor; 3] {
        [self.weight.val().into_dispatch(), self.scale.val().into_dispatch(), self.shift.val().into_dispatch()]
    }

    /// The running statistics, on the host.
    pub(super) fn running(&self) -> Statistics {
        let values = |running: &Running| read(running.value().clone());
        Statistics { mean: values(&self.running_mean), variance: values(&self.running_variance) }
    }

    /// Its convolution, for a plan.
    pub fn convolution(&self) -> Convolution {
        let [kernel, _, cin, cout] = self.weight.dims();
        Convolution { kernel, stride: self.stride, cin, cout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStream;

    fn layer(kernel: usize, stride: usize, [cin, cout]: [usize; 2], device: &Device) -> ConvNorm {
        let conv = Convolution { kernel, stride, cin, cout };
        ConvNorm::new(conv, &mut Rng::new(0, RngStream::Initialisation, &[]), device)
    }

    fn identity(device: &Device) -> ConvNorm {
        let mut layer = layer(1, 1, [1, 1], device);
        layer.weight = Param::from_tensor(Tensor::ones([1, 1, 1, 1], device));
        layer
    }

    fn running(layer: &ConvNorm) -> [f32; 2] {
        [&layer.running_mean, &layer.running_variance].map(|statistic| statistic.value().clone().into_scalar())
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "what does not move stays the same bit for bit")]
    fn v14_batch_norm_normalises_by_the_biased_and_remembers_the_unbiased_variance() {
        let device = Device::flex();
        let mut layer = identity(&device);
        let x = Tensor::<1>::from_data([1.0f32, 2.0, 4.0, 7.0], &device).reshape([1, 2, 2, 1]);
        let (y, moments) = layer.forward(x.clone(), Norm::Batch, Then::Nothing);
        let close = |found: Vec<f32>, expected: &[f32]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
        };
        close(y.into_data().try_to_vec().unwrap(), &[-1.091_088_4, -0.654_653_05, 0.218_217_68, 1.527_523_8]);
        assert_eq!(running(&layer), [0.0, 1.0], "a batch-mode pass moves nothing");
        layer.absorb(moments.unwrap());
        close(running(&layer).to_vec(), &[0.35, 1.6]);
        let (y, none) = layer.forward(x, Norm::Eval, Then::Nothing);
        assert!(none.is_none());
        let deviation = 1.600_01f32.sqrt();
        close(y.into_data().try_to_vec().unwrap(), &[1.0, 2.0, 4.0, 7.0].map(|x| (x - 0.35) / deviation));
    }

    #[test]
    fn a_convolution_of_single_pixels_is_the_product_with_its_matrix() {
        let device = Device::flex();
        let mut layer = layer(1, 1, [2, 3], &device);
        let weight = Tensor::<1>::from_data([1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], &device);
        layer.weight = Param::from_tensor(weight.reshape([1, 1, 2, 3]));
        let x = Tensor::<1>::from_data([1.0f32, 0.0, 0.0, 1.0], &device).reshape([1, 1, 2, 2]);
        let y = layer.convolve(x);
        assert_eq!(y.dims(), [1, 1, 2, 3]);
        assert_eq!(y.into_data().try_to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    }

    /// Output channel k takes k + 1 times input channel 1, so that every axis shows in the values.
    #[test]
    fn strides_round_up_and_axes_stay_in_place() {
        let device = Device::flex();
        let mut layer = layer(1, 2, [2, 7], &device);
        let weight: Vec<f32> = (0..14).map(|i| if i < 7 { 0.0 } else { i as f32 - 6.0 }).collect();
        layer.weight = Param::from_tensor(Tensor::from_data(TensorData::new(weight, [1, 1, 2, 7]), &device));
        let value = |[n, h, w, c]: [usize; 4]| (n * 1000 + h * 100 + w * 10 + c) as f32;
        let [count, height, width] = [3, 7, 9];
        let indices = |[n, h, w, c]: [usize; 4]| {
            (0..n * h * w * c).map(move |i| [i / (h * w * c), i / (w * c) % h, i / c % w, i % c])
        };
        let x: Vec<f32> = indices([count, height, width, 2]).map(value).collect();
        let x = Tensor::from_data(TensorData::new(x, [count, height, width, 2]), &device);
        let (y, _) = layer.forward(x, Norm::Eval, Then::Relu);
        assert_eq!(y.dims(), [3, 4, 5, 7]);
        let found: Vec<f32> = y.into_data().try_to_vec().unwrap();
        for (found, [n, h, w, k]) in found.into_iter().zip(indices([3, 4, 5, 7])) {
            let expected = (k + 1) as f32 * value([n, 2 * h, 2 * w, 1]);
            assert!((found - expected).abs() <= 1e-4 * expected, "{found}, expected {expected} at {:?}", [n, h, w, k]);
        }
    }
}
