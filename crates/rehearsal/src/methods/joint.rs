//! Joint training: the data of all tasks at once, for as many passes as the tasks would have had
//! one after another. Nothing can be forgotten: the upper bound of every table.

use super::{FineTune, Method, Objective, StepBatch};
use crate::network::Network;

/// See the module. What makes it joint is the stream: one task of all classes.
#[derive(Clone, Copy, Debug)]
pub struct Joint;

impl Method for Joint {
    fn objective(&mut self, network: &mut Network, batch: &StepBatch) -> Objective {
        FineTune.objective(network, batch)
    }
}
