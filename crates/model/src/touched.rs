//! What a removal touches: which photos, of which classes, in which versions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{Digest, Model, ModelError, Version, version::Kind};

/// A photo that is removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touched {
    /// Its class, as the current version calls it, else the newest that has it.
    pub class: String,
    /// The path that it came from; none if no version remembers it.
    pub source: Option<String>,
    /// The versions that have it.
    pub versions: Vec<u32>,
}

/// Class and path of a photo, in each version that has it.
type Named = BTreeMap<u32, (Arc<str>, Option<String>)>;

impl Model {
    /// What removing some photos touches, in order of classes and paths.
    ///
    /// # Errors
    /// A version cannot be read.
    pub(crate) fn touched(&self, photos: &BTreeSet<Digest>) -> Result<Vec<Touched>, ModelError> {
        let mut named: BTreeMap<Digest, Named> = BTreeMap::new();
        for number in self.versions() {
            for (digest, about) in self.version(number)?.known_of(photos) {
                named.entry(digest).or_default().insert(number, about);
            }
        }
        let current = self.settings().current;
        let touched = |versions: Named| {
            let newest = versions.get(&current).or_else(|| versions.values().next_back());
            let class = newest.map(|(class, _)| class.to_string()).unwrap_or_default();
            let own = newest.and_then(|(_, source)| source.clone());
            let source = own.or_else(|| versions.values().rev().find_map(|(_, source)| source.clone()));
            Touched { class, source, versions: versions.into_keys().collect() }
        };
        let mut touched: Vec<Touched> = named.into_values().map(touched).collect();
        touched.sort();
        Ok(touched)
    }
}

impl Version {
    /// Those of some photos that it holds or can unlearn, with their classes, and paths if it holds them.
    fn known_of(&self, photos: &BTreeSet<Digest>) -> BTreeMap<Digest, (Arc<str>, Option<String>)> {
        let mut known: BTreeMap<Digest, (Arc<str>, Option<String>)> = match &self.kind {
            Kind::Exact(exact) => {
                let class = |digest: &Digest| Some((*digest, (Arc::clone(exact.class_of(*digest)?), None)));
                photos.iter().filter_map(class).collect()
            }
            #[cfg(feature = "scratch")]
            Kind::Scratch(_) => BTreeMap::new(),
        };
        let held = self.held().into_iter().filter(|held| photos.contains(&held.digest));
        known.extend(held.map(|held| (held.digest, (held.class, Some(held.source)))));
        known
    }
}
