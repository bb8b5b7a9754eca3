//! The networks in f64, slow and simple: the reference for every kernel.
#![allow(dead_code, reason = "every test file uses its own part")]

use rehearsal_kernels::{Architecture, Block, Convolution, Layer, LayerParameters, Shape};

/// A small deterministic generator (xorshift64*), uniform in −1..1.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40;
        bits as f32 / (1u32 << 23) as f32 - 1.0
    }

    pub fn vec(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.next()).collect()
    }
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

/// ‖a − b‖ / ‖b‖.
pub fn distance(a: &[f32], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: f64 = a.iter().zip(b).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum();
    let size: f64 = b.iter().map(|b| b * b).sum();
    (difference / size.max(1e-30)).sqrt()
}

/// Calls `f(input index, weight index, output index)` for every product of a convolution.
pub fn products(conv: Convolution, input: Shape, mut f: impl FnMut(usize, usize, usize)) {
    let Convolution { kernel, stride, cin, cout } = conv;
    let out = conv.output(input);
    for n in 0..input.n {
        for (oy, ox) in (0..out.h).flat_map(|y| (0..out.w).map(move |x| (y, x))) {
            for (ky, kx) in (0..kernel).flat_map(|y| (0..kernel).map(move |x| (y, x))) {
                let (iy, ix) = (oy * stride + ky, ox * stride + kx);
                let pad = kernel / 2;
                if iy < pad || ix < pad || iy - pad >= input.h || ix - pad >= input.w {
                    continue;
                }
                let pixel = ((n * input.h + iy - pad) * input.w + ix - pad) * cin;
                let output = ((n * out.h + oy) * out.w + ox) * cout;
                for ci in 0..cin {
                    for co in 0..cout {
                        f(pixel + ci, ((ky * kernel + kx) * cin + ci) * cout + co, output + co);
                    }
                }
            }
        }
    }
}

pub fn conv(conv: Convolution, input: Shape, x: &[f64], w: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; conv.output(input).len()];
    products(conv, input, |i, k, o| y[o] += x[i] * w[k]);
    y
}

pub fn conv_input_gradient(conv: Convolution, input: Shape, g: &[f64], w: &[f64]) -> Vec<f64> {
    let mut dx = vec![0.0; input.len()];
    products(conv, input, |i, k, o| dx[i] += g[o] * w[k]);
    dx
}

pub fn conv_weight_gradient(conv: Convolution, input: Shape, x: &[f64], g: &[f64]) -> Vec<f64> {
    let mut dw = vec![0.0; conv.weights()];
    products(conv, input, |i, k, o| dw[k] += x[i] * g[o]);
    dw
}

/// Parameters of all layers, owned.
pub struct Parameters {
    pub layers: Vec<[Vec<f32>; 3]>,
}

impl Parameters {
    pub fn random(architecture: Architecture, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let layer = |layer: &Layer| {
            let Convolution { kernel, cin, cout, .. } = layer.conv;
            let bound = (6.0 / ((cin + cout) * kernel * kernel) as f32).sqrt();
            let weight = noise.vec(layer.conv.weights()).iter().map(|x| x * bound).collect();
            let gamma = noise.vec(cout).iter().map(|x| 1.0 + 0.2 * x).collect();
            let beta = noise.vec(cout).iter().map(|x| 0.2 * x).collect();
            [weight, gamma, beta]
        };
        Self { layers: architecture.layers().0.iter().map(layer).collect() }
    }

    pub fn views(&self) -> Vec<LayerParameters<'_>> {
        self.layers.iter().map(|[weight, gamma, beta]| LayerParameters { weight, gamma, beta }).collect()
    }
}

/// One layer's norm in f64: what backward needs.
struct Normed {
    y: Vec<f64>,
    mean: Vec<f64>,
    inverse: Vec<f64>,
}

/// The network in f64, forward and backward, with batch statistics or (given) constants.
pub struct Reference {
    layers: Vec<Layer>,
    blocks: Vec<Block>,
    parameters: Vec<[Vec<f64>; 3]>,
    n: usize,
    running: Option<Vec<(Vec<f64>, Vec<f64>)>>,
}

