//! Taking images away: from the memory, from the exam, and from every version that is kept. What
//! was learned from them stays in the weights.

use std::collections::BTreeSet;

use rehearsal::sample::Class;

use crate::{Digest, Event, Model, ModelError, Pattern, Version, learn::recalibrate};

/// Which images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// Those whose path fits.
    Source(Pattern),
    /// Those of a class.
    Class(String),
}

/// How many were taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Different images, over all versions.
    pub images: usize,
    /// Of the memory of the version that is used.
    pub memory: usize,
    /// Of its exam.
    pub exam: usize,
    /// Versions that were written again.
    pub versions: usize,
}

impl Model {
    /// Which images of the version that is used would be taken away, as (class, path).
    ///
    /// # Errors
    /// The version cannot be read.
    pub fn would_forget(&self, what: &Forget) -> Result<Vec<(String, String)>, ModelError> {
        let version = self.current()?;
        let classes = version.learner.classes();
        let name = |class: Class| classes.name(class).to_string();
        let memory = version.memory().map(|(class, _, source)| (class, source.to_owned()));
        let exam = version.exam.questions().iter().map(|question| (question.class, question.source.clone()));
        let fitting = memory.chain(exam).filter(|(class, source)| what.fits(&version, *class, source));
        Ok(fitting.map(|(class, source)| (name(class), source)).collect())
    }

    /// Takes images away from every version that is kept. Interrupted, it can be asked for again.
    ///
    /// # Errors
    /// A version cannot be read or written.
    pub fn forget(&mut self, what: &Forget) -> Result<Forgotten, ModelError> {
        let mut forgotten = Forgotten::default();
        let mut images = BTreeSet::new();
        // What was being learned may hold them, too: it begins anew.
        self.end_learning();
        // Of a process that was killed, this one finishes the work.
        let is_unsettled = self.settings().is_unsettled();
        let mut checksums = Vec::new();
        for number in self.versions() {
            let mut version = self.version(number)?;
            let gone = forget_in(&mut version, what);
            if !gone.is_empty() {
                if number == self.settings().current {
                    (forgotten.memory, forgotten.exam) = (gone.memory, gone.exam);
                }
                self.rewrite(number, &mut version)?;
                forgotten.versions += 1;
                images.extend(gone.digests);
            }
            checksums.push((number, version.sha256));
        }
        forgotten.images = images.len();
        if forgotten.versions > 0 || is_unsettled {
            let mut settings = self.settings().clone();
            checksums.iter().for_each(|(number, sha256)| settings.vouch_for(*number, sha256));
            self.change(settings, Event::Removed { images: forgotten.images })?;
        }
        Ok(forgotten)
    }
}

#[derive(Default)]
struct Gone {
    digests: BTreeSet<Digest>,
    memory: usize,
    exam: usize,
}

impl Gone {
    fn is_empty(&self) -> bool {
        self.memory + self.exam == 0
    }
}

impl Forget {
    fn fits(&self, version: &Version, class: Class, source: &str) -> bool {
        match self {
            Self::Source(pattern) => pattern.fits(source),
            Self::Class(name) => version.learner.classes().find(name) == Some(class),
        }
    }
}

fn forget_in(version: &mut Version, what: &Forget) -> Gone {
    let mut gone = Gone::default();
    let stored: Vec<bool> = version.memory().map(|(class, _, source)| what.fits(version, class, source)).collect();
    let asked = version.exam.questions().iter();
    let asked: BTreeSet<Digest> =
        asked.filter(|q| what.fits(version, q.class, &q.source)).map(|question| question.digest).collect();
    let mut stored = stored.into_iter();
    gone.memory = version.learner.forget(|memorized| {
        let goes = stored.next().unwrap_or(false);
        if goes {
            gone.digests.insert(Digest::of(&memorized.sample.image));
        }
        goes
    });
    gone.exam = version.exam.remove(|question| asked.contains(&question.digest));
    for digest in &gone.digests {
        version.learned.remove(digest);
        version.sources.remove(digest);
    }
    gone.digests.extend(asked);
    if gone.memory > 0 {
        recalibrate(&mut version.learner);
    }
    gone
}
