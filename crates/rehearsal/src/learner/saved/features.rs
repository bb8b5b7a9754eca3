//! Features that are kept with stored samples, as arrays of a file: one row for each slot, and how
//! many steps had been taken when it was computed, plus one; zeros where a slot has none.

use safetensors::Dtype;

use super::floats;
use crate::{
    memory::{KeptFeatures, Memorized},
    model_file::ArrayToWrite,
    network::State,
};

pub(super) const FEATURES: &str = "memory.features";
pub(super) const STEPS: &str = "memory.feature_steps";

/// The arrays of these slots; none where no slot keeps features.
pub(super) fn arrays(slots: &[Memorized]) -> Vec<ArrayToWrite<'_>> {
    let kept = |stored: &Memorized| stored.features.as_ref().map(|kept| kept.values.len());
    let Some(size) = slots.iter().find_map(kept) else { return Vec::new() };
    let row =
        move |stored: &Memorized| stored.features.as_ref().map_or_else(|| vec![0.0; size], |kept| kept.values.to_vec());
    let step = |stored: &Memorized| stored.features.as_ref().map_or(0, |kept| kept.step + 1);
    let steps: Vec<u8> = slots.iter().flat_map(|stored| step(stored).to_le_bytes()).collect();
    let (name, dtype, shape) = (STEPS.to_owned(), Dtype::U64, vec![slots.len()]);
    vec![
        floats(FEATURES.into(), vec![slots.len(), size], slots.iter().map(row)),
        ArrayToWrite { name, dtype, shape, pieces: Box::new(std::iter::once(steps)) },
    ]
}

/// Gives these slots the features of a file: `size` of them each, none of them from after `now`.
pub(super) fn restore(
    slots: &mut [Memorized],
    floats: &State,
    steps: &[u64],
    size: usize,
    now: u64,
) -> Result<(), String> {
    if steps.is_empty() {
        return Ok(());
    }
    let rows = floats.array(FEATURES, &[slots.len(), size]).map_err(|error| error.to_string())?;
    if steps.len() != slots.len() || steps.iter().any(|&step| step > now.saturating_add(1)) {
        return Err("the features of its memory are not of its steps".into());
    }
    for (index, (stored, &step)) in slots.iter_mut().zip(steps).enumerate() {
        let values = || rows.values[index * size..][..size].into();
        stored.features = step.checked_sub(1).map(|step| KeptFeatures { values: values(), step });
    }
    Ok(())
}
