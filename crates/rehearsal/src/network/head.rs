//! From features to class scores: a linear layer, or the cosine to one proxy per class.

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use super::{
    state::{State, StateError},
    xavier,
};
use crate::chance::Chance;

/// Added to the norms of features and proxies, so that a zero vector has a direction: none.
const EPSILON: f64 = 1e-6;

/// Which head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeadKind {
    /// W f + b.
    Linear,
    /// Cosine to a proxy per class, divided by the temperature τ.
    Proxies {
        /// τ.
        temperature: f64,
    },
}

/// A head over all classes.
#[derive(Module, Debug)]
pub enum Head {
    /// See [`HeadKind::Linear`].
    Linear(Linear),
    /// See [`HeadKind::Proxies`].
    Proxies(Proxies),
}

/// W f + b.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[K, d]`.
    weight: Param<Tensor<2>>,
    /// `[K]`.
    bias: Param<Tensor<1>>,
}

/// `⟨f/(‖f‖+ε), p_c/(‖p_c‖+ε)⟩/τ`.
#[derive(Module, Debug)]
pub struct Proxies {
    /// `[K, d]`.
    proxies: Param<Tensor<2>>,
    temperature: f64,
}

impl Head {
    pub(super) fn new(kind: HeadKind, features: usize, classes: usize, chance: &mut Chance, device: &Device) -> Self {
        let weight = Param::from_tensor(xavier([classes, features], classes + features, chance, device));
        match kind {
            HeadKind::Linear => {
                Self::Linear(Linear { weight, bias: Param::from_tensor(Tensor::zeros([classes], device)) })
            }
            HeadKind::Proxies { temperature } => Self::Proxies(Proxies { proxies: weight, temperature }),
        }
    }

    /// Features `[n, d]` to scores `[n, K]`.
    pub fn logits(&self, features: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Linear(linear) => features.matmul(linear.weight.val().transpose()) + linear.bias.val().unsqueeze(),
            Self::Proxies(head) => cosines(features, head.proxies.val()) / head.temperature,
        }
    }

    /// The proxies `[K, d]`, where the head has them.
    pub fn proxies(&self) -> Option<Tensor<2>> {
        match self {
            Self::Linear(_) => None,
            Self::Proxies(head) => Some(head.proxies.val()),
        }
    }

    pub(super) fn save(&self, state: &mut State) {
        match self {
            Self::Linear(linear) => {
                state.save("head.weight", &linear.weight.val());
                state.save("head.bias", &linear.bias.val());
            }
            Self::Proxies(head) => state.save("head.proxies", &head.proxies.val()),
        }
    }

    pub(super) fn load(&mut self, state: &State) -> Result<(), StateError> {
        match self {
            Self::Linear(linear) => {
                state.load_parameter("head.weight", &mut linear.weight)?;
                state.load_parameter("head.bias", &mut linear.bias)
            }
            Self::Proxies(head) => state.load_parameter("head.proxies", &mut head.proxies),
        }
    }

    pub(super) fn device(&self) -> Device {
        match self {
            Self::Linear(linear) => linear.weight.val().device(),
            Self::Proxies(head) => head.proxies.val().device(),
        }
    }
}

/// Rows `[n, d]` and `[k, d]` to their cosines `[n, k]`.
pub(crate) fn cosines(rows: Tensor<2>, others: Tensor<2>) -> Tensor<2> {
    direction(rows).matmul(direction(others).transpose())
}

/// Every row divided by its length, ε added.
fn direction(rows: Tensor<2>) -> Tensor<2> {
    // The clamp keeps the root's derivative finite at zero; it is far below what ε lets matter.
    let lengths = rows.clone().square().sum_dim(1).clamp_min(1e-24).sqrt() + EPSILON;
    rows / lengths
}
