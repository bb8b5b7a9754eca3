//! Evaluation: the predictions of a version for a folder of photos.

mod page;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    AllUnsure, Input, ModelError, Picture, Score, Seen, Verdict, Version,
    folder::{FolderNotice, FolderPart, FolderReader},
};

/// Photos that are predicted at once.
const AT_ONCE: usize = 256;

/// The predictions of a version for every photo of a folder.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The folder.
    pub folder: PathBuf,
    /// The classes that can be predicted.
    pub classes: Vec<String>,
    /// The photos.
    pub photos: Vec<Judged>,
    /// The probability below which an answer is unsure.
    pub threshold: Option<f64>,
    /// Why every answer is unsure, if so.
    pub all_unsure: Option<AllUnsure>,
    /// How many of the photos the version has learned from.
    pub learned: usize,
}

/// A photo, its class and the predicted one, as indices into the list of classes.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its file.
    pub path: PathBuf,
    /// Its class.
    pub class: usize,
    /// The predicted class.
    pub predicted: usize,
    /// The probability of the predicted class.
    pub probability: f32,
    /// How far to trust the prediction.
    pub verdict: Verdict,
    picture: Picture,
}

impl Judged {
    /// Whether the prediction is right.
    pub fn is_right(&self) -> bool {
        self.class == self.predicted
    }
}

impl Evaluation {
    /// Evaluates a version on the photos of a folder.
    ///
    /// # Errors
    /// The folder has no photos of known classes, or one cannot be read.
    pub fn new(version: &Version, folder: &Path, reader: &mut FolderReader) -> Result<Self, ModelError> {
        let classes: Vec<String> = version.classes().iter().map(ToString::to_string).collect();
        let numbers: BTreeMap<&str, usize> = classes.iter().map(String::as_str).zip(0..).collect();
        let index = |name: &str| numbers.get(name).copied();
        let found = reader.scan(folder, FolderPart::Test)?;
        let unknown: BTreeSet<String> =
            found.iter().filter(|photo| index(&photo.class).is_none()).map(|photo| photo.class.clone()).collect();
        if !unknown.is_empty() {
            (reader.notice)(&FolderNotice::UnknownClasses(unknown));
        }
        let (paths, labels): (Vec<PathBuf>, Vec<usize>) =
            found.into_iter().filter_map(|photo| Some((photo.path, index(&photo.class)?))).unzip();
        let seen = reader.read(&paths, &version.reader()?)?;
        let read: Vec<_> =
            paths.into_iter().zip(labels).zip(seen).filter_map(|(photo, seen)| Some((photo, seen?))).collect();
        if read.is_empty() {
            return Err(ModelError::NoKnownPhotos);
        }
        let learned = read.iter().filter(|(_, seen)| version.has_learned(seen.digest)).count();
        if learned > 0 {
            (reader.notice)(&FolderNotice::Learned { photos: learned, of: read.len() });
        }
        let (photos, threshold, all_unsure) = (judged(version, read)?, version.threshold(), version.all_unsure());
        Ok(Self { folder: folder.into(), classes, photos, threshold, all_unsure, learned })
    }

    /// The accuracy over the photos that `which` selects.
    pub fn score(&self, which: impl Fn(&Judged) -> bool) -> Score {
        let of = self.photos.iter().filter(|photo| which(photo));
        of.fold(Score::default(), |score, photo| Score {
            right: score.right + usize::from(photo.is_right()),
            total: score.total + 1,
        })
    }

    /// Of the photos of a class, how many were predicted as it.
    pub fn recall(&self, class: usize) -> Score {
        self.score(|photo| photo.class == class)
    }

    /// Of the photos predicted as a class, how many are of it.
    pub fn precision(&self, class: usize) -> Score {
        self.score(|photo| photo.predicted == class)
    }

    /// The threshold, and the accuracy of the answers that are sure.
    pub fn sure(&self) -> Option<(f64, Score)> {
        let threshold = self.threshold?;
        Some((threshold, self.score(|photo| photo.verdict == Verdict::Sure)))
    }

