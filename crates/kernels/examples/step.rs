//! The whole balanced step, as `torch_step.py` times it, without head, loss and data.
//!
//!     cargo run --release --example step -- --width 20 --size 32 --threads 2 --repeats 15 [--direct] [--minimum]
//!
//! Prints one JSON line with milliseconds (the median, or the minimum) of
//!   score   2 draws of 50 images under 2 sets of parameters, no tape
//!   train   2 × 20 images forward and backward, SGD
//!   step    virtual step (20 images forward and backward, SGD into a second set) + score + train

use rehearsal_kernels::{
    Algorithm, Architecture, Engine, Gradients, Isa, LayerParameters, Machine, PackedParameters, Pool,
};
use std::sync::Mutex;
use std::time::Instant;

const LR: f32 = 0.1;

fn option(name: &str, default: usize) -> usize {
    let mut given = std::env::args().skip_while(|a| a != &format!("--{name}")).skip(1);
    given.next().map_or(default, |value| value.parse().expect("a number"))
}

fn flag(name: &str) -> bool {
    std::env::args().any(|a| a == format!("--{name}"))
}

fn noise(len: usize, scale: f32) -> Vec<f32> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32
    };
    (0..len).map(|_| scale * next()).collect()
}

#[derive(Clone)]
struct Parameters(Vec<[Vec<f32>; 3]>);

impl Parameters {
    fn new(architecture: Architecture) -> Self {
        let layer = |l: &rehearsal_kernels::Layer| {
            let c = l.conv;
            let bound = (6.0 / ((c.cin + c.cout) * c.kernel * c.kernel) as f32).sqrt();
            let weight = noise(c.weights(), 2.0).iter().map(|x| (x - 1.0) * bound).collect();
            [weight, vec![1.0; c.cout], vec![0.0; c.cout]]
        };
        Self(architecture.layers().0.iter().map(layer).collect())
    }

    fn views(&self) -> Vec<LayerParameters<'_>> {
        self.0.iter().map(|[weight, gamma, beta]| LayerParameters { weight, gamma, beta }).collect()
    }

    fn pack(&self, engine: &Engine) -> PackedParameters {
        engine.pack(&self.views())
    }

    fn stepped(&self, gradients: &[Gradients]) -> Self {
        let mut new = self.clone();
        for gradients in gradients {
            for (to, from) in new.0.iter_mut().zip(&gradients.layers) {
                for (to, from) in to.iter_mut().zip([&from.weight, &from.gamma, &from.beta]) {
                    to.iter_mut().zip(from).for_each(|(p, g)| *p -= LR * g);
                }
            }
        }
        new
    }
}

struct Bench {
    engine: Engine,
    draws: [Vec<f32>; 2],
    batches: [Vec<f32>; 2],
    grad: Vec<f32>,
    /// Memory for gradients, one per pass.
    gradients: Mutex<[Gradients; 2]>,
}

impl Bench {
    fn look_ahead(&self, parameters: &Parameters, packed: &PackedParameters) -> PackedParameters {
        let pass = self.engine.forward_batch(packed, &self.batches[0], true);
        let gradients = &mut self.gradients.lock().expect("one thread")[..1];
        self.engine.backward_into(
            &parameters.views(),
            pass.tape.as_ref().expect("a tape"),
            &self.grad,
            &mut gradients[0],
        );
        parameters.stepped(gradients).pack(&self.engine)
    }

    fn score(&self, packed: &PackedParameters, ahead: &PackedParameters) -> f32 {
        let mut total = 0.0;
        for draw in &self.draws {
            for parameters in [ahead, packed] {
                total += self.engine.forward_batch(parameters, draw, false).features[0];
            }
        }
        total
    }

    fn train(&self, parameters: &Parameters, packed: &PackedParameters) -> Parameters {
        let [a, b] = self.batches.each_ref().map(|x| self.engine.forward_batch(packed, x, true));
        let mut gradients = self.gradients.lock().expect("one thread");
        for (pass, gradients) in [a, b].into_iter().zip(gradients.iter_mut()) {
            self.engine.backward_into(&parameters.views(), pass.tape.as_ref().expect("a tape"), &self.grad, gradients);
        }
        parameters.stepped(&*gradients)
    }

    /// The whole step. Training starts from the same parameters each time, so that all repeats are alike.
    fn step(&self, parameters: &Parameters) -> Parameters {
        let packed = parameters.pack(&self.engine);
        let ahead = self.look_ahead(parameters, &packed);
        std::hint::black_box(self.score(&packed, &ahead));
        self.train(parameters, &packed)
    }
}

fn milliseconds(repeats: usize, mut f: impl FnMut()) -> f64 {
    (0..3).for_each(|_| f());
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if flag("minimum") { times[0] } else { times[repeats / 2] }
}

fn main() {
    let [width, size, threads, repeats] =
        [("width", 20), ("size", 32), ("threads", 2), ("repeats", 15)].map(|(name, default)| option(name, default));
    let architecture = Architecture { width, channels: 3, image_height: size, image_width: size };
    let algorithm = if flag("direct") { Algorithm::Direct } else { Algorithm::Fastest };
    let machine = Machine::with(Pool::new(threads), Isa::detect(), algorithm);
    let isa = machine.isa().name();
    let images = |n: usize| noise(architecture.input(n).len(), 1.0);
    let bench = Bench {
        engine: Engine::new(architecture, machine),
        draws: [images(50), images(50)],
        batches: [images(20), images(20)],
        grad: noise(20 * architecture.features(), 1e-3),
        gradients: Mutex::default(),
    };
    let parameters = Parameters::new(architecture);
    let packed = parameters.pack(&bench.engine);
    let ahead = bench.look_ahead(&parameters, &packed);
    let score = milliseconds(repeats, || {
        std::hint::black_box(bench.score(&packed, &ahead));
    });
    let train = milliseconds(repeats, || {
        std::hint::black_box(bench.train(&parameters, &parameters.pack(&bench.engine)));
    });
    let step = milliseconds(repeats, || {
        std::hint::black_box(bench.step(&parameters));
    });
    println!(
        "{{\"engine\": \"kernels {isa}\", \"width\": {width}, \"size\": {size}, \"threads\": {threads}, \"score\": {score:.2}, \"train\": {train:.2}, \"step\": {step:.2}}}"
    );
}
