//! Names of classes and photos as they come from a client: text to show, never a path to open.

use std::path::PathBuf;

use rehearsal_data::{photos::Photo, printable};

use crate::{ApiError, error::Answer};

/// The longest name of a class or a photo, in letters.
const LONGEST: usize = 120;

/// The name of a class.
pub(crate) fn class(name: &str) -> Answer<String> {
    let name = name.trim();
    let refused = |why: &str| Err(ApiError::bad_request(format!("the name of a class {why}")));
    if name.is_empty() {
        refused("is empty: give it at least one letter")
    } else if name.chars().count() > LONGEST {
        refused("has more than 120 letters")
    } else if printable(name) != name {
        refused("has characters that cannot be shown")
    } else {
        Ok(name.to_owned())
    }
}

/// The last part of a photo's name, safe to show.
pub(crate) fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown: String = printable(last).replace('\\', "_").chars().take(LONGEST).collect();
    if shown.trim_matches(['.', ' ']).is_empty() { "photo".into() } else { shown }
}

/// A photo under the name by which it is remembered: `upload/2026-11-18-IMG_1.jpg`.
pub(crate) fn remembered(mut photo: Photo, date: &str) -> Photo {
    let name = photo.path.file_name().unwrap_or_default().to_string_lossy();
    photo.path = PathBuf::from(format!("upload/{date}-{name}"));
    photo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_and_never_paths() {
        for (given, expected) in [
            ("IMG_1.jpg", "IMG_1.jpg"),
            ("../../etc/passwd", "passwd"),
            ("C:\\photos\\a.jpg", "a.jpg"),
            ("..", "photo"),
            ("", "photo"),
            ("a/", "photo"),
            ("x\u{1b}[31m.jpg", "x_u{1b}[31m.jpg"),
        ] {
            assert_eq!(plain(given), expected, "{given}");
        }
        assert_eq!(plain(&"ä".repeat(500)).chars().count(), 120);
        let photo = Photo { class: "a".into(), path: "a.jpg".into(), bytes: None };
        assert_eq!(remembered(photo, "2026-11-18").path, PathBuf::from("upload/2026-11-18-a.jpg"));
    }

    #[test]
    fn classes_have_names_that_can_be_shown() {
        assert_eq!(class(" bags/leather "), Ok("bags/leather".into()));
        assert_eq!(class("<script>"), Ok("<script>".into()), "data, not markup");
        for bad in ["", "  ", "a\nb", "\u{202e}x", &"x".repeat(121)] {
            assert!(class(bad).is_err(), "{bad:?}");
        }
    }
}
