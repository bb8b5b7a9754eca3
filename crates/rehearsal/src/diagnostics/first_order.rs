//! Whether the change of loss that a sample was picked by goes with what its gradient and the batch's
//! make of it to first order, −lr·⟨g, gₓ⟩.

use rehearsal_measure::{pearson, spearman};
use rehearsal_runs::Correlation;
use serde::{Deserialize, Serialize};

use crate::retrieval::Side;

/// Pairs of a change of loss, as it was scored, and what it is to first order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FirstOrder {
    high: Vec<(f64, f64)>,
    low: Vec<(f64, f64)>,
}

impl FirstOrder {
    /// Notes a pair; NaN is skipped.
    pub(super) fn add(&mut self, side: Side, loss_change: f32, first_order: f64) {
        let pair = (f64::from(loss_change), first_order);
        if pair.0.is_finite() && pair.1.is_finite() {
            match side {
                Side::High => self.high.push(pair),
                Side::Low => self.low.push(pair),
            }
        }
    }

    /// Over the samples of one side; nothing if there are none.
    pub(super) fn of(&self, side: Side) -> Option<Correlation> {
        match side {
            Side::High => correlation(&self.high),
            Side::Low => correlation(&self.low),
        }
    }

    /// Over those of both sides.
    pub(super) fn both(&self) -> Option<Correlation> {
        correlation(&[&self.high[..], &self.low].concat())
    }
}

fn correlation(pairs: &[(f64, f64)]) -> Option<Correlation> {
    let (changes, first_orders): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (pearson, spearman) = (pearson(&changes, &first_orders), spearman(&changes, &first_orders));
    (!pairs.is_empty()).then_some(Correlation { n: pairs.len() as u64, pearson, spearman })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_apart_and_taken_together() {
        let mut pairs = FirstOrder::default();
        for (change, first_order) in [(3.0, 0.3), (2.0, 0.2), (f32::NAN, 1.0)] {
            pairs.add(Side::High, change, first_order);
        }
        assert_eq!(pairs.of(Side::Low), None);
        pairs.add(Side::Low, -1.0, -9.0);
        let both = pairs.both().unwrap();
        assert_eq!((both.n, pairs.of(Side::High).unwrap().n), (3, 2));
        assert!((both.spearman.unwrap() - 1.0).abs() < 1e-12 && both.pearson.unwrap() < 0.99);
        assert_eq!(pairs.of(Side::Low), Some(Correlation { n: 1, pearson: None, spearman: None }));
    }
}
