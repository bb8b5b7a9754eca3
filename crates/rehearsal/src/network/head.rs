//! From features to logits: a linear layer, or the cosine to one proxy per class.

use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

use serde::{Deserialize, Serialize};

use super::xavier;
use crate::rng::{Rng, RngStream};

/// Added to the norms of features and proxies, so that a zero vector has a direction: none.
const EPSILON: f64 = 1e-6;

/// Which head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
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
    pub(super) fn new(kind: HeadKind, features: usize, classes: usize, rng: &mut Rng, device: &Device) -> Self {
        let weight = Param::from_tensor(xavier([classes, features], classes + features, rng, device));
        match kind {
            HeadKind::Linear => {
                Self::Linear(Linear { weight, bias: Param::from_tensor(Tensor::zeros([classes], device)) })
            }
            HeadKind::Proxies { temperature } => Self::Proxies(Proxies { proxies: weight, temperature }),
        }
    }

    /// How many classes it has.
    pub fn classes(&self) -> usize {
        self.rows().dims()[0]
    }

    /// Makes room for `classes` classes. Row `k` is drawn from a stream of its own, made of `seed`
    /// and `k`, so that it does not depend on when or with how many others it came.
    pub(super) fn grow(&mut self, classes: usize, seed: u64) {
        let (known, device) = (self.classes(), self.device());
        let features = self.rows().dims()[1];
        let row = |class: usize| -> Tensor<2> {
            let mut rng = Rng::new(seed, RngStream::NewClass, &[class as u64]);
            xavier([1, features], class + 1 + features, &mut rng, &device)
        };
        let rows: Vec<Tensor<2>> = (known..classes).map(row).collect();
        if !rows.is_empty() {
            self.append(Tensor::cat(rows, 0));
        }
    }

    /// Makes room for the classes that `other` has and this one lacks, and copies their rows.
    pub(super) fn take_new_classes(&mut self, other: &Self) {
        let (known, classes) = (self.classes(), other.classes());
        if known < classes {
            self.append(other.rows().val().without_autodiff().narrow(0, known, classes - known));
        }
    }

    /// Puts rows `[n, d]` below the others.
    fn append(&mut self, rows: Tensor<2>) {
        let rows = rows.without_autodiff();
        let new = rows.dims()[0];
        match self {
            Self::Linear(Linear { weight, bias }) => {
                *bias = appended(bias, Tensor::zeros([new], &rows.device()));
                *weight = appended(weight, rows);
            }
            Self::Proxies(head) => head.proxies = appended(&head.proxies, rows),
        }
    }

    /// One row per class, `[K, d]`.
    fn rows(&self) -> &Param<Tensor<2>> {
        match self {
            Self::Linear(linear) => &linear.weight,
            Self::Proxies(head) => &head.proxies,
        }
    }

    /// Features `[n, d]` to logits `[n, K]`.
    pub fn logits(&self, features: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Linear(linear) => features.matmul(linear.weight.val().transpose()) + linear.bias.val().unsqueeze(),
            Self::Proxies(head) => cosines(features, head.proxies.val()) / head.temperature,
        }
    }

    /// The proxies `[K, d]`, if the head has them.
    pub fn proxies(&self) -> Option<Tensor<2>> {
        match self {
            Self::Linear(_) => None,
            Self::Proxies(head) => Some(head.proxies.val()),
        }
    }

    pub(super) fn device(&self) -> Device {
        self.rows().val().device()
    }
}

/// A parameter with more values along its first axis, as trainable as it was.
fn appended<const D: usize>(parameter: &Param<Tensor<D>>, more: Tensor<D>) -> Param<Tensor<D>> {
    let value = parameter.val();
    let (autodiff, trainable) = (value.is_autodiff(), value.is_require_grad());
    let value = Tensor::cat(vec![value.without_autodiff(), more], 0);
    let value = if autodiff { Tensor::from_inner(value) } else { value };
    Param::initialized(parameter.id, if trainable { value.require_grad() } else { value })
}

/// Rows `[n, d]` and `[k, d]` to their cosines `[n, k]`.
pub(crate) fn cosines(rows: Tensor<2>, others: Tensor<2>) -> Tensor<2> {
    direction(rows).matmul(direction(others).transpose())
}

/// Every row divided by its length, ε added.
fn direction(rows: Tensor<2>) -> Tensor<2> {
    let lengths = length(rows.clone()) + EPSILON;
    rows / lengths
}

/// The length of every row `[n, d]`: `[n, 1]`.
fn length(rows: Tensor<2>) -> Tensor<2> {
    // The clamp keeps the root's derivative finite at zero; it is far below what ε lets matter.
    rows.square().sum_dim(1).clamp_min(1e-24).sqrt()
}
