//! What a file is, by its name and by its first bytes.

use std::path::Path;

use super::Why;
use rehearsal_files::regular;

use crate::decode::EXTENSIONS;

/// Formats of images that people have and that are not read, by their extensions.
const NOT_READ: &[(&str, &[&str])] = &[
    ("HEIC", &["heic", "heif", "hif", "heics"]),
    ("AVIF", &["avif", "avifs"]),
    ("JPEG XL", &["jxl"]),
    ("JPEG 2000", &["jp2", "j2k", "jpx", "jpf"]),
    ("camera raw", &["dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw", "raw"]),
    ("Photoshop", &["psd", "psb"]),
    ("SVG", &["svg", "svgz"]),
];

/// Films: phones keep them beside their photos.
const FILMS: &[&str] = &["mov", "mp4", "m4v", "avi", "mkv", "webm", "3gp"];

/// Whether a file is called like an image that is read; else, why it is not.
pub(super) fn by_name(path: &Path) -> Result<(), Why> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
    if EXTENSIONS.contains(&extension.as_str()) {
        return Ok(());
    }
    if FILMS.contains(&extension.as_str()) {
        return Err(Why::Film);
    }
    let format = NOT_READ.iter().find(|(_, extensions)| extensions.contains(&extension.as_str()));
    Err(format.map_or(Why::NoImage, |(format, _)| Why::Format(format)))
}

/// The same, for files whose name says nothing: those whose first bytes are an image's are called so.
pub(super) fn by_name_or_bytes(path: &Path) -> Result<(), Why> {
    match by_name(path) {
        Err(Why::NoImage) if begins_like_an_image(path) => Err(Why::OtherName),
        known => known,
    }
}

/// Whether the first bytes of a file are those of an image that is read.
pub(super) fn begins_like_an_image(path: &Path) -> bool {
    let mut first = [0; 16];
    let read = regular::open(path, u64::MAX).and_then(|mut file| std::io::Read::read(&mut file, &mut first));
    read.is_ok_and(|length| image::guess_format(&first[..length]).is_ok_and(|format| format.reading_enabled()))
}

/// The format of an image that is not read, whatever it is called: phones rename HEIC to `.jpg`.
pub(crate) fn unread_format(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4)? {
            b"heic" | b"heix" | b"hevc" | b"hevx" | b"heim" | b"heis" | b"mif1" | b"msf1" => Some("HEIC"),
            b"avif" | b"avis" => Some("AVIF"),
            b"crx " => Some("camera raw"),
            _ => Some("a film"),
        },
        [0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..] => Some("JPEG XL"),
        [0, 0, 0, 12, b'j', b'P', b' ', b' ', ..] => Some("JPEG 2000"),
        [b'8', b'B', b'P', b'S', ..] => Some("Photoshop"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_file_is() {
        let kind = |name: &str| by_name(Path::new(name)).map_err(|why| why.to_string());
        for image in ["a.jpg", "a.JPEG", "x/b.Tif", "c.tiff", "d.webp", "e.bmp", "f.gif", "g.png"] {
            assert_eq!(kind(image), Ok(()), "{image}");
        }
        assert_eq!(kind("IMG_0231.HEIC"), Err("HEIC is not read, convert it to JPEG".into()));
        assert_eq!(kind("a.avif"), Err("AVIF is not read, convert it to JPEG".into()));
        assert_eq!(kind("IMG_0231.MOV"), Err("a film".into()), "nothing to convert");
        assert_eq!(kind("notes.txt"), Err("no image".into()));
        assert_eq!(kind("jpg"), Err("no image".into()), "a name without an extension");
    }

    #[test]
    fn an_image_that_is_not_called_one_is_not_called_none() {
        let place = tempfile::tempdir().unwrap();
        let kind = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            by_name_or_bytes(&path).map_err(|why| why.to_string())
        };
        let expected = Err("an image, but its name does not say so: call it .jpg, .png or what it is".to_owned());
        assert_eq!(kind("IMG_0231", b"\xff\xd8\xff\xe0\0\x10JFIF\0"), expected);
        assert_eq!(kind("notes.txt", b"to do"), Err("no image".into()));
        assert_eq!(kind("a.jpg", b"to do"), Ok(()), "what is called an image is opened later");
    }

    #[test]
    fn first_bytes_say_what_a_renamed_file_is() {
        assert_eq!(unread_format(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Some("HEIC"));
        assert_eq!(unread_format(b"\0\0\0\x1cftypavif\0\0\0\0"), Some("AVIF"));
        assert_eq!(unread_format(b"\xff\x0a\xfa"), Some("JPEG XL"));
        assert_eq!(unread_format(b"\0\0\0\x18ftyp"), None);
        assert_eq!(unread_format(b"\x89PNG\r\n\x1a\n"), None);
        assert_eq!(unread_format(b""), None);
    }
}
