//! Milliseconds per image of every backbone, with generated weights.
//!
//!     cargo run --release -p rehearsal-backbone --example speed -- [THREADS]

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

use std::{hint::black_box, time::Instant};

use rehearsal_backbone::{Backbone, BackboneName, Published};
use rehearsal_data::Image;
use rehearsal_kernels::Machine;

#[path = "../tests/generated/mod.rs"]
mod generated;

fn main() {
    let threads = std::env::args().nth(1).map_or(1, |threads| threads.parse().expect("a number of threads"));
    let machine = || Machine::new(threads);
    println!("{} threads, {}: milliseconds per image, best of 10", threads, machine().isa().name());
    measure(&Published::efficientnet_lite0(machine()).unwrap());
    for name in [BackboneName::ResNet18, BackboneName::DinoV2Small] {
        measure(&Published::from_safetensors(name, machine(), generated::weights(name)).unwrap());
    }
}

fn measure(backbone: &dyn Backbone) {
    let image = Image::from(vec![100; backbone.preprocessing().shape.bytes()]);
    for batch in [1, 16] {
        let images = vec![image.clone(); batch];
        let run = |_| {
            let start = Instant::now();
            black_box(backbone.features(&images).unwrap());
            start.elapsed().as_secs_f64() * 1e3 / batch as f64
        };
        let best = (0..10).map(run).fold(f64::INFINITY, f64::min);
        println!("{:20} batch {batch:2}: {best:.1}", backbone.name());
    }
}
