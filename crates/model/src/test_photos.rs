//! Folders of tiny photos and models for tests.

use std::{fs, path::Path};

use rehearsal::config::PartialConfig;
use rehearsal_data::ImageShape;

use crate::{FolderReader, Model, Outcome, Report, Session, SessionOptions, write_png};

const SHAPE: ImageShape = ImageShape { height: 8, width: 8, channels: 3 };

/// Writes `count` photos of each class: noise with a tint per class.
pub(crate) fn write_folder(folder: &Path, classes: &[&str], count: usize) {
    for class in classes {
        let tint = usize::from(class.as_bytes()[0]) * 83;
        fs::create_dir_all(folder.join(class)).unwrap();
        for number in 0..count {
            let pixels: Vec<u8> =
                (0..SHAPE.bytes()).map(|i| ((i * (number + 7) * 31 % 97 + tint * (i % 3 + 1)) % 256) as u8).collect();
            write_png(&folder.join(class).join(format!("{number:02}.png")), &pixels, SHAPE).unwrap();
        }
    }
}

/// A session of such a folder, one epoch of a tiny network.
pub(crate) fn session(model: &Model, folder: &Path) -> Session {
    let mut reader = FolderReader { follow_links: false, skip_bad: false, progress: &(), notice: &mut |_| () };
    let session = reader.session(model, &[folder.into()], Some(8), SessionOptions::default()).unwrap();
    let settings = PartialConfig::parse("backbone = 'tiny'\nwidth = 4\nepochs = 1\nthreads = 1").unwrap();
    Session { settings, ..session }
}

/// What a session of these classes reports.
pub(crate) fn learn_more(model: &mut Model, place: &Path, classes: &[&str], count: usize) -> Report {
    let folder = place.join(classes.concat());
    write_folder(&folder, classes, count);
    let session = session(model, &folder);
    match model.learn(session, &mut ()).unwrap() {
        Outcome::Learned(report) => *report,
        other => panic!("{other:?}"),
    }
}

/// A model in `place` that has learned these classes.
pub(crate) fn learn(place: &Path, classes: &[&str], count: usize) -> Model {
    let mut model = Model::open_or_create(&place.join("model")).unwrap();
    learn_more(&mut model, place, classes, count);
    model
}
