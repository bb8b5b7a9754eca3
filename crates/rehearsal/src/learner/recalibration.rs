//! Recalibrating: the `BatchNorm` running statistics of the network that predicts, from the memory.
//!
//! What training leaves behind are the statistics of its last dozens of batches: half of them of the
//! newest task, half of what the retrieval chose to replay. Those of images drawn at random from the
//! memory are of all tasks alike. Training never looks at either.

use std::fmt;

use burn::tensor::Tensor;

use super::Learner;
use crate::{
    network::Network,
    rng::RngStream,
    sample::{Slot, to_tensor},
};

/// Images of a batch.
const BATCH: usize = 50;
/// Batches that are drawn; a memory that fills more than these is used whole.
const BATCHES: usize = 20;
/// Statistics of fewer images are those of these images.
const FEWEST: usize = 20;

/// What became of recalibrating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recalibration {
    /// The network that predicts has statistics from the memory.
    Done {
        /// How many images the memory held.
        images: usize,
    },
    /// The memory holds too few images to tell anything: it predicts with what training left.
    TooFewImages {
        /// How many it holds.
        images: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The method keeps no memory: it predicts with what training left.
    NoMemory,
    /// The backbone has no running statistics, or is frozen.
    NoStatistics,
}

impl fmt::Display for Recalibration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Done { images } => {
                write!(f, "the running statistics are recalibrated from the {images} images in memory")
            }
            Self::TooFewImages { images, needed } => write!(
                f,
                "the running statistics are those of training: the memory holds {images} images, \
                 and recalibrating needs at least {needed}"
            ),
            Self::NoMemory => write!(f, "the running statistics are those of training: the method keeps no memory"),
            Self::NoStatistics => write!(f, "the backbone has no running statistics that may change"),
        }
    }
}

/// A network that predicts with statistics from the memory.
#[derive(Clone)]
pub(super) struct Calibrated {
    pub(super) network: Network,
    /// How many images the memory held then.
    pub(super) images: usize,
}

impl Learner {
    /// Recalibrates the running statistics of the network that predicts, from the memory: the plain
    /// average over 20 batches of 50 stored images each, drawn at random, or over all of them once
    /// if there are more than 1,000. Nothing that learns moves: not its parameters, not its
    /// running statistics, not its draws. Kept with the learner and saved in its file until the next
    /// step, which drops it.
    pub fn recalibrate(&mut self) -> Recalibration {
        self.calibrated = None;
        let images = self.memory.len();
        if self.memory.capacity() == 0 {
            return Recalibration::NoMemory;
        }
        if images < FEWEST {
            return Recalibration::TooFewImages { images, needed: FEWEST };
        }
        let network = self.method.predictor(&self.network);
        let device = network.device().without_autodiff();
        let batch = |slots: Vec<Slot>| -> Tensor<4> {
            let image = |slot: &Slot| &*self.memory.slots()[slot.0].sample.image;
            to_tensor(slots.iter().map(image), self.shape, &device)
        };
        let calibrated = network.calibrated(self.calibration_batches().into_iter().map(batch));
        self.calibrated = calibrated.map(|network| Calibrated { network, images });
        if self.calibrated.is_some() { Recalibration::Done { images } } else { Recalibration::NoStatistics }
    }

    /// From how many stored images the network that predicts was recalibrated; none if it was not.
    pub fn calibration_images(&self) -> Option<usize> {
        self.calibrated.as_ref().map(|calibrated| calibrated.images)
    }

    /// The network that predicts, with the statistics that it predicts with.
    pub(crate) fn predictor(&self) -> &Network {
        match &self.calibrated {
            Some(calibrated) => &calibrated.network,
            None => self.method.predictor(&self.network),
        }
    }

    /// The slots of each batch that the statistics are estimated from.
    fn calibration_batches(&self) -> Vec<Vec<Slot>> {
        let rng = &mut self.rng(RngStream::Calibration);
        let images = self.memory.len();
        match images {
            // Every draw would be the whole memory.
            _ if images <= BATCH => vec![self.memory.draw(images, rng)],
            _ if images <= BATCH * BATCHES => (0..BATCHES).map(|_| self.memory.draw(BATCH, rng)).collect(),
            _ => {
                let (all, batches) = (self.memory.draw(images, rng), images.div_ceil(BATCH));
                let end = |batch: usize| batch * images / batches;
                (0..batches).map(|batch| all[end(batch)..end(batch + 1)].to_vec()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
