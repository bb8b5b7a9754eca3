//! One convolution layer on its own: forward, gradient to the input, gradient to the weights.
//!
//! Weights are `[k, k, cin, cout]` (HWIO, row-major). Kernels read packed weights, which are packed
//! once per version of the weights ([`PackedForward`], [`PackedInputGradient`]). Packing also chooses
//! the algorithm of a layer.

use crate::buffer::{Buffer, Shared, Spare};
use crate::direct::{self, PackedSweep};
use crate::image::{Image, Layout, Shape};
use crate::isa::Isa;
use crate::pool::Pool;
use crate::sink::{Add, Finish, Sink, Store, StoreMoments};
use crate::size;
use crate::sums::Sums;
use crate::winograd;
use std::sync::Arc;

/// A square kernel of 1 or 3 pixels with stride 1 or 2, padded so that stride 1 keeps the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// 1 or 3.
    pub kernel: usize,
    /// 1 or 2.
    pub stride: usize,
    /// Input channels.
    pub cin: usize,
    /// Output channels.
    pub cout: usize,
}

impl Convolution {
    /// The shape of the output for an input of shape `input`.
    ///
    /// # Panics
    /// If the stride is 0.
    pub fn output(self, input: Shape) -> Shape {
        assert!(self.stride > 0, "a stride is 1 or 2, unlike that of {self:?}");
        Shape { h: input.h.div_ceil(self.stride), w: input.w.div_ceil(self.stride), c: self.cout, ..input }
    }

    /// Number of weights.
    ///
    /// # Panics
    /// If there are more than fit into memory.
    pub fn weights(self) -> usize {
        size::floats([self.kernel, self.kernel, self.cin, self.cout])
    }

    /// Floating-point operations of one forward pass of a direct convolution.
    pub fn flops(self, input: Shape) -> f64 {
        2.0 * self.weights() as f64 * self.output(input).pixels() as f64
    }

    /// Panics if this is not a layer, or if weights (or a gradient) have another length.
    fn check(self, weights: &[f32]) {
        let Self { kernel, stride, cin, cout } = self;
        assert!(
            matches!(kernel, 1 | 3) && matches!(stride, 1 | 2),
            "a kernel of 1 or 3 and a stride of 1 or 2, not {self:?}"
        );
        assert!(cin > 0 && cout > 0, "at least one channel in and out, not {self:?}");
        assert_eq!(weights.len(), self.weights(), "weights of {self:?}");
    }

    /// Panics if the images do not have the shapes of this layer's input and output.
    fn check_images(self, input: Shape, output: Shape) {
        assert_eq!(input.c, self.cin, "channels of the input of {self:?}");
        assert_eq!(output, self.output(input), "the output of {self:?} for an input of {input:?}");
    }

    fn suits_winograd(self) -> bool {
        self.kernel == 3 && self.stride == 1 && self.cin >= 8
    }
}

/// How layers are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Winograd F(4×4, 3×3) for 3×3 layers of stride 1, otherwise direct.
    Fastest,
    /// Direct convolution for every layer.
    Direct,
}

/// The means of computation: threads, instructions and the choice of algorithm.
pub struct Machine {
    pub(crate) pool: Pool,
    pub(crate) isa: Isa,
    algorithm: Algorithm,
    pub(crate) spare: Arc<Spare>,
}

impl Machine {
    /// `threads` threads with the best instructions of this processor and the fastest algorithms.
    pub fn new(threads: usize) -> Self {
        Self::with(Pool::new(threads), Isa::detect(), Algorithm::Fastest)
    }

    /// A machine with these threads, instructions and algorithm.
    pub fn with(pool: Pool, isa: Isa, algorithm: Algorithm) -> Self {
        Self { pool, isa, algorithm, spare: Arc::default() }
    }

    /// Threads that work on a layer.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// The instructions.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The choice of algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn uses_winograd(&self, conv: Convolution) -> bool {
        self.algorithm == Algorithm::Fastest && conv.suits_winograd()
    }
}

/// Kernels have no code for the edges of an image: they read a border of zeros around it.
fn check_bordered(image: &Image) {
    assert!(
        image.layout().is_bordered(),
        "an image that a convolution reads has a border, unlike this of {:?}",
        image.shape()
    );
}

/// The layer and the instructions that weights were packed for: other instructions have other
/// registers, and would read past the end of the weights.
#[derive(Clone, Copy)]
struct Packing {
    conv: Convolution,
    isa: Isa,
}

impl Packing {
    fn new(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        conv.check(weights);
        Self { conv, isa: machine.isa }
    }

    fn check(self, machine: &Machine, input: Shape, output: Shape) {
        let (packed, used) = (self.isa.name(), machine.isa.name());
        assert!(self.isa == machine.isa, "the weights are packed for {packed}, and {used} cannot use them");
        self.conv.check_images(input, output);
    }
}

/// A layer's weights, ready for forward passes.
pub struct PackedForward {
    packing: Packing,
    weights: Forward,
}

enum Forward {
    Direct(PackedSweep),
    Winograd(winograd::Weights),
}

impl PackedForward {
    /// Packs `weights` `[k, k, cin, cout]`.
    ///
    /// # Panics
    /// If `weights` has another length, or `conv` is not 1×1 or 3×3 with stride 1 or 2 and at least
    /// one channel in and out.
    pub fn new(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        let packing = Packing::new(machine, conv, weights);
        let weights = if machine.uses_winograd(conv) {
            Forward::Winograd(winograd::Weights::forward(machine, conv, weights))
        } else {
            Forward::Direct(PackedSweep::forward(machine, conv, weights))
        };
        Self { packing, weights }
    }

