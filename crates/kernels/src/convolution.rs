//! One convolution layer on its own: forward, gradient to the input, gradient to the weights.
//!
//! Weights are `[k, k, cin, cout]` (HWIO, row-major). Kernels read them packed, once per version of the weights
//! ([`PackedForward`], [`PackedInputGradient`]); which algorithm computes a layer is decided when packing.

use crate::buffer::{Shared, Spare};
use crate::direct::{self, PackedSweep};
use crate::image::{Image, Shape};
use crate::isa::Isa;
use crate::pool::Pool;
use crate::sink::{Add, Store, StoreMoments};
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
    pub fn output(self, input: Shape) -> Shape {
        Shape { h: input.h.div_ceil(self.stride), w: input.w.div_ceil(self.stride), c: self.cout, ..input }
    }

    /// Number of weights.
    pub fn weights(self) -> usize {
        self.kernel * self.kernel * self.cin * self.cout
    }

    /// Floating-point operations of one forward pass as the definition counts them.
    pub fn flops(self, input: Shape) -> f64 {
        2.0 * self.weights() as f64 * self.output(input).pixels() as f64
    }

    fn suits_winograd(self) -> bool {
        self.kernel == 3 && self.stride == 1 && self.cin >= 8
    }
}

/// How layers are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Winograd F(4×4, 3×3) where the layer has that form, else direct.
    Fastest,
    /// By the definition, everywhere.
    Direct,
}

/// What computes: threads, instructions and the choice of algorithm.
pub struct Machine {
    /// The threads.
    pub pool: Pool,
    /// The instructions.
    pub isa: Isa,
    /// The algorithm.
    pub algorithm: Algorithm,
    pub(crate) spare: Arc<Spare>,
}

impl Machine {
    /// `threads` threads with the best instructions of this processor and the fastest algorithms.
    pub fn new(threads: usize) -> Self {
        Self::with(Pool::new(threads), Isa::detect(), Algorithm::Fastest)
    }

    /// These threads, these instructions, this algorithm.
    pub fn with(pool: Pool, isa: Isa, algorithm: Algorithm) -> Self {
        Self { pool, isa, algorithm, spare: Arc::default() }
    }

    fn uses_winograd(&self, conv: Convolution) -> bool {
        self.algorithm == Algorithm::Fastest && conv.suits_winograd()
    }
}

/// A layer's weights, ready for forward passes.
pub struct PackedForward(Forward);

enum Forward {
    Direct(PackedSweep),
    Winograd(winograd::Weights),
}

impl PackedForward {
    /// Packs `weights` `[k, k, cin, cout]`.
    ///
    /// # Panics
    /// If `weights` has another length.
    pub fn new(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        assert_eq!(weights.len(), conv.weights(), "weights of {conv:?}");
        if machine.uses_winograd(conv) {
            return Self(Forward::Winograd(winograd::Weights::forward(machine, conv, weights)));
        }
        Self(Forward::Direct(PackedSweep::forward(machine, conv, weights)))
    }

    /// `output = conv(input)`; `input` is bordered. With `moments`, gathers `Σ y` and `Σ y²` per output channel on the way.
    pub fn run(&self, machine: &Machine, input: &Image, output: &mut Image, moments: Option<&mut Sums<2>>) {
        let layout = output.layout;
        let out = Shared::new(&mut output.data);
        match (&self.0, moments) {
            (Forward::Direct(sweep), None) => sweep.run(machine, input, layout, Store(out), None),
            (Forward::Direct(sweep), moments) => {
                sweep.run(machine, input, layout, StoreMoments(out), moments);
            }
            (Forward::Winograd(weights), None) => weights.run(machine, input, layout, Store(out), None),
            (Forward::Winograd(weights), moments) => weights.run(machine, input, layout, StoreMoments(out), moments),
        }
    }
}

/// A layer's weights, ready for the gradient to its input.
pub struct PackedInputGradient(InputGradient);

enum InputGradient {
    Direct(Vec<PackedSweep>),
    Winograd(winograd::Weights),
}

impl PackedInputGradient {
    /// Packs `weights` `[k, k, cin, cout]`.
    ///
    /// # Panics
    /// If `weights` has another length.
    pub fn new(machine: &Machine, conv: Convolution, weights: &[f32]) -> Self {
        assert_eq!(weights.len(), conv.weights(), "weights of {conv:?}");
        if machine.uses_winograd(conv) {
            return Self(InputGradient::Winograd(winograd::Weights::input_gradient(machine, conv, weights)));
        }
        Self(InputGradient::Direct(PackedSweep::input_gradient(machine, conv, weights)))
    }

    /// Writes the gradient to the input, given the (bordered) gradient of the output. `input_grad` has the input's shape.
    /// A 1×1 layer of stride 2 reaches a quarter of the pixels and leaves the others alone.
    pub fn run(&self, machine: &Machine, output_grad: &Image, input_grad: &mut Image) {
        let layout = input_grad.layout;
        let out = Shared::new(&mut input_grad.data);
        match &self.0 {
            InputGradient::Direct(sweeps) => {
                for sweep in sweeps {
                    sweep.run(machine, output_grad, layout, Store(out), None);
                }
            }
            InputGradient::Winograd(weights) => weights.run(machine, output_grad, layout, Store(out), None),
        }
    }

    /// As [`PackedInputGradient::run`], but adds to what `input_grad` holds.
    pub fn add(&self, machine: &Machine, output_grad: &Image, input_grad: &mut Image) {
        let layout = input_grad.layout;
        let out = Shared::new(&mut input_grad.data);
        match &self.0 {
            InputGradient::Direct(sweeps) => {
                for sweep in sweeps {
                    sweep.run(machine, output_grad, layout, Add(out), None);
                }
            }
            InputGradient::Winograd(weights) => weights.run(machine, output_grad, layout, Add(out), None),
        }
    }
}

/// Writes the gradient to the weights `[k, k, cin, cout]`, given the layer's bordered input and the bordered gradient of its
/// output.
///
/// # Panics
/// If `gradient` has another length.
pub fn weight_gradient(machine: &Machine, conv: Convolution, input: &Image, output_grad: &Image, gradient: &mut [f32]) {
    assert_eq!(gradient.len(), conv.weights(), "weights of {conv:?}");
    if machine.uses_winograd(conv) {
        winograd::weight_gradient(machine, conv, input, output_grad, gradient);
    } else {
        direct::weight_gradient(machine, conv, input, output_grad, gradient);
    }
}
