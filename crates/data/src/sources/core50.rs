//! CORe50: fifty objects, filmed in eleven sessions. `s1/o1/C_01_01_000.png`: session, object,
//! frame.
//!
//! Every third frame is used, as neighbours hardly differ. Sessions 3, 7 and 10 are for testing,
//! cut to 200 frames an object, evenly: the first 200 would leave out session 10. The others are
//! for training. Sessions are domains.

use std::path::Path;

use crate::{
    DataError,
    files::{directories, entries, name},
    pack::{Entry, Listing},
};

const SESSIONS: u16 = 11;
const TEST_SESSIONS: [u16; 3] = [3, 7, 10];
const OBJECTS: u16 = 50;
const FRAME_STEP: u32 = 3;
const TEST_FRAMES: usize = 200;

/// Five objects of each kind, in the order of their numbers.
const KINDS: [&str; 10] = [
    "plug adapter",
    "mobile phone",
    "scissors",
    "light bulb",
    "can",
    "glasses",
    "ball",
    "marker",
    "cup",
    "remote control",
];

/// The images below `root`, the directory that holds `s1`.
pub(crate) fn list(root: &Path) -> Result<Listing, DataError> {
    let mut listing = Listing {
        class_names: (0..OBJECTS).map(|o| format!("{} {}", KINDS[usize::from(o / 5)], o % 5 + 1)).collect(),
        domain_names: (1..=SESSIONS).map(|session| format!("session {session}")).collect(),
        ..Listing::default()
    };
    let mut tests = vec![Vec::new(); usize::from(OBJECTS)];
    let mut sessions: Vec<(u16, _)> = Vec::new();
    for path in directories(root)? {
        sessions.extend(numbered(&path, "s", SESSIONS)?.map(|session| (session, path)));
    }
    sessions.sort();
    for (session, path) in sessions {
        for path in directories(&path)? {
            let Some(object) = numbered(&path, "o", OBJECTS)? else { continue };
            for path in frames(&path)? {
                let entry = Entry { path, label: object - 1, domain: session - 1 };
                if TEST_SESSIONS.contains(&session) {
                    tests[usize::from(object - 1)].push(entry);
                } else {
                    listing.train.push(entry);
                }
            }
        }
    }
    listing.test = tests.iter().flat_map(|frames| thinned(frames)).cloned().collect();
    Ok(listing)
}

/// At most `TEST_FRAMES` of an object's frames, evenly spread.
fn thinned(frames: &[Entry]) -> impl Iterator<Item = &Entry> {
    let kept = frames.len().min(TEST_FRAMES);
    (0..kept).map(move |index| &frames[index * frames.len() / kept])
}

/// The number behind `letter` in a directory's name, from 1 to `most`.
fn numbered(path: &Path, letter: &str, most: u16) -> Result<Option<u16>, DataError> {
    let number = name(path)?.strip_prefix(letter).and_then(|number| number.parse().ok());
    Ok(number.filter(|number| (1..=most).contains(number)))
}

/// Every third frame, by the number at the end of its name.
fn frames(directory: &Path) -> Result<Vec<std::path::PathBuf>, DataError> {
    let mut frames = Vec::new();
    for path in entries(directory)? {
        let stem = name(&path)?.strip_suffix(".png");
        let frame: Option<u32> = stem.and_then(|stem| stem.rsplit('_').next()).and_then(|frame| frame.parse().ok());
        if frame.is_some_and(|frame| frame.is_multiple_of(FRAME_STEP)) {
            frames.push(path);
        }
    }
    Ok(frames)
}
