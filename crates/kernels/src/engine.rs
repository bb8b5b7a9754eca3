//! The whole backbone as one operation with its own memory.
//!
//! An [`Engine`] belongs to one [`Architecture`]. [`PackedParameters`] are made once per set of
//! parameters and serve any number of passes; a pass whose gradient is needed later returns a
//! [`Tape`], and several tapes may exist at once. Memory of finished passes is kept and reused, so a
//! training loop allocates almost nothing.

mod backward;
mod forward;
mod parameters;
mod workspace;

pub use backward::{Gradients, LayerGradient};
pub(crate) use forward::average;
pub use parameters::{LayerParameters, PackedParameters};

use crate::architecture::{Architecture, Block, Layer};
use crate::convolution::Machine;
use crate::norm::Statistics;
use crate::size;
use backward::Scratch;
use std::sync::{Arc, Mutex, PoisonError};
use workspace::{Shelf, Workspace};

/// Runs one network on one machine.
pub struct Engine {
    architecture: Architecture,
    layers: Vec<Layer>,
    blocks: Vec<Block>,
    machine: Machine,
    shelf: Arc<Shelf>,
    scratch: Mutex<Vec<Scratch>>,
}

/// The result of a pass.
pub struct Forward {
    /// `[n, 8 · width]`.
    pub features: Vec<f32>,
    /// Mean and biased variance of every layer's convolution output; empty after a pass with
    /// running statistics.
    pub statistics: Vec<Statistics>,
    /// What [`Engine::backward`] needs, if requested.
    pub tape: Option<Tape>,
}

/// All activations of one pass. When it is dropped, the engine can reuse its memory.
///
/// Any engine of the same architecture may use it for the backward pass.
pub struct Tape {
    architecture: Architecture,
    workspace: Option<Workspace>,
    statistics: Vec<Statistics>,
    running: bool,
    shelf: Arc<Shelf>,
}

impl Drop for Tape {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            self.shelf.put(workspace);
        }
    }
}

impl Engine {
    /// An engine for `architecture` that computes on `machine`.
    ///
    /// # Panics
    /// If a dimension is 0, or a layer does not fit into memory.
    pub fn new(architecture: Architecture, machine: Machine) -> Self {
        let (layers, blocks) = architecture.layers();
        Self { architecture, layers, blocks, machine, shelf: Arc::default(), scratch: Mutex::default() }
    }

    /// The network's dimensions.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The layers, in the order of parameters, statistics and gradients.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Its machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Packs one set of parameters, one [`LayerParameters`] per layer.
    ///
    /// # Panics
    /// If there is not one per layer, or a slice has the wrong length.
    pub fn pack(&self, parameters: &[LayerParameters<'_>]) -> PackedParameters {
        PackedParameters::new(&self.machine, self.architecture, &self.layers, parameters)
    }

    /// A pass over `images` `[n, h, w, c]` with batch statistics. It does not update running statistics:
    /// the caller has them. With `want_backward`, it keeps what [`Engine::backward`] needs.
    ///
    /// # Panics
    /// If `images` is not a whole number of images, at least one, or `parameters` were packed for
    /// another architecture or other instructions.
    pub fn forward_batch(&self, parameters: &PackedParameters, images: &[f32], want_backward: bool) -> Forward {
        self.forward(parameters, None, images, want_backward)
    }

    /// The features `[n, 8 · width]` of `images` `[n, h, w, c]` with running statistics, one
    /// [`Statistics`] per layer.
    ///
    /// # Panics
    /// As [`Engine::forward_batch`], or if `running` does not have these layers and their channels.
    pub fn forward_eval(&self, parameters: &PackedParameters, running: &[Statistics], images: &[f32]) -> Vec<f32> {
        self.forward(parameters, Some(running), images, false).features
    }

    /// As [`Engine::forward_eval`], with a tape: its gradients treat the running statistics as
    /// constants.
    ///
    /// # Panics
    /// As [`Engine::forward_eval`].
    pub fn forward_eval_taped(&self, parameters: &PackedParameters, running: &[Statistics], images: &[f32]) -> Forward {
        self.forward(parameters, Some(running), images, true)
    }

    /// Gradients of every parameter, given `grad_features` `[n, 8 · width]`. `parameters` must be
    /// those of the forward pass. A tape can be used more than once.
    ///
    /// # Panics
    /// If `grad_features` or `parameters` have another length, or the tape is of another
    /// architecture.
    pub fn backward(&self, parameters: &[LayerParameters<'_>], tape: &Tape, grad_features: &[f32]) -> Gradients {
        let mut gradients = Gradients::default();
        self.backward_into(parameters, tape, grad_features, &mut gradients);
        gradients
    }

    /// As [`Engine::backward`], into memory of an earlier pass: new memory costs page faults.
    ///
    /// # Panics
    /// As [`Engine::backward`].
    pub fn backward_into(
        &self,
        parameters: &[LayerParameters<'_>],
        tape: &Tape,
        grad_features: &[f32],
        gradients: &mut Gradients,
    ) {
        assert_eq!(tape.architecture, self.architecture, "a tape is of a network of these dimensions");
        parameters::check(&self.layers, parameters);
        let features = size::floats([tape.batch(), self.architecture.features()]);
        assert_eq!(grad_features.len(), features, "a gradient per feature of {} images", tape.batch());
        let mut scratch = self.take_scratch(tape.batch());
        self.gradients(parameters, tape, grad_features, &mut scratch, gradients);
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }

    fn take_scratch(&self, n: usize) -> Scratch {
        let mut free = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        match free.iter().position(|scratch| scratch.batch() == n) {
            Some(found) => free.swap_remove(found),
            None => Scratch::new(&self.layers, &self.blocks, n),
        }
    }
}
