//! Splits a data set into training and test images, if it has no split.

use sha2::{Digest, Sha256};

/// Published results depend on it: never change it.
const SEED: &[u8] = b"rehearsal split 1 ";

/// How many images of a class are for testing: one of `share`, at least one if there are two.
pub(crate) fn tests_of(images: usize, share: usize) -> usize {
    (images / share).max(usize::from(images > 1))
}

/// For each of the `names` of one class, whether it is a test image. Names are ordered by the SHA-256
/// of a fixed seed and the name, and the first are for testing: the choice does not depend on the
/// order of the list, the machine or other classes.
pub(crate) fn seeded(names: &[String], share: usize) -> Vec<bool> {
    let digest = |name: &String| -> [u8; 32] { Sha256::new().chain_update(SEED).chain_update(name).finalize().into() };
    let mut order: Vec<([u8; 32], usize)> = names.iter().enumerate().map(|(i, name)| (digest(name), i)).collect();
    order.sort_unstable();
    let tests = tests_of(names.len(), share);
    let mut test = vec![false; names.len()];
    for &(_, index) in &order[..tests] {
        test[index] = true;
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_depends_only_on_names() {
        let names: Vec<String> = (0..600).map(|i| format!("n01/{i}.jpg")).collect();
        let test = seeded(&names, 6);
        assert_eq!(test.iter().filter(|&&test| test).count(), 100);
        let reversed: Vec<String> = names.iter().rev().cloned().collect();
        let mut again = seeded(&reversed, 6);
        again.reverse();
        assert_eq!(test, again);
        assert_eq!(seeded(&names[..1], 5), [false], "a lone image is for training");
        assert_eq!(seeded(&names[..2], 5).iter().filter(|&&test| test).count(), 1);
    }

    /// If this fails, results of earlier versions on seeded splits no longer reproduce.
    #[test]
    fn the_choice_does_not_change_between_versions() {
        let names: Vec<String> = (0..10).map(|i| format!("class/{i}.png")).collect();
        let test: Vec<usize> = seeded(&names, 5).iter().enumerate().filter_map(|(i, &t)| t.then_some(i)).collect();
        assert_eq!(test, [1, 9], "as Python's hashlib orders them too");
    }
}