    /// `output = conv(input)`; `input` is bordered. With `moments`, gathers `Σ y` and `Σ y²` per
    /// output channel on the way.
    ///
    /// # Panics
    /// If `input` has no border, `output` is not of the shape the layer gives, or `machine` has
    /// other instructions than the one the weights were packed for.
    pub fn run(&self, machine: &Machine, input: &Image, output: &mut Image, moments: Option<&mut Sums<2>>) {
        check_bordered(input);
        self.packing.check(machine, input.shape(), output.shape());
        let layout = output.layout();
        let out = output.shared();
        match (&self.weights, moments) {
            (Forward::Direct(sweep), None) => sweep.run(machine, input, layout, Store(out), None),
            (Forward::Direct(sweep), moments) => {
                sweep.run(machine, input, layout, StoreMoments(out), moments);
            }
            (Forward::Winograd(weights), None) => weights.run(machine, input, layout, Store(out), None),
            (Forward::Winograd(weights), moments) => weights.run(machine, input, layout, StoreMoments(out), moments),
        }
    }
}

impl PackedForward {
    /// `output = conv(input) + bias (+ residual)`, then `ReLU` if `relu`. A residual has the output's layout.
    ///
    /// # Panics
    /// As [`PackedForward::run`], or if bias or residual are of another shape.
    pub(crate) fn finish(
        &self,
        machine: &Machine,
        input: &Image,
        output: &mut Image,
        bias: &Buffer,
        residual: Option<&Image>,
        relu: bool,
    ) {
        check_bordered(input);
        self.packing.check(machine, input.shape(), output.shape());
        let layout = output.layout();
        assert_eq!(bias.len(), layout.shape().c, "a bias for each channel");
        assert!(residual.is_none_or(|residual| residual.layout() == layout), "a residual has the layout of the output");
        let (to, residual) = (output.shared(), residual.map(Image::data));
        if relu {
            self.sink(machine, input, layout, Finish::<true> { to, bias, residual });
        } else {
            self.sink(machine, input, layout, Finish::<false> { to, bias, residual });
        }
    }

    fn sink<K: Sink>(&self, machine: &Machine, input: &Image, layout: Layout, sink: K) {
        match &self.weights {
            Forward::Direct(sweep) => sweep.run(machine, input, layout, sink, None),
            Forward::Winograd(weights) => weights.run(machine, input, layout, sink, None),
        }
    }
}

/// A layer's weights, ready for the gradient to its input.
pub struct PackedInputGradient {
    packing: Packing,
    weights: InputGradient,
}

enum InputGradient {
    Direct(Vec<PackedSweep>),
    Winograd(winograd::Weights),
}

impl PackedInputGradient {
    /// Packs `weights` `[k, k, cin, cout]`.
    ///
    /// # Panics
    /// If `weights` has another length, or `conv` is not 1×1 or 3×3 with stride 1 or 2 and at least
    /// one channel in and out.
    pub fn new(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        let packing = Packing::new(machine, conv, weights);
        let weights = if machine.uses_winograd(conv) {
            InputGradient::Winograd(winograd::Weights::input_gradient(machine, conv, weights))
        } else {
            InputGradient::Direct(PackedSweep::input_gradient(machine, conv, weights))
        };
        Self { packing, weights }
    }

    /// Writes the gradient to the input, given the (bordered) gradient of the output. `input_grad`
    /// has the input's shape. A 1×1 layer of stride 2 writes a quarter of the pixels and does not
    /// change the others.
    ///
    /// # Panics
    /// If `output_grad` has no border or is not of the shape the layer gives for `input_grad`'s, or
    /// `machine` has other instructions than the one the weights were packed for.
    pub fn run(&self, machine: &Machine, output_grad: &Image, input_grad: &mut Image) {
        self.sweep(machine, output_grad, input_grad, Store);
    }

    /// As [`PackedInputGradient::run`], but adds to what `input_grad` holds.
    ///
    /// # Panics
    /// As [`PackedInputGradient::run`].
    pub fn add(&self, machine: &Machine, output_grad: &Image, input_grad: &mut Image) {
        self.sweep(machine, output_grad, input_grad, Add);
    }

    fn sweep<K: Sink>(&self, machine: &Machine, output_grad: &Image, input_grad: &mut Image, sink: fn(Shared) -> K) {
        check_bordered(output_grad);
        self.packing.check(machine, input_grad.shape(), output_grad.shape());
        let layout = input_grad.layout();
        let sink = sink(input_grad.shared());
        match &self.weights {
            InputGradient::Direct(sweeps) => {
                for sweep in sweeps {
                    sweep.run(machine, output_grad, layout, sink, None);
                }
            }
            InputGradient::Winograd(weights) => weights.run(machine, output_grad, layout, sink, None),
        }
    }
}

/// Writes the gradient to the weights `[k, k, cin, cout]`, given the layer's bordered input and the
/// bordered gradient of its output.
///
/// # Panics
/// If `gradient` has another length, an image has no border or another shape than the layer's, or
/// `conv` is not 1×1 or 3×3 with stride 1 or 2 and at least one channel in and out.
pub fn weight_gradient(machine: &Machine, conv: Convolution, input: &Image, output_grad: &Image, gradient: &mut [f32]) {
    conv.check(gradient);
    conv.check_images(input.shape(), output_grad.shape());
    check_bordered(input);
    check_bordered(output_grad);
    if machine.uses_winograd(conv) {
        winograd::weight_gradient(machine, conv, input, output_grad, gradient);
    } else {
        direct::weight_gradient(machine, conv, input, output_grad, gradient);
    }
}
