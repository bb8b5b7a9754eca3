//! Vision transformers against the definition, for every instruction set, number of threads and batch
//! size.

mod numbers;

use numbers::Numbers;
use rehearsal_kernels::{
    Algorithm, Isa, Machine, Pool, Shape,
    mobile::Folded,
    transformer::{BlockParameters, NormParameters, VisionTransformer},
};

struct Layer {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn new(numbers: &mut Numbers, cin: usize, cout: usize) -> Self {
        Self { weights: numbers.take(cin * cout, 1.7 / (cin as f32).sqrt()), bias: numbers.take(cout, 0.5) }
    }

    fn folded(&self) -> Folded<'_> {
        Folded { weights: &self.weights, bias: &self.bias }
    }

    fn norm(&self) -> NormParameters<'_> {
        NormParameters { weight: &self.weights, bias: &self.bias, epsilon: 1e-6 }
    }

    fn defined(&self, from: &[f64]) -> Vec<f64> {
        let cout = self.bias.len();
        let sum =
            |co: usize| from.iter().enumerate().map(|(ci, x)| x * f64::from(self.weights[ci * cout + co])).sum::<f64>();
        (0..cout).map(|co| f64::from(self.bias[co]) + sum(co)).collect()
    }

    fn defined_norm(&self, from: &[f64]) -> Vec<f64> {
        let count = from.len() as f64;
        let mean = from.iter().sum::<f64>() / count;
        let variance = from.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
        let scaled = |i: usize| {
            (from[i] - mean) / (variance + 1e-6).sqrt() * f64::from(self.weights[i]) + f64::from(self.bias[i])
        };
        (0..from.len()).map(scaled).collect()
    }
}

/// A block: norm, qkv, project, norm, expand, contract.
struct Net {
    patch: usize,
    heads: usize,
    width: usize,
    patches: Layer,
    blocks: Vec<[Layer; 6]>,
    norm: Layer,
}

impl Net {
    fn new(patch: usize, heads: usize, width: usize, hidden: usize) -> Self {
        let numbers = &mut Numbers(11);
        let norm = |numbers: &mut Numbers| Layer {
            weights: numbers.take(width, 0.5).iter().map(|x| 1.0 + x).collect(),
            bias: numbers.take(width, 0.1),
        };
        let patches = Layer::new(numbers, patch * patch * 3, width);
        let block = |_| {
            [
                norm(numbers),
                Layer::new(numbers, width, 3 * width),
                Layer::new(numbers, width, width),
                norm(numbers),
                Layer::new(numbers, width, hidden),
                Layer::new(numbers, hidden, width),
            ]
        };
        let blocks = (0..2).map(block).collect();
        Self { patch, heads, width, patches, blocks, norm: norm(numbers) }
    }

    fn packed(&self, machine: &Machine) -> VisionTransformer {
        let blocks = self.blocks.iter().map(|[norm1, qkv, project, norm2, expand, contract]| BlockParameters {
            norm1: norm1.norm(),
            qkv: qkv.folded(),
            project: project.folded(),
            norm2: norm2.norm(),
            expand: expand.folded(),
            contract: contract.folded(),
        });
        let blocks: Vec<_> = blocks.collect();
        VisionTransformer::new(machine, self.patch, self.heads, self.patches.folded(), &blocks, self.norm.norm())
    }

    fn defined(&self, image: &[f32], h: usize, w: usize, start: &[f32]) -> Vec<f64> {
        let patch = self.patch;
        let mut tokens: Vec<Vec<f64>> =
            start.chunks_exact(self.width).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
        for (token, (y, x)) in (0..h / patch).flat_map(|y| (0..w / patch).map(move |x| (y, x))).enumerate() {
            let mut cut = Vec::new();
            for row in 0..patch {
                let at = ((y * patch + row) * w + x * patch) * 3;
                cut.extend(image[at..][..patch * 3].iter().map(|&x| f64::from(x)));
            }
            let embedded = self.patches.defined(&cut);
            tokens[token + 1].iter_mut().zip(embedded).for_each(|(to, from)| *to += from);
        }
        for [norm1, qkv, project, norm2, expand, contract] in &self.blocks {
            let qkv: Vec<Vec<f64>> = tokens.iter().map(|token| qkv.defined(&norm1.defined_norm(token))).collect();
            for (index, token) in tokens.iter_mut().enumerate() {
                let mixed = self.attended(&qkv, index);
                token.iter_mut().zip(project.defined(&mixed)).for_each(|(to, from)| *to += from);
            }
            for token in &mut tokens {
                let mut hidden = expand.defined(&norm2.defined_norm(token));
                hidden.iter_mut().for_each(|x| *x = gelu(*x));
                token.iter_mut().zip(contract.defined(&hidden)).for_each(|(to, from)| *to += from);
            }
        }
        self.norm.defined_norm(&tokens[0])
    }

