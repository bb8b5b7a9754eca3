//! Every convolution kernel, on every instruction set of this machine, against a direct convolution
//! in f64, on random shapes.

mod support;

use proptest::prelude::*;
use rehearsal_kernels::convolution::{PackedForward, PackedInputGradient, weight_gradient};
use rehearsal_kernels::{Algorithm, Convolution, Image, Isa, Layout, Machine, Pool, Shape, Sums};
use support::{Noise, conv_input_gradient, conv_weight_gradient, distance, wide};

/// A layer with random contents and its expected results.
struct Case {
    conv: Convolution,
    input: Shape,
    x: Vec<f32>,
    w: Vec<f32>,
    g: Vec<f32>,
}

/// Relative distances: forward, input gradient, weight gradient.
type Errors = [f64; 3];

impl Case {
    fn new(conv: Convolution, input: Shape, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let [x, w, g] = [input.len(), conv.weights(), conv.output(input).len()].map(|len| noise.vec(len));
        Self { conv, input, x, w, g }
    }

    fn errors(&self, machine: &Machine) -> Errors {
        let Self { conv, input, x, w, g } = self;
        let output = conv.output(*input);
        let (wide_x, wide_w, wide_g) = (wide(x), wide(w), wide(g));
        let bordered_x = Image::bordered_from(*input, x);
        let bordered_g = Image::bordered_from(output, g);

        let mut y = Image::new(Layout::plain(output));
        let mut moments = Sums::default();
        let expected = support::conv(*conv, *input, &wide_x, &wide_w);
        PackedForward::new(machine, *conv, w).run(machine, &bordered_x, &mut y, Some(&mut moments));
        check_moments(&moments, &expected);
        let forward = distance(&y.to_dense(), &expected);

        // The result is added to the present values.
        let before = vec![0.5; input.len()];
        let mut dx = Image::plain_from(*input, &before);
        PackedInputGradient::new(machine, *conv, w).add(machine, &bordered_g, &mut dx);
        let expected: Vec<f64> = conv_input_gradient(*conv, *input, &wide_g, &wide_w).iter().map(|x| x + 0.5).collect();
        let input_gradient = distance(&dx.to_dense(), &expected);

        let mut dw = vec![0.0; conv.weights()];
        weight_gradient(machine, *conv, &bordered_x, &bordered_g, &mut dw);
        let weight = distance(&dw, &conv_weight_gradient(*conv, *input, &wide_x, &wide_g));
        [forward, input_gradient, weight]
    }
}

fn check_moments(moments: &Sums<2>, y: &[f64]) {
    let totals = moments.totals();
    let c = totals.len();
    let size: f64 = y.iter().map(|y| y * y).sum::<f64>() / c as f64;
    for (channel, [sum, squares]) in totals.into_iter().enumerate() {
        let values = || y.iter().skip(channel).step_by(c);
        let (expected, expected_squares) = (values().sum::<f64>(), values().map(|y| y * y).sum::<f64>());
        assert!((sum - expected).abs() < 1e-4 * (size * (y.len() / c) as f64).sqrt().max(1.0), "{sum} {expected}");
        assert!((squares - expected_squares).abs() < 1e-4 * size.max(1.0), "{squares} {expected_squares}");
    }
}

fn machine(isa: Isa, algorithm: Algorithm) -> Machine {
    Machine::with(Pool::new(2), isa, algorithm)
}

fn kinds() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![Just((3, 1)), Just((3, 2)), Just((1, 2)), Just((1, 1))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_path_agrees_with_the_definition(
        (kernel, stride) in kinds(),
        cin in 1usize..45,
        cout in 1usize..45,
        n in 1usize..4,
        (h, w) in (1usize..20, 1usize..20),
        seed: u64,
    ) {
        let conv = Convolution { kernel, stride, cin, cout };
        let case = Case::new(conv, Shape { n, h, w, c: cin }, seed);
        for isa in Isa::available() {
            for (algorithm, bound) in [(Algorithm::Direct, 2e-6), (Algorithm::Fastest, 2e-5)] {
                let errors = case.errors(&machine(isa, algorithm));
                prop_assert!(errors.iter().all(|&e| e < bound), "{} {algorithm:?}: {errors:?}", isa.name());
            }
        }
    }
}

/// The sizes of the network, which run other loops than small ones: many chunks of tiles, parts, blocks
/// of channels.
#[test]
fn large_layers_agree_with_the_definition() {
    for (conv, input) in [
        (Convolution { kernel: 3, stride: 1, cin: 20, cout: 20 }, Shape { n: 5, h: 32, w: 32, c: 20 }),
        (Convolution { kernel: 3, stride: 1, cin: 40, cout: 40 }, Shape { n: 21, h: 15, w: 13, c: 40 }),
        (Convolution { kernel: 3, stride: 1, cin: 160, cout: 160 }, Shape { n: 3, h: 4, w: 4, c: 160 }),
        (Convolution { kernel: 3, stride: 1, cin: 256, cout: 136 }, Shape { n: 2, h: 8, w: 7, c: 256 }),
        (Convolution { kernel: 3, stride: 2, cin: 80, cout: 160 }, Shape { n: 4, h: 8, w: 9, c: 80 }),
        (Convolution { kernel: 1, stride: 2, cin: 80, cout: 160 }, Shape { n: 4, h: 9, w: 8, c: 80 }),
    ] {
        let case = Case::new(conv, input, 11);
        for isa in Isa::available() {
            let direct = case.errors(&machine(isa, Algorithm::Direct));
            let fastest = case.errors(&machine(isa, Algorithm::Fastest));
            println!("{conv:?} {}: direct {direct:?}, fastest {fastest:?}", isa.name());
            assert!(direct.iter().all(|&e| e < 2e-6), "{conv:?} {}: {direct:?}", isa.name());
            assert!(fastest.iter().all(|&e| e < 3e-5), "{conv:?} {}: {fastest:?}", isa.name());
        }
    }
}
