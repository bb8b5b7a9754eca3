//! The whole backbone against its definition in f64, and against itself on other numbers of
//! threads.

mod support;

use rehearsal_kernels::{Algorithm, Architecture, Engine, Gradients, Isa, Machine, Pool, Statistics};
use support::{Noise, Parameters, Reference, distance, wide};

fn machine(threads: usize, isa: Isa, algorithm: Algorithm) -> Machine {
    Machine::with(Pool::new(threads), isa, algorithm)
}

fn architecture(width: usize, channels: usize, image_height: usize, image_width: usize) -> Architecture {
    Architecture { width, channels, image_height, image_width }
}

/// The largest relative distance of a layer's gradient, by kind.
fn gradient_distances(found: &Gradients, expected: &[[Vec<f64>; 3]]) -> [f64; 3] {
    let mut worst = [0.0f64; 3];
    for (found, expected) in found.layers.iter().zip(expected) {
        for (kind, found) in [&found.weight, &found.gamma, &found.beta].into_iter().enumerate() {
            worst[kind] = worst[kind].max(distance(found, &expected[kind]));
        }
    }
    worst
}

#[test]
fn agrees_with_the_definition() {
    for (arch, n) in [
        (architecture(8, 3, 16, 24), 3),
        (architecture(5, 1, 11, 13), 2),
        (architecture(20, 3, 8, 12), 2),
        (architecture(12, 3, 33, 26), 1),
    ] {
        let parameters = Parameters::random(arch, 7);
        let mut noise = Noise::new(3);
        let images = noise.vec(arch.input(n).len());
        let grad = noise.vec(n * arch.features());
        let reference = Reference::new(arch, &parameters, n);
        let expected = reference.forward(&images);
        let expected_gradients = reference.backward(&expected, &grad);
        for isa in Isa::available() {
            for algorithm in [Algorithm::Direct, Algorithm::Fastest] {
                let what = format!("{arch:?} n {n} {} {algorithm:?}", isa.name());
                let engine = Engine::new(arch, machine(2, isa, algorithm));
                let packed = engine.pack(&parameters.views());
                let lean = engine.forward_batch(&packed, &images, false);
                let pass = engine.forward_batch(&packed, &images, true);
                assert_eq!(lean.features, pass.features, "{what}");
                let error = distance(&pass.features, &expected.features);
                assert!(error < 2e-5, "{what}: features {error}");
                for (l, (found, expected)) in pass.statistics.iter().zip(&expected.statistics).enumerate() {
                    let error = distance(&found.mean, &expected.0).max(distance(&found.variance, &expected.1));
                    assert!(error < 5e-5, "{what}: statistics of layer {l} {error}");
                }
                let gradients = engine.backward(&parameters.views(), pass.tape.as_ref().expect("a tape"), &grad);
                let errors = gradient_distances(&gradients, &expected_gradients);
                // A ReLU whose input is within rounding of 0 may flip, so single gradients can
                // differ by more than rounding.
                assert!(errors.iter().all(|&e| e < 1e-3), "{what}: gradients {errors:?}");
            }
        }
    }
}

#[test]
fn running_statistics_are_constants() {
    let (arch, n) = (architecture(8, 3, 10, 8), 2);
    let parameters = Parameters::random(arch, 1);
    let mut noise = Noise::new(2);
    let images = noise.vec(arch.input(n).len());
    let grad = noise.vec(n * arch.features());
    let running: Vec<Statistics> = (arch.layers().0.iter())
        .map(|layer| Statistics {
            mean: noise.vec(layer.conv.cout).iter().map(|x| 0.1 * x).collect(),
            variance: noise.vec(layer.conv.cout).iter().map(|x| 1.0 + 0.5 * x).collect(),
        })
        .collect();
    let constants = running.iter().map(|s| (wide(&s.mean), wide(&s.variance))).collect();
    let reference = Reference::new(arch, &parameters, n).with_running(constants);
    let expected = reference.forward(&images);
    let expected_gradients = reference.backward(&expected, &grad);
    let engine = Engine::new(arch, Machine::new(2));
    let packed = engine.pack(&parameters.views());
    assert!(distance(&engine.forward_eval(&packed, &running, &images), &expected.features) < 1e-5);
    let pass = engine.forward_eval_taped(&packed, &running, &images);
    let gradients = engine.backward(&parameters.views(), pass.tape.as_ref().expect("a tape"), &grad);
    let errors = gradient_distances(&gradients, &expected_gradients);
    assert!(errors.iter().all(|&e| e < 1e-3), "{errors:?}");
}

#[test]
fn threads_change_no_bit() {
    for algorithm in [Algorithm::Direct, Algorithm::Fastest] {
        let (arch, n) = (architecture(20, 3, 32, 28), 7);
        let parameters = Parameters::random(arch, 5);
        let mut noise = Noise::new(4);
        let images = noise.vec(arch.input(n).len());
        let grad = noise.vec(n * arch.features());
        let run = |threads| {
            let engine = Engine::new(arch, machine(threads, Isa::detect(), algorithm));
            let packed = engine.pack(&parameters.views());
            let pass = engine.forward_batch(&packed, &images, true);
            let gradients = engine.backward(&parameters.views(), pass.tape.as_ref().expect("a tape"), &grad);
            (pass.features, pass.statistics, gradients)
        };
        let one = run(1);
        for threads in [2, 3] {
            assert!(one == run(threads), "{algorithm:?} differs on {threads} threads");
        }
    }
}

#[test]
fn tapes_are_independent() {
    let (arch, n) = (architecture(8, 3, 8, 8), 4);
    let parameters = Parameters::random(arch, 5);
    let mut noise = Noise::new(9);
    let (a, b) = (noise.vec(arch.input(n).len()), noise.vec(arch.input(n).len()));
    let grad = noise.vec(n * arch.features());
    let engine = Engine::new(arch, Machine::new(2));
    let packed = engine.pack(&parameters.views());
    let alone = {
        let pass = engine.forward_batch(&packed, &a, true);
        engine.backward(&parameters.views(), pass.tape.as_ref().expect("a tape"), &grad)
    };
    let first = engine.forward_batch(&packed, &a, true);
    let second = engine.forward_batch(&packed, &b, true);
    engine.forward_batch(&packed, &b, false);
    engine.backward(&parameters.views(), second.tape.as_ref().expect("a tape"), &grad);
    assert!(alone == engine.backward(&parameters.views(), first.tape.as_ref().expect("a tape"), &grad));
}
