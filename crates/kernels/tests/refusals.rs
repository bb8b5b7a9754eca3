//! Kernels refuse arguments that do not fit together, with their own messages.
//!
//! Each case is a correct call in which some numbers are changed by chance. It must run if it is still
//! correct, and otherwise panic with a message of the kernels. valgrind shows that it does nothing else
//! (`CONTRIBUTING.md`).

mod support;

use proptest::prelude::*;
use rehearsal_kernels::convolution::{PackedForward, PackedInputGradient, weight_gradient};
use rehearsal_kernels::{
    Algorithm, Architecture, Convolution, Engine, Image, Isa, LayerParameters, Layout, Machine, Pool, Shape,
    Statistics, Sums,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Noise, Parameters};

/// Whether `f` ran. If it panicked, checks that this was a message of the kernels, not an index or a
/// division.
fn runs<T>(f: impl FnOnce() -> T) -> bool {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else {
        return true;
    };
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).expect("a panic in words");
    for accident in ["out of range", "out of bounds", "overflow", "divide", "chunk size", "unwrap"] {
        assert!(!text.contains(accident), "by accident: {text}");
    }
    false
}

/// Added to a correct number: mostly 0.
fn slip() -> impl Strategy<Value = isize> {
    prop_oneof![14 => Just(0isize), 1 => -4..5isize]
}

fn slips() -> impl Strategy<Value = [isize; 4]> {
    [slip(), slip(), slip(), slip()]
}

/// Mostly `true`, which is correct.
fn mostly() -> impl Strategy<Value = bool> {
    prop_oneof![9 => Just(true), 1 => Just(false)]
}

fn slipped<const D: usize>(right: [usize; D], by: [isize; D]) -> [usize; D] {
    std::array::from_fn(|i| right[i].saturating_add_signed(by[i]))
}

fn slipped_shape(Shape { n, h, w, c }: Shape, by: [isize; 4]) -> Shape {
    let [n, h, w, c] = slipped([n, h, w, c], by);
    Shape { n, h, w, c }
}

/// An instruction set of this machine: mostly the best.
fn isas() -> impl Strategy<Value = Isa> {
    let all = Isa::available();
    prop_oneof![4 => Just(Isa::detect()), 1 => proptest::sample::select(all)]
}

fn algorithms() -> impl Strategy<Value = Algorithm> {
    prop_oneof![Just(Algorithm::Direct), Just(Algorithm::Fastest)]
}

fn machine(isa: Isa, algorithm: Algorithm) -> Machine {
    Machine::with(Pool::new(2), isa, algorithm)
}

fn layout(shape: Shape, bordered: bool) -> Layout {
    if bordered { Layout::bordered(shape) } else { Layout::plain(shape) }
}

/// `times` as many cases as usual; `PROPTEST_CASES` sets the usual number.
fn config(times: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: times * usual.cases, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn a_layer_runs_only_on_its_own_shapes(
        (kernel, stride) in prop_oneof![Just((3, 1)), Just((3, 2)), Just((1, 2)), Just((1, 1))],
        (cin, cout) in (1usize..20, 1usize..20),
        (n, h, w) in (1usize..4, 1usize..10, 1usize..10),
        (by_conv, by_weights) in (slips(), slip()),
        (by_input, by_output, bordered, moments) in (slips(), slips(), mostly(), any::<bool>()),
        (packing, running) in (isas(), isas()),
        algorithm in algorithms(),
    ) {
        let right = Convolution { kernel, stride, cin, cout };
        let shape = Shape { n, h, w, c: cin };
        let [kernel, stride, cin, cout] = slipped([kernel, stride, cin, cout], by_conv);
        let conv = Convolution { kernel, stride, cin, cout };
        let weights = vec![0.5; right.weights().saturating_add_signed(by_weights)];
        let input = slipped_shape(shape, by_input);
        let output = slipped_shape(right.output(shape), by_output);

        let is_layer = matches!(kernel, 1 | 3) && matches!(stride, 1 | 2) && cin > 0 && cout > 0;
        let packs = is_layer && weights.len() == conv.weights();
        let images = !input.is_empty() && !output.is_empty();
        let fits = packs && images && bordered && input.c == cin && output == conv.output(input);
        let (machine, other) = (machine(packing, algorithm), machine(running, algorithm));

        let forward = || {
            let packed = PackedForward::new(&machine, conv, &weights);
            let (x, mut y) = (Image::new(layout(input, bordered)), Image::new(layout(output, moments)));
            let mut sums = Sums::default();
            packed.run(&other, &x, &mut y, moments.then_some(&mut sums));
        };
        prop_assert_eq!(runs(forward), fits && packing == running, "forward");
        let input_gradient = |add: bool| {
            let packed = PackedInputGradient::new(&machine, conv, &weights);
            let (g, mut dx) = (Image::new(layout(output, bordered)), Image::new(layout(input, moments)));
            if add { packed.add(&other, &g, &mut dx) } else { packed.run(&other, &g, &mut dx) }
        };
        prop_assert_eq!(runs(|| input_gradient(true)), fits && packing == running, "adding the input gradient");
        prop_assert_eq!(runs(|| input_gradient(false)), fits && packing == running, "input gradient");
        let weight = |x_bordered: bool, g_bordered: bool| {
            let (x, g) = (Image::new(layout(input, x_bordered)), Image::new(layout(output, g_bordered)));
            weight_gradient(&machine, conv, &x, &g, &mut weights.clone());
        };
        prop_assert_eq!(runs(|| weight(bordered, true)), fits, "weight gradient");
        prop_assert_eq!(runs(|| weight(true, bordered)), fits, "weight gradient");
    }

    #[test]
    fn an_image_takes_an_array_of_its_own_length_alone(
        (n, h, w, c) in (0usize..4, 0usize..7, 0usize..7, 0usize..7),
        by in slip(),
        bordered: bool,
    ) {
        let shape = Shape { n, h, w, c };
        let dense = vec![1.0; (n * h * w * c).saturating_add_signed(by)];
        let fits = !shape.is_empty() && dense.len() == shape.len();
        let from = if bordered { Image::bordered_from } else { Image::plain_from };
        prop_assert_eq!(runs(|| assert_eq!(from(shape, &dense).to_dense(), dense)), fits);
    }
}

