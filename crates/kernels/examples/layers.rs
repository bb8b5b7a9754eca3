//! GFLOP/s of every kind of layer: forward, input gradient, weight gradient.
//!
//!     cargo run --release --example layers -- [--width 20] [--size 32] [--threads 1] [--direct] [--cin 20] [--stride 1]
//!
//! Rates count the operations of a direct convolution, so Winograd may exceed the processor's peak. Each
//! figure is the best of many short repeats, so that other processes disturb it less.

use rehearsal_kernels::convolution::{PackedForward, PackedInputGradient, weight_gradient};
use rehearsal_kernels::{Algorithm, Architecture, Image, Isa, Layout, Machine, Pool, Shape, Sums};
use std::time::Instant;

const FORWARD_BATCH: usize = 50;
const BACKWARD_BATCH: usize = 20;

fn option(name: &str, default: usize) -> usize {
    let mut given = std::env::args().skip_while(|a| a != &format!("--{name}")).skip(1);
    given.next().map_or(default, |value| value.parse().expect("a number"))
}

fn best_seconds(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut rounds = 0;
    while rounds < 5 || (start.elapsed().as_secs_f64() < 0.25 && rounds < 200) {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed().as_secs_f64());
        rounds += 1;
    }
    best
}

fn noise(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i * 7919 % 1013) as f32 / 1013.0 - 0.5).collect()
}

fn main() {
    let (width, size) = (option("width", 20), option("size", 32));
    let direct = std::env::args().any(|a| a == "--direct");
    let algorithm = if direct { Algorithm::Direct } else { Algorithm::Fastest };
    let machine = Machine::with(Pool::new(option("threads", 1)), Isa::detect(), algorithm);
    let architecture = Architecture { width, channels: 3, image_height: size, image_width: size };
    println!("{} · {} threads · GFLOP/s (ms)", machine.isa().name(), machine.threads());
    println!("{:>28} {:>18} {:>18} {:>18}", "layer", "forward", "input gradient", "weight gradient");
    let mut seen = Vec::new();
    for layer in architecture.layers().0 {
        let conv = layer.conv;
        if seen.contains(&conv) || (option("cin", conv.cin), option("stride", conv.stride)) != (conv.cin, conv.stride) {
            continue;
        }
        seen.push(conv);
        let weights = noise(conv.weights());
        let batch = |shape: Shape, n| Shape { n, ..shape };
        let rate = |n, seconds: f64| {
            let rate = conv.flops(batch(layer.input, n)) / seconds / 1e9;
            format!("{rate:.0} ({:.2})", seconds * 1e3)
        };
        let x =
            Image::bordered_from(batch(layer.input, FORWARD_BATCH), &noise(batch(layer.input, FORWARD_BATCH).len()));
        let mut y = Image::new(Layout::plain(batch(layer.output, FORWARD_BATCH)));
        let packed = PackedForward::new(&machine, conv, &weights);
        let mut moments = Sums::default();
        let forward = best_seconds(|| packed.run(&machine, &x, &mut y, Some(&mut moments)));
        let input = batch(layer.input, BACKWARD_BATCH);
        let output = batch(layer.output, BACKWARD_BATCH);
        let x = Image::bordered_from(input, &noise(input.len()));
        let g = Image::bordered_from(output, &noise(output.len()));
        let mut dx = Image::new(Layout::plain(input));
        let packed = PackedInputGradient::new(&machine, conv, &weights);
        let input_gradient = best_seconds(|| packed.run(&machine, &g, &mut dx));
        let mut gradient = vec![0.0; conv.weights()];
        let weight_gradient = best_seconds(|| weight_gradient(&machine, conv, &x, &g, &mut gradient));
        println!(
            "{:>28} {:>18} {:>18} {:>18}",
            format!("{0}×{0}/{1} {2}→{3} at {4}", conv.kernel, conv.stride, conv.cin, conv.cout, layer.input.h),
            rate(FORWARD_BATCH, forward),
            rate(BACKWARD_BATCH, input_gradient),
            rate(BACKWARD_BATCH, weight_gradient),
        );
    }
}