    fn attended(&self, qkv: &[Vec<f64>], query: usize) -> Vec<f64> {
        let depth = self.width / self.heads;
        let mut mixed = Vec::new();
        for head in 0..self.heads {
            let part = |token: usize, part: usize| &qkv[token][part * self.width + head * depth..][..depth];
            let dot = |token: usize| part(query, 0).iter().zip(part(token, 1)).map(|(a, b)| a * b).sum::<f64>();
            let weights: Vec<f64> = (0..qkv.len()).map(|token| (dot(token) / (depth as f64).sqrt()).exp()).collect();
            let total: f64 = weights.iter().sum();
            mixed.extend((0..depth).map(|k| {
                weights.iter().enumerate().map(|(token, weight)| weight * part(token, 2)[k]).sum::<f64>() / total
            }));
        }
        mixed
    }
}

/// The exact GELU; erf by its series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    let erf = if z.abs() > 4.0 { z.signum() } else { sum * 2.0 / std::f64::consts::PI.sqrt() };
    x / 2.0 * (1.0 + erf)
}

#[test]
fn features_are_right_and_the_same_bits_for_every_machine_and_batch() {
    // Heads that fill registers and that do not; fewer tokens than a register, and more than a task's
    // rows.
    for (patch, heads, width, hidden, h, w) in [(4, 2, 32, 70, 40, 33), (2, 3, 33, 48, 20, 24), (5, 1, 20, 20, 5, 9)] {
        let net = Net::new(patch, heads, width, hidden);
        let tokens = 1 + (h / patch) * (w / patch);
        let (images, start) = (Numbers(3).take(5 * h * w * 3, 1.0), Numbers(5).take(tokens * width, 0.5));
        let each = h * w * 3;
        let expected: Vec<f64> = images.chunks_exact(each).flat_map(|image| net.defined(image, h, w, &start)).collect();
        for isa in Isa::available() {
            let mut first: Option<Vec<f32>> = None;
            for threads in [1, 2, 3] {
                let machine = Machine::with(Pool::new(threads), isa, Algorithm::Fastest);
                let packed = net.packed(&machine);
                let mut found = vec![0.0; 5 * packed.features()];
                packed.run(&machine, &images, Shape { n: 5, h, w, c: 3 }, &start, &mut found);
                for (found, expected) in found.iter().zip(&expected) {
                    let difference = (f64::from(*found) - expected).abs();
                    assert!(difference < 5e-5 * (1.0 + expected.abs()), "{found} for {expected}");
                }
                for (image, together) in images.chunks_exact(each).zip(found.chunks_exact(width)) {
                    let mut alone = vec![0.0; width];
                    packed.run(&machine, image, Shape { n: 1, h, w, c: 3 }, &start, &mut alone);
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
    let net = Net::new(4, 2, 32, 70);
    let machine = Machine::new(1);
    let packed = net.packed(&machine);
    let mut features = vec![0.0; 32];
    let refused = |images: usize, shape: Shape, start: usize, features: &mut [f32]| {
        let (images, start) = (vec![0.0; images], vec![0.0; start]);
        let run = || packed.run(&machine, &images, shape, &start, features);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
    };
    let shape = Shape { n: 1, h: 8, w: 8, c: 3 };
    assert!(!refused(192, shape, 5 * 32, &mut features));
    assert!(refused(191, shape, 5 * 32, &mut features));
    assert!(refused(192, shape, 4 * 32, &mut features));
    assert!(refused(192, shape, 5 * 32, &mut features[1..]));
    assert!(refused(64, Shape { c: 1, ..shape }, 5 * 32, &mut features));
    assert!(refused(72, Shape { h: 3, ..shape }, 32, &mut features), "not one patch");
    let refuses = |heads: usize| {
        let build = || VisionTransformer::new(&machine, 4, heads, net.patches.folded(), &[], net.norm.norm());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(build)).is_err()
    };
    assert!(!refuses(2) && refuses(3) && refuses(0));
}
