//! A session of photos for a network that is trained from scratch.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use rehearsal::learner::{Defaults, machine_memory};
use rehearsal_data::{ImageShape, photos};

use super::{Photo, Session};
use crate::{FolderReader, Input, InputReader, Model, ModelError, Seen, SessionOptions, folder::ClassCount};

/// How many photos are looked at to choose the size of a new model.
const LOOKED_AT: usize = 9;

impl FolderReader<'_> {
    /// A session with default settings, of all photos in `folders`. `size` is the height and width for
    /// a new model; without it, the photos decide.
    ///
    /// # Errors
    /// There are no photos, one cannot be read, the names of folders are refused, or the model has another size.
    pub fn session(
        &mut self,
        model: &Model,
        folders: &[PathBuf],
        size: Option<usize>,
        options: SessionOptions,
    ) -> Result<Session, ModelError> {
        let found = self.find(folders)?;
        let current = if model.is_empty() { None } else { Some(model.current()?) };
        let known = current.iter().flat_map(|version| version.classes()).collect::<Vec<_>>();
        options.names.check(&found, model, &known)?;
        let shape = match (&current, size) {
            (Some(version), size) => {
                let shape = square(version.size());
                if let Some(asked) = size.filter(|size| *size != shape.height) {
                    let (is, asked) = (shape.height.to_string(), asked.to_string());
                    return Err(ModelError::Fixed { setting: "size".into(), is, asked });
                }
                shape
            }
            (None, size) => square(size.unwrap_or_else(|| Defaults::size(short_side(&found).unwrap_or(usize::MAX)))),
        };
        let paths: Vec<&Path> = found.iter().map(|photo| photo.path.as_path()).collect();
        check_room(paths.len(), shape, machine_memory())?;
        let read = self.read(&paths, &InputReader::Pixels(shape))?;
        let photo = |(photo, seen): (photos::Photo, Option<Seen>)| {
            let Seen { digest, input: Input::Pixels(image), .. } = seen? else { return None };
            Some(Photo { class: photo.class, source: photo.path.display().to_string(), image, digest })
        };
        let photos: Vec<Photo> = found.into_iter().zip(read).filter_map(photo).collect();
        let mut classes = ClassCount::default();
        photos.iter().for_each(|photo| classes.add(&photo.class));
        self.describe(&classes, shape.height, &known, |class| {
            let before = current.as_ref().and_then(|version| version.photos_of(class)).unwrap_or_default();
            let new = photos.iter().filter(|photo| photo.class == class).map(|photo| photo.digest);
            before.into_iter().chain(new).collect::<BTreeSet<_>>().len()
        });
        Ok(Session { options, ..Session::new(photos, shape) })
    }
}

/// Images in colour of that height and width.
fn square(size: usize) -> ImageShape {
    ImageShape { height: size, width: size, channels: 3 }
}

/// The median of the short sides of some photos.
fn short_side(found: &[photos::Photo]) -> Option<usize> {
    let every = (found.len() / LOOKED_AT).max(1);
    let side = |photo: &photos::Photo| photos::size(&photo.path).ok().map(|(height, width)| height.min(width));
    let mut sides: Vec<usize> = found.iter().step_by(every).filter_map(side).collect();
    sides.sort_unstable();
    sides.get(sides.len() / 2).copied()
}

/// Refuses more photos than fit into memory.
fn check_room(photos: usize, shape: ImageShape, available: Option<u64>) -> Result<(), ModelError> {
    let needed = photos as f64 * shape.bytes() as f64;
    match available.map(|bytes| bytes as f64).filter(|available| needed > *available) {
        None => Ok(()),
        Some(available) => Err(ModelError::TooManyPhotos { photos, shape, needed, available }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, FolderNotice, test_photos::write_folder};

    #[test]
    fn photos_that_do_not_fit_are_refused_with_the_estimate() {
        check_room(1000, square(48), Some(1 << 30)).unwrap();
        check_room(usize::MAX, square(48), None).unwrap();
        let why = check_room(10_000, square(1024), Some(16_000_000_000)).unwrap_err().to_string();
        assert!(why.contains("31.5 GB") && why.contains("16.0 GB"), "{why}");
    }

    #[test]
    fn the_training_part_is_read_and_bad_photos_are_refused_or_left_out() {
        let place = tempfile::tempdir().unwrap();
        for part in ["data/train", "data/test"] {
            write_folder(&place.path().join(part), &["a", "b"], 3);
        }
        std::fs::write(place.path().join("data/train/a/bad.png"), "no image").unwrap();
        let model = Model::open_or_create(&place.path().join("m")).unwrap();
        let read = |skip_bad: bool| {
            let mut notices = Vec::new();
            let mut notice = |notice: &FolderNotice| notices.push(notice.clone());
            let mut reader = FolderReader { follow_links: false, skip_bad, progress: &(), notice: &mut notice };
            let session = reader.session(&model, &[place.path().join("data")], None, SessionOptions::default());
            (session, notices)
        };
        let (refused, _) = read(false);
        assert!(matches!(refused, Err(ModelError::UnreadablePhotos { count: 1, .. })), "{refused:?}");
        let (session, notices) = read(true);
        let session = session.unwrap();
        assert_eq!((session.photos.len(), session.shape), (6, square(16)), "small photos grow");
        assert_eq!(notices[0], FolderNotice::Part(place.path().join("data/train")));
        assert!(matches!(&notices[1], FolderNotice::Unreadable { photos, left_out: true } if photos.len() == 1));
        assert_eq!(notices[2], FolderNotice::Read { images: 6, classes: 2, size: 16 });
        assert_eq!(notices[3], FolderNotice::FewImages(vec![("a".into(), 3), ("b".into(), 3)]));
        let file = std::fs::read(place.path().join("data/train/a/00.png")).unwrap();
        assert_eq!(session.photos[0].digest, Digest::of(&file), "of the file, not of the pixels");
    }
}