    /// The confusion matrix: rows are classes, columns are predictions.
    pub fn confusion(&self) -> Vec<Vec<usize>> {
        let mut table = vec![vec![0; self.classes.len()]; self.classes.len()];
        self.photos.iter().for_each(|photo| table[photo.class][photo.predicted] += 1);
        table
    }

    /// The class that a class is mistaken for most, and how often.
    pub fn mistaken_most(&self, class: usize) -> Option<(&str, usize)> {
        let mut others: BTreeMap<usize, usize> = BTreeMap::new();
        for photo in self.photos.iter().filter(|photo| photo.class == class && !photo.is_right()) {
            *others.entry(photo.predicted).or_default() += 1;
        }
        let most = others.into_iter().max_by_key(|(other, count)| (*count, Reverse(*other)));
        most.map(|(other, count)| (self.classes[other].as_str(), count))
    }

    /// Writes an HTML page with the photos that were predicted wrong; `title` names the model. Returns
    /// the path of the page.
    ///
    /// # Errors
    /// The directory holds something else, or cannot be written.
    pub fn write_page(&self, title: &str, place: &Path) -> Result<PathBuf, ModelError> {
        page::write(self, title, place)
    }
}

/// Predicts photos of known classes a few at a time: a prediction has a probability for every class.
fn judged(version: &Version, photos: Vec<((PathBuf, usize), Seen)>) -> Result<Vec<Judged>, ModelError> {
    let numbers: BTreeMap<Arc<str>, usize> = version.classes().into_iter().zip(0..).collect();
    let mut judged = Vec::with_capacity(photos.len());
    let mut photos = photos.into_iter();
    loop {
        let (some, inputs): (Vec<_>, Vec<Input>) = (photos.by_ref().take(AT_ONCE))
            .map(|((path, class), Seen { input, picture, .. })| ((path, class, picture), input))
            .unzip();
        if some.is_empty() {
            return Ok(judged);
        }
        let predictions = version.predict(&inputs)?;
        judged.extend(some.into_iter().zip(predictions).map(|((path, class, picture), prediction)| Judged {
            path,
            class,
            predicted: *numbers.get(&prediction.class).expect("only active classes are predicted"),
            probability: prediction.probability,
            verdict: version.verdict(&prediction, None),
            picture,
        }));
    }
}

#[cfg(test)]
#[cfg(feature = "scratch")]
mod tests {
    use super::*;
    use crate::test_photos::{learn, write_folder};

    #[test]
    fn an_evaluation_counts_what_was_mistaken_and_which_photos_were_learned() {
        let place = tempfile::tempdir().unwrap();
        let model = learn(place.path(), &["a", "b"], 6);
        let (folder, mut notices) = (place.path().join("test"), Vec::new());
        write_folder(&folder, &["a", "b", "c"], 8);
        let mut notice = |notice: &FolderNotice| notices.push(notice.clone());
        let mut reader = FolderReader { follow_links: false, skip_bad: false, progress: &(), notice: &mut notice };
        let version = model.current().unwrap();
        let evaluation = Evaluation::new(&version, &folder, &mut reader).unwrap();
        let unknown = FolderNotice::UnknownClasses(["c".to_owned()].into());
        let learned = version.learned();
        assert_eq!(notices, [unknown, FolderNotice::Learned { photos: learned, of: 16 }], "the same files");
        assert_eq!((evaluation.photos.len(), evaluation.learned), (16, learned));
        let confusion = evaluation.confusion();
        assert_eq!(confusion.iter().map(|row| row.iter().sum()).collect::<Vec<usize>>(), [8, 8]);
        assert_eq!(confusion[0][0] + confusion[1][1], evaluation.score(|_| true).right);
        for (class, other) in [(0, 1), (1, 0)] {
            let expected = (confusion[class][other] > 0).then(|| (["a", "b"][other], confusion[class][other]));
            assert_eq!(evaluation.mistaken_most(class), expected);
        }
        let page = evaluation.write_page("m, version 1", &place.path().join("page")).unwrap();
        let page = std::fs::read_to_string(page).unwrap();
        assert_eq!(page.matches("<figure>").count(), confusion[0][1] + confusion[1][0]);
        let taken = evaluation.write_page("m", place.path());
        assert!(matches!(taken, Err(ModelError::Occupied(_))), "{taken:?}");
    }
}