/// Changes to the lengths of one layer's slices or statistics.
fn in_some_layer() -> impl Strategy<Value = (usize, [isize; 3])> {
    (0usize..20, [slip(), slip(), slip()])
}

fn slipped_parameters(parameters: &Parameters, (layer, by): (usize, [isize; 3])) -> Parameters {
    let mut layers = parameters.layers.clone();
    for (values, by) in layers[layer].iter_mut().zip(by) {
        values.resize(values.len().saturating_add_signed(by), 0.5);
    }
    Parameters { layers }
}

fn fit(architecture: Architecture, parameters: &[LayerParameters<'_>]) -> bool {
    let layers = architecture.layers().0;
    let right = |(layer, given): (&rehearsal_kernels::Layer, &LayerParameters<'_>)| {
        given.weight.len() == layer.conv.weights() && [given.gamma.len(), given.beta.len()] == [layer.conv.cout; 2]
    };
    layers.len() == parameters.len() && layers.iter().zip(parameters).all(right)
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn an_engine_runs_on_what_was_made_for_it_alone(
        dimensions in [1usize..5, 1usize..4, 1usize..7, 1usize..7],
        by in slips(),
        (n, by_images, by_grad) in (1usize..4, slip(), slip()),
        (by_packed, by_parameters) in (in_some_layer(), in_some_layer()),
        (by_running, fewer) in (in_some_layer(), mostly()),
        (packing, running) in (isas(), isas()),
        (algorithm, other_algorithm) in (algorithms(), algorithms()),
    ) {
        let architecture = |[width, channels, image_height, image_width]: [usize; 4]| {
            Architecture { width, channels, image_height, image_width }
        };
        let (arch, other) = (architecture(dimensions), architecture(slipped(dimensions, by)));
        let engine = Engine::new(arch, machine(running, algorithm));
        let exists = slipped(dimensions, by).iter().all(|&size| size > 0);
        prop_assert_eq!(runs(|| Engine::new(other, machine(packing, algorithm))), exists);
        if !exists {
            return Ok(());
        }

        // Parameters packed by another engine.
        let second = Engine::new(other, machine(packing, other_algorithm));
        let given = slipped_parameters(&Parameters::random(other, 1), by_packed);
        prop_assert_eq!(runs(|| second.pack(&given.views())), fit(other, &given.views()));
        let parameters = Parameters::random(other, 1);
        let packed = second.pack(&parameters.views());
        let images = Noise::new(2).vec((arch.input(n).len()).saturating_add_signed(by_images));
        let whole = !images.is_empty() && images.len().is_multiple_of(arch.input(1).len());
        let fits = whole && other == arch && packing == running;
        prop_assert_eq!(runs(|| engine.forward_batch(&packed, &images, true)), fits);
        prop_assert_eq!(runs(|| engine.forward_batch(&packed, &images, false)), fits);

        // Statistics of other channels, or of one layer fewer.
        let (layer, [mean, variance, _]) = by_running;
        let mut statistics: Vec<_> = arch.layers().0.iter().map(|layer| layer.conv.cout).map(|c| {
            Statistics { mean: vec![0.0; c], variance: vec![1.0; c] }
        }).collect();
        let channels = statistics[layer].mean.len();
        statistics[layer].mean.resize(channels.saturating_add_signed(mean), 0.0);
        statistics[layer].variance.resize(channels.saturating_add_signed(variance), 1.0);
        let right = [statistics[layer].mean.len(), statistics[layer].variance.len()] == [channels; 2];
        let statistics = if fewer { &statistics[..] } else { &statistics[1..] };
        prop_assert_eq!(runs(|| engine.forward_eval(&packed, statistics, &images)), fits && right && fewer);
        prop_assert_eq!(runs(|| engine.forward_eval_taped(&packed, statistics, &images)), fits && right && fewer);

        // A tape of another engine.
        let pass = second.forward_batch(&packed, &Noise::new(3).vec(other.input(n).len()), true);
        let tape = pass.tape.as_ref().expect("a tape");
        let given = slipped_parameters(&Parameters::random(arch, 4), by_parameters);
        let grad = vec![0.1; (n * arch.features()).saturating_add_signed(by_grad)];
        let fits = other == arch && fit(arch, &given.views()) && by_grad == 0;
        prop_assert_eq!(runs(|| engine.backward(&given.views(), tape, &grad)), fits);
    }
}

const HALF: usize = 1 << (usize::BITS / 2);

/// Sizes whose products wrap around, to 0 or to a small number, must not count as small.
#[test]
fn sizes_beyond_memory_are_refused() {
    let one = Shape { n: 1, h: 1, w: 1, c: 1 };
    for shape in [
        Shape { n: HALF, h: HALF, ..one },
        Shape { h: HALF, w: HALF, ..one },
        Shape { w: HALF, c: HALF, ..one },
        Shape { h: usize::MAX, ..one },
        Shape { w: usize::MAX - 4, ..one },
        Shape { c: usize::MAX / 16 + 1, ..one },
    ] {
        assert!(!runs(|| Image::bordered_from(shape, &[])), "{shape:?}");
        assert!(!runs(|| Image::plain_from(shape, &[0.0])), "{shape:?}");
        assert!(!runs(|| Layout::plain(shape)), "{shape:?}");
    }
    let machine = Machine::new(1);
    for kernel in [1, 3] {
        let conv = Convolution { kernel, stride: 1, cin: HALF, cout: HALF };
        assert!(!runs(|| PackedForward::new(&machine, conv, &[])));
        assert!(!runs(|| PackedInputGradient::new(&machine, conv, &[])));
        let images = [(); 2].map(|()| Image::bordered_from(one, &[1.0]));
        assert!(!runs(|| weight_gradient(&machine, conv, &images[0], &images[1], &mut [])));
    }
    let arch = Architecture { width: 1, channels: 1, image_height: 1, image_width: 1 };
    for arch in [
        Architecture { width: HALF, ..arch },
        Architecture { width: usize::MAX / 8 + 1, ..arch },
        Architecture { width: usize::MAX, ..arch },
        Architecture { channels: usize::MAX, ..arch },
        Architecture { image_height: HALF, image_width: HALF, ..arch },
        Architecture { image_width: usize::MAX, ..arch },
    ] {
        assert!(!runs(|| Engine::new(arch, Machine::new(1))), "{arch:?}");
    }
}

#[test]
fn an_empty_batch_is_refused() {
    let arch = Architecture { width: 2, channels: 1, image_height: 3, image_width: 3 };
    let engine = Engine::new(arch, Machine::new(1));
    let parameters = Parameters::random(arch, 1);
    let packed = engine.pack(&parameters.views());
    let panic = catch_unwind(AssertUnwindSafe(|| engine.forward_batch(&packed, &[], false).features));
    let panic = panic.expect_err("no batch statistics of nothing");
    assert_eq!(panic.downcast_ref(), Some(&"a batch has at least one image"));
}

/// The same dimensions and instructions suffice; the engine that packed chose the algorithm.
#[test]
fn an_engine_may_use_what_another_one_packed_and_taped() {
    let arch = Architecture { width: 8, channels: 1, image_height: 8, image_width: 8 };
    let [direct, fastest] =
        [Algorithm::Direct, Algorithm::Fastest].map(|a| Engine::new(arch, machine(Isa::detect(), a)));
    let parameters = Parameters::random(arch, 1);
    let packed = direct.pack(&parameters.views());
    let images = Noise::new(2).vec(arch.input(3).len());
    let (own, other) = (direct.forward_batch(&packed, &images, true), fastest.forward_batch(&packed, &images, true));
    assert_eq!(own.features, other.features);
    let grad = Noise::new(3).vec(3 * arch.features());
    let back = |tape: &Option<rehearsal_kernels::Tape>| {
        direct.backward(&parameters.views(), tape.as_ref().expect("a tape"), &grad)
    };
    assert!(back(&own.tape) == back(&other.tape));
}
