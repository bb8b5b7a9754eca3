//! Inverted residual networks against the definition, for every instruction set, number of threads
//! and batch size.

#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "small test sizes")]

mod numbers;

use numbers::Numbers;
use rehearsal_kernels::{
    Algorithm, Isa, Machine, Pool, Shape,
    mobile::{BlockParameters, Folded, MobileNet},
};

struct Layer {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(numbers: &mut Numbers, fan_in: usize, cout: usize) -> Self {
        Self { weights: numbers.take(fan_in * cout, 1.7 / (fan_in as f32).sqrt()), bias: numbers.take(cout, 0.5) }
    }

    fn folded(&self) -> Folded<'_> {
        Folded { weights: &self.weights, bias: &self.bias }
    }
}

struct Block {
    kernel: usize,
    stride: usize,
    expand: Option<Layer>,
    depthwise: Layer,
    project: Layer,
}

struct Net {
    stem: Layer,
    blocks: Vec<Block>,
    head: Layer,
}

impl Net {
    /// Channels that fill registers, half registers and neither.
    fn new() -> Self {
        let numbers = &mut Numbers(7);
        let stem = Layer::new(numbers, 27, 13);
        let mut cin = 13;
        let mut block = |kernel: usize, stride: usize, expanded: usize, cout: usize| {
            let expand = (expanded != cin).then(|| Layer::new(numbers, cin, expanded));
            let depthwise =
                Layer { weights: numbers.take(kernel * kernel * expanded, 0.6), bias: numbers.take(expanded, 0.5) };
            let project = Layer::new(numbers, expanded, cout);
            cin = cout;
            Block { kernel, stride, expand, depthwise, project }
        };
        let blocks = vec![
            block(3, 1, 13, 8),
            block(3, 2, 48, 24),
            block(5, 1, 100, 24),
            block(5, 2, 150, 21),
            block(3, 1, 33, 21),
        ];
        Self { stem, blocks, head: Layer::new(numbers, 21, 70) }
    }

    fn packed(&self, machine: &Machine) -> MobileNet {
        let parameters: Vec<BlockParameters<'_>> = self
            .blocks
            .iter()
            .map(|block| BlockParameters {
                kernel: block.kernel,
                stride: block.stride,
                expand: block.expand.as_ref().map(Layer::folded),
                depthwise: block.depthwise.folded(),
                project: block.project.folded(),
            })
            .collect();
        MobileNet::new(machine, self.stem.folded(), &parameters, self.head.folded())
    }
}

/// `[h, w, c]` in double precision.
#[derive(Clone)]
struct Plane {
    h: usize,
    w: usize,
    c: usize,
    values: Vec<f64>,
}

impl Plane {
    fn at(&self, y: isize, x: isize, c: usize) -> f64 {
        let inside = y >= 0 && x >= 0 && (y as usize) < self.h && (x as usize) < self.w;
        if inside { self.values[(y as usize * self.w + x as usize) * self.c + c] } else { 0.0 }
    }

    /// By the definition: padding as TensorFlow's "SAME"; `weight(ky, kx, ci, co)`.
    fn convolved(
        &self,
        kernel: usize,
        stride: usize,
        cout: usize,
        depthwise: bool,
        layer: &Layer,
        activation: impl Fn(f64) -> f64,
    ) -> Self {
        let (h, w) = (self.h.div_ceil(stride), self.w.div_ceil(stride));
        let pad = |size: usize, out: usize| (((out - 1) * stride + kernel).saturating_sub(size) / 2) as isize;
        let (top, left) = (pad(self.h, h), pad(self.w, w));
        let mut values = Vec::with_capacity(h * w * cout);
        for y in 0..h {
            for x in 0..w {
                for co in 0..cout {
                    let mut sum = f64::from(layer.bias[co]);
                    for ky in 0..kernel {
                        for kx in 0..kernel {
                            let (iy, ix) = ((y * stride + ky) as isize - top, (x * stride + kx) as isize - left);
                            if depthwise {
                                let weight = layer.weights[(ky * kernel + kx) * cout + co];
                                sum += self.at(iy, ix, co) * f64::from(weight);
                            } else {
                                for ci in 0..self.c {
                                    let weight = layer.weights[((ky * kernel + kx) * self.c + ci) * cout + co];
                                    sum += self.at(iy, ix, ci) * f64::from(weight);
                                }
                            }
                        }
                    }
                    values.push(activation(sum));
                }
            }
        }
        Self { h, w, c: cout, values }
    }
}

