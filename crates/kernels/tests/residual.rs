//! Basic residual networks against the definition, for every instruction set, number of threads and
//! batch size.

#![allow(clippy::cast_possible_wrap, reason = "small test sizes")]

mod numbers;

use numbers::Numbers;
use rehearsal_kernels::{
    Algorithm, Isa, Machine, Pool, Shape,
    mobile::Folded,
    residual::{BasicBlock, ResidualNet},
};

struct Layer {
    kernel: usize,
    stride: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(numbers: &mut Numbers, kernel: usize, stride: usize, cin: usize, cout: usize) -> Self {
        let fan_in = kernel * kernel * cin;
        let weights = numbers.take(fan_in * cout, 1.7 / (fan_in as f32).sqrt());
        Self { kernel, stride, weights, bias: numbers.take(cout, 0.5) }
    }

    fn folded(&self) -> Folded<'_> {
        Folded { weights: &self.weights, bias: &self.bias }
    }
}

struct Block {
    first: Layer,
    second: Layer,
    shortcut: Option<Layer>,
}

struct Net {
    stem: Layer,
    blocks: Vec<Block>,
}

impl Net {
    /// Channels that fill registers, half registers and neither.
    fn new() -> Self {
        let numbers = &mut Numbers(7);
        let stem = Layer::new(numbers, 7, 2, 3, 13);
        let mut cin = 13;
        let blocks = [(1, 13), (2, 20), (1, 20), (2, 37), (1, 64)].map(|(stride, cout)| {
            let block = Block {
                first: Layer::new(numbers, 3, stride, cin, cout),
                second: Layer::new(numbers, 3, 1, cout, cout),
                shortcut: (stride == 2 || cin != cout).then(|| Layer::new(numbers, 1, stride, cin, cout)),
            };
            cin = cout;
            block
        });
        Self { stem, blocks: blocks.into() }
    }

    fn packed(&self, machine: &Machine) -> ResidualNet {
        let parameters = self.blocks.iter().map(|block| BasicBlock {
            stride: block.first.stride,
            first: block.first.folded(),
            second: block.second.folded(),
            shortcut: block.shortcut.as_ref().map(Layer::folded),
        });
        ResidualNet::new(machine, self.stem.folded(), &parameters.collect::<Vec<_>>())
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
    fn at(&self, y: isize, x: isize, c: usize) -> Option<f64> {
        let inside = y >= 0 && x >= 0 && (y as usize) < self.h && (x as usize) < self.w;
        inside.then(|| self.values[(y as usize * self.w + x as usize) * self.c + c])
    }

    /// A window of `kernel` pixels around each `stride`-th.
    fn swept(&self, kernel: usize, stride: usize, cout: usize, value: impl Fn(isize, isize, usize) -> f64) -> Self {
        let (h, w) = (self.h.div_ceil(stride), self.w.div_ceil(stride));
        let pad = (kernel / 2) as isize;
        let corner = |at: usize| (at * stride) as isize - pad;
        let pixels = (0..h).flat_map(|y| (0..w).map(move |x| (y, x)));
        let values = pixels.flat_map(|(y, x)| (0..cout).map(move |c| (y, x, c)));
        Self { h, w, c: cout, values: values.map(|(y, x, c)| value(corner(y), corner(x), c)).collect() }
    }

    fn convolved(&self, layer: &Layer) -> Self {
        let (k, cout) = (layer.kernel, layer.bias.len());
        self.swept(k, layer.stride, cout, |y, x, co| {
            let mut sum = f64::from(layer.bias[co]);
            for (ky, kx) in (0..k).flat_map(|ky| (0..k).map(move |kx| (ky, kx))) {
                for ci in 0..self.c {
                    let weight = layer.weights[((ky * k + kx) * self.c + ci) * cout + co];
                    sum += self.at(y + ky as isize, x + kx as isize, ci).unwrap_or(0.0) * f64::from(weight);
                }
            }
            sum
        })
    }

    fn pooled(&self) -> Self {
        self.swept(3, 2, self.c, |y, x, c| {
            let window = (0..3).flat_map(|ky| (0..3).map(move |kx| (y + ky, x + kx)));
            window.filter_map(|(y, x)| self.at(y, x, c)).fold(f64::NEG_INFINITY, f64::max)
        })
    }

    fn rectified(mut self) -> Self {
        self.values.iter_mut().for_each(|x| *x = x.max(0.0));
        self
    }
}

fn defined(net: &Net, image: &[f32], h: usize, w: usize) -> Vec<f64> {
    let image = Plane { h, w, c: 3, values: image.iter().map(|&x| f64::from(x)).collect() };
    let mut plane = image.convolved(&net.stem).rectified().pooled();
    for block in &net.blocks {
        let mut out = plane.convolved(&block.first).rectified().convolved(&block.second);
        let added = block.shortcut.as_ref().map_or_else(|| plane.clone(), |layer| plane.convolved(layer));
        out.values.iter_mut().zip(&added.values).for_each(|(to, from)| *to += from);
        plane = out.rectified();
    }
    let pixels = (plane.h * plane.w) as f64;
    (0..plane.c).map(|c| plane.values.iter().skip(c).step_by(plane.c).sum::<f64>() / pixels).collect()
}

#[test]
fn features_are_right_and_the_same_bits_for_every_machine_and_batch() {
    let net = Net::new();
    for (h, w, n) in [(33, 47, 9), (64, 64, 3), (4, 1, 2)] {
        let images = Numbers(3).take(n * h * w * 3, 1.0);
        let each = h * w * 3;
        let expected: Vec<f64> = images.chunks_exact(each).flat_map(|image| defined(&net, image, h, w)).collect();
        for isa in Isa::available() {
            let mut first: Option<Vec<f32>> = None;
            for threads in [1, 2, 3] {
                let machine = Machine::with(Pool::new(threads), isa, Algorithm::Fastest);
                let packed = net.packed(&machine);
                let mut found = vec![0.0; n * packed.features()];
                packed.run(&machine, &images, Shape { n, h, w, c: 3 }, &mut found);
                for (found, expected) in found.iter().zip(&expected) {
                    let difference = (f64::from(*found) - expected).abs();
                    assert!(difference < 5e-5 * (1.0 + expected.abs()), "{found} for {expected}");
                }
                for (image, together) in images.chunks_exact(each).zip(found.chunks_exact(packed.features())) {
                    let mut alone = vec![0.0; packed.features()];
                    packed.run(&machine, image, Shape { n: 1, h, w, c: 3 }, &mut alone);
                    assert_eq!(alone, together, "alone and in a batch, {}, {threads} threads", isa.name());
                }
                let first = first.get_or_insert_with(|| found.clone());
                assert_eq!(*first, found, "{} on {threads} threads", isa.name());
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
    assert!(refused(0, Shape { n: 0, ..shape }, &mut features));
    let refuses = |block: &BasicBlock<'_>| {
        let build = || ResidualNet::new(&machine, net.stem.folded(), std::slice::from_ref(block));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(build)).is_err()
    };
    let [first, second] = [&net.blocks[1].first, &net.blocks[1].second].map(Layer::folded);
    let shortcut = net.blocks[1].shortcut.as_ref().map(Layer::folded);
    let good = BasicBlock { stride: 2, first, second, shortcut };
    assert!(!refuses(&good));
    assert!(refuses(&BasicBlock { stride: 3, ..good }));
    assert!(refuses(&BasicBlock { shortcut: None, ..good }), "another shape than the output");
    assert!(refuses(&BasicBlock { second: first, ..good }));
}