pub struct ReferencePass {
    normed: Vec<Option<Normed>>,
    /// Input, then the activations of stem, block middles and block ends.
    activations: Vec<Vec<f64>>,
    pub features: Vec<f64>,
    pub statistics: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Reference {
    pub fn new(architecture: Architecture, parameters: &Parameters, n: usize) -> Self {
        let (layers, blocks) = architecture.layers();
        let parameters = parameters.layers.iter().map(|[w, g, b]| [wide(w), wide(g), wide(b)]).collect();
        Self { layers, blocks, parameters, n, running: None }
    }

    pub fn with_running(mut self, running: Vec<(Vec<f64>, Vec<f64>)>) -> Self {
        self.running = Some(running);
        self
    }

    fn input(&self, layer: usize) -> Shape {
        Shape { n: self.n, ..self.layers[layer].input }
    }

    fn conv_norm(&self, pass: &mut ReferencePass, layer: usize, from: usize) -> Vec<f64> {
        let [weight, gamma, beta] = &self.parameters[layer];
        let c = gamma.len();
        let y = conv(self.layers[layer].conv, self.input(layer), &pass.activations[from], weight);
        let (mut mean, mut variance) = (vec![0.0; c], vec![0.0; c]);
        let count = (y.len() / c) as f64;
        y.iter().enumerate().for_each(|(i, v)| mean[i % c] += v / count);
        y.iter().enumerate().for_each(|(i, v)| variance[i % c] += (v - mean[i % c]).powi(2) / count);
        if let Some(running) = &self.running {
            (mean, variance) = running[layer].clone();
        }
        let inverse: Vec<f64> = variance.iter().map(|v| 1.0 / (v + 1e-5).sqrt()).collect();
        let z = y.iter().enumerate().map(|(i, v)| (v - mean[i % c]) * inverse[i % c] * gamma[i % c] + beta[i % c]);
        let z = z.collect();
        pass.statistics[layer] = (mean.clone(), variance);
        pass.normed[layer] = Some(Normed { y, mean, inverse });
        z
    }

    pub fn forward(&self, x: &[f32]) -> ReferencePass {
        let count = self.layers.len();
        let mut pass = ReferencePass {
            normed: (0..count).map(|_| None).collect(),
            activations: vec![wide(x)],
            features: Vec::new(),
            statistics: vec![(Vec::new(), Vec::new()); count],
        };
        let relu = |z: Vec<f64>| z.into_iter().map(|v| v.max(0.0)).collect::<Vec<_>>();
        let z = self.conv_norm(&mut pass, 0, 0);
        pass.activations.push(relu(z));
        for (b, block) in self.blocks.iter().enumerate() {
            let before = 1 + 2 * b;
            let z = self.conv_norm(&mut pass, block.first, before);
            pass.activations.push(relu(z));
            let mut z = self.conv_norm(&mut pass, block.second, before + 1);
            let other = match block.shortcut {
                Some(layer) => self.conv_norm(&mut pass, layer, before),
                None => pass.activations[before].clone(),
            };
            z.iter_mut().zip(other).for_each(|(z, o)| *z += o);
            pass.activations.push(relu(z));
        }
        let shape = self.layers[count - 2].output;
        let shape = Shape { c: self.layers[count - 1].output.c, ..shape };
        let pixels = shape.h * shape.w;
        pass.features = vec![0.0; self.n * shape.c];
        for (i, v) in pass.activations[2 * self.blocks.len() + 1].iter().enumerate() {
            pass.features[i / (pixels * shape.c) * shape.c + i % shape.c] += v / pixels as f64;
        }
        pass
    }

    /// Gradients per layer: weight, gamma, beta.
    pub fn backward(&self, pass: &ReferencePass, grad: &[f32]) -> Vec<[Vec<f64>; 3]> {
        let mut out = vec![[const { Vec::new() }; 3]; self.layers.len()];
        let last = &pass.activations[2 * self.blocks.len() + 1];
        let c = grad.len() / self.n;
        let pixels = last.len() / grad.len();
        let mut g: Vec<f64> =
            (0..last.len()).map(|i| f64::from(grad[i / (pixels * c) * c + i % c]) / pixels as f64).collect();
        let mask = |g: &mut [f64], a: &[f64]| g.iter_mut().zip(a).for_each(|(g, a)| *g *= f64::from(*a > 0.0));
        for (b, block) in self.blocks.iter().enumerate().rev() {
            let before = 1 + 2 * b;
            mask(&mut g, &pass.activations[before + 2]);
            let mut middle = self.layer_backward(pass, block.second, before + 1, &g, &mut out);
            mask(&mut middle, &pass.activations[before + 1]);
            let mut dx = self.layer_backward(pass, block.first, before, &middle, &mut out);
            let other = match block.shortcut {
                Some(layer) => self.layer_backward(pass, layer, before, &g, &mut out),
                None => g,
            };
            dx.iter_mut().zip(other).for_each(|(a, b)| *a += b);
            g = dx;
        }
        mask(&mut g, &pass.activations[1]);
        self.layer_backward(pass, 0, 0, &g, &mut out);
        out
    }

    fn layer_backward(
        &self,
        pass: &ReferencePass,
        layer: usize,
        from: usize,
        g: &[f64],
        out: &mut [[Vec<f64>; 3]],
    ) -> Vec<f64> {
        let Normed { y, mean, inverse } = pass.normed[layer].as_ref().expect("a forward pass");
        let [weight, gamma, _] = &self.parameters[layer];
        let c = gamma.len();
        let count = (y.len() / c) as f64;
        let hat = |i: usize| (y[i] - mean[i % c]) * inverse[i % c];
        let (mut d_gamma, mut d_beta) = (vec![0.0; c], vec![0.0; c]);
        for (i, g) in g.iter().enumerate() {
            d_gamma[i % c] += g * hat(i);
            d_beta[i % c] += g;
        }
        let through = if self.running.is_some() { 0.0 } else { 1.0 / count };
        let dy: Vec<f64> = (0..y.len())
            .map(|i| gamma[i % c] * inverse[i % c] * (g[i] - through * (d_beta[i % c] + hat(i) * d_gamma[i % c])))
            .collect();
        let (conv, shape) = (self.layers[layer].conv, self.input(layer));
        let d_weight = conv_weight_gradient(conv, shape, &pass.activations[from], &dy);
        out[layer] = [d_weight, d_gamma, d_beta];
        conv_input_gradient(conv, shape, &dy, weight)
    }
}