fn defined(net: &Net, image: &[f32], h: usize, w: usize) -> Vec<f64> {
    let relu6 = |x: f64| x.clamp(0.0, 6.0);
    let image = Plane { h, w, c: 3, values: image.iter().map(|&x| f64::from(x)).collect() };
    let mut plane = image.convolved(3, 2, net.stem.bias.len(), false, &net.stem, relu6);
    for block in &net.blocks {
        let expanded = match &block.expand {
            Some(layer) => plane.convolved(1, 1, layer.bias.len(), false, layer, relu6),
            None => plane.clone(),
        };
        let middle = expanded.convolved(block.kernel, block.stride, expanded.c, true, &block.depthwise, relu6);
        let mut out = middle.convolved(1, 1, block.project.bias.len(), false, &block.project, |x| x);
        if block.stride == 1 && out.c == plane.c {
            out.values.iter_mut().zip(&plane.values).for_each(|(to, from)| *to += from);
        }
        plane = out;
    }
    let last = plane.convolved(1, 1, net.head.bias.len(), false, &net.head, relu6);
    let pixels = (last.h * last.w) as f64;
    (0..last.c).map(|c| last.values.iter().skip(c).step_by(last.c).sum::<f64>() / pixels).collect()
}

#[test]
fn features_are_right_and_the_same_bits_for_every_machine_and_batch() {
    let net = Net::new();
    for (h, w) in [(33, 47), (64, 64), (4, 1), (150, 90)] {
        let images = Numbers(3).take(5 * h * w * 3, 1.0);
        let each = h * w * 3;
        let expected: Vec<f64> = images.chunks_exact(each).flat_map(|image| defined(&net, image, h, w)).collect();
        let mut fused: Option<Vec<f32>> = None;
        for isa in Isa::available() {
            for threads in [1, 2, 3] {
                let machine = Machine::with(Pool::new(threads), isa, Algorithm::Fastest);
                let packed = net.packed(&machine);
                let mut found = vec![0.0; 5 * packed.features()];
                packed.run(&machine, &images, Shape { n: 5, h, w, c: 3 }, &mut found);
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (f64::from(*found) - expected).abs() < 2e-5 * (1.0 + expected.abs()),
                        "{found} for {expected}"
                    );
                }
                for (image, together) in images.chunks_exact(each).zip(found.chunks_exact(packed.features())) {
                    let mut alone = vec![0.0; packed.features()];
                    packed.run(&machine, image, Shape { n: 1, h, w, c: 3 }, &mut alone);
                    assert_eq!(alone, together, "alone and in a batch, {}, {threads} threads", isa.name());
                }
                if isa != Isa::portable() {
                    let first = fused.get_or_insert_with(|| found.clone());
                    assert_eq!(*first, found, "{} on {threads} threads", isa.name());
                }
            }
        }
    }
}

#[test]
fn arguments_that_do_not_fit_together_are_refused() {
    let net = Net::new();
    let machine = Machine::new(1);
    let packed = net.packed(&machine);
    let mut features = vec![0.0; packed.features()];
    let refused = |images: usize, shape: Shape, features: &mut [f32]| {
        let images = vec![0.0; images];
        let run = || packed.run(&machine, &images, shape, features);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
    };
    let shape = Shape { n: 1, h: 8, w: 8, c: 3 };
    assert!(!refused(192, shape, &mut features));
    assert!(refused(191, shape, &mut features));
    assert!(refused(192, shape, &mut features[1..]));
    assert!(refused(64, Shape { c: 1, ..shape }, &mut features));
    assert!(refused(0, Shape { h: 0, ..shape }, &mut features));
    let short = Folded { weights: &net.stem.weights[1..], bias: &net.stem.bias };
    let build = || MobileNet::new(&machine, short, &[], net.head.folded());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(build)).is_err());
}
