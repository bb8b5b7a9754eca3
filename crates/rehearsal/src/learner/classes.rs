//! The classes that a learner knows, by name, in order of appearance.

use std::{collections::BTreeSet, sync::Arc};

use super::LearnerError;
use crate::sample::Class;

/// Names by class. The first `seen` have appeared; the rest were declared and have not yet. Some of
/// those that appeared may be retired: they keep their place and are predicted no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    names: Vec<Arc<str>>,
    seen: usize,
    retired: BTreeSet<Class>,
}

impl Classes {
    /// None of these has appeared yet.
    pub fn declared<S: AsRef<str>>(names: &[S]) -> Self {
        Self::restore(names, 0)
    }

    /// As they were saved: `seen` of the names have appeared.
    pub(super) fn restore<S: AsRef<str>>(names: &[S], seen: usize) -> Self {
        let names = names.iter().map(|name| name.as_ref().into()).collect();
        Self { names, seen, retired: BTreeSet::new() }
    }

    /// The same with these retired.
    pub(super) fn with_retired(mut self, retired: &[u16]) -> Self {
        self.retired = retired.iter().map(|&class| Class(class)).filter(|class| class.index() < self.seen).collect();
        self
    }

    /// Every name, declared ones included.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// How many have appeared: they are `0..seen`.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// How many there are, declared ones included.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The class of a name that has appeared.
    pub fn find(&self, name: &str) -> Option<Class> {
        self.names[..self.seen].iter().position(|known| &**known == name).map(|index| Class(index as u16))
    }

    /// Those that appeared and are predicted no more.
    pub fn retired(&self) -> impl Iterator<Item = Class> + '_ {
        self.retired.iter().copied()
    }

    /// Whether a class is predicted no more.
    pub fn is_retired(&self, class: Class) -> bool {
        self.retired.contains(&class)
    }

    /// Those that can be predicted.
    pub fn active(&self) -> impl Iterator<Item = Class> + '_ {
        (0..self.seen).map(|class| Class(class as u16)).filter(|class| !self.is_retired(*class))
    }

    /// What a class is called.
    pub fn name(&self, class: Class) -> &Arc<str> {
        &self.names[class.index()]
    }

    /// Calls a class something else; whether no other is called that.
    pub(super) fn rename(&mut self, class: Class, name: &str) -> bool {
        let free = self.names.iter().all(|known| &**known != name);
        if free {
            self.names[class.index()] = name.into();
        }
        free
    }

    pub(super) fn retire(&mut self, class: Class) {
        self.retired.insert(class);
    }

    /// The class of that name, which appears now if it has not before, or has been retired. None
    /// if there are as many as can be numbered.
    pub fn appear(&mut self, name: &str) -> Option<Class> {
        if let Some(class) = self.find(name) {
            self.retired.remove(&class);
            return Some(class);
        }
        let class = Class(u16::try_from(self.seen).ok()?);
        match self.names[self.seen..].iter().position(|declared| &**declared == name) {
            // Declared ones have no history: whichever appears first takes the next place.
            Some(ahead) => self.names.swap(self.seen, self.seen + ahead),
            None => self.names.insert(self.seen, name.into()),
        }
        self.seen += 1;
        Some(class)
    }
}

/// Refuses names of which two are the same: one of them could not be told from the other.
pub(super) fn check_names<S: AsRef<str>>(names: &[S]) -> Result<(), LearnerError> {
    let mut known = BTreeSet::new();
    match names.iter().map(AsRef::as_ref).find(|name| !known.insert(*name)) {
        Some(twice) => Err(LearnerError::TakenName(twice.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_order_of_appearance() {
        let mut classes = Classes::default();
        assert_eq!(["boots", "clogs", "boots"].map(|name| classes.appear(name).unwrap().0), [0, 1, 0]);
        assert_eq!((classes.seen(), classes.len(), classes.find("clogs")), (2, 2, Some(Class(1))));
        assert_eq!(classes.find("loafers"), None);
    }

    #[test]
    fn declared_names_have_a_place_and_whichever_appears_first_takes_the_next() {
        let mut classes = Classes::declared(&["a", "b", "c"]);
        assert_eq!((classes.seen(), classes.len(), classes.find("a")), (0, 3, None));
        assert_eq!(["a", "c", "b", "d"].map(|name| classes.appear(name).unwrap().0), [0, 1, 2, 3]);
        assert_eq!(classes.names().iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "c", "b", "d"]);
    }

    #[test]
    fn a_retired_class_keeps_its_place_until_it_comes_again() {
        let mut classes = Classes::default();
        assert_eq!(["boots", "clogs", "loafers"].map(|name| classes.appear(name).unwrap().0), [0, 1, 2]);
        classes.retire(Class(1));
        assert_eq!(classes.active().collect::<Vec<_>>(), [Class(0), Class(2)]);
        assert_eq!((classes.seen(), classes.find("clogs")), (3, Some(Class(1))));
        assert!(!classes.rename(Class(0), "clogs") && classes.rename(Class(0), "wellingtons"));
        assert_eq!((&**classes.name(Class(0)), classes.find("boots")), ("wellingtons", None));
        assert_eq!((classes.appear("clogs"), classes.retired().count()), (Some(Class(1)), 0));
    }

    #[test]
    fn there_are_no_more_than_can_be_numbered() {
        let names: Vec<String> = (0..=u16::MAX).map(|class| class.to_string()).collect();
        let mut classes = Classes::restore(&names, names.len());
        assert_eq!(classes.appear("7"), Some(Class(7)));
        assert_eq!(classes.appear("one more"), None);
    }
}
