//! The kind of a file, by its name and by its first bytes.

use std::path::Path;

use super::Why;
use rehearsal_files::regular;

use crate::decode::EXTENSIONS;

/// Image formats that are not read, by their extensions.
const NOT_READ: &[(&str, &[&str])] = &[
    ("HEIC", &["heic", "heif", "hif", "heics"]),
    ("AVIF", &["avif", "avifs"]),
    ("JPEG XL", &["jxl"]),
    ("JPEG 2000", &["jp2", "j2k", "jpx", "jpf"]),
    ("camera raw", &["dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw", "raw"]),
    ("Photoshop", &["psd", "psb"]),
    ("SVG", &["svg", "svgz"]),
];

/// Videos: phones keep them beside photos.
const VIDEOS: &[&str] = &["mov", "mp4", "m4v", "avi", "mkv", "webm", "3gp"];

/// Whether a file has the extension of an image that is read; the error says why not.
pub(super) fn by_name(path: &Path) -> Result<(), Why> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
    if EXTENSIONS.contains(&extension.as_str()) {
        return Ok(());
    }
    if VIDEOS.contains(&extension.as_str()) {
        return Err(Why::Video);
    }
    let format = NOT_READ.iter().find(|(_, extensions)| extensions.contains(&extension.as_str()));
    Err(format.map_or(Why::NoImage, |(format, _)| Why::Format(format)))
}

/// The same, and recognises images without an extension by their first bytes.
pub(super) fn by_name_or_bytes(path: &Path) -> Result<(), Why> {
    match by_name(path) {
        Err(Why::NoImage) if begins_like_an_image(path) => Err(Why::OtherName),
        known => known,
    }
}

/// Whether a file begins like an image that is read.
pub(super) fn begins_like_an_image(path: &Path) -> bool {
    let mut first = [0; 16];
    let read = regular::open(path, u64::MAX).and_then(|mut file| std::io::Read::read(&mut file, &mut first));
    read.is_ok_and(|length| image::guess_format(&first[..length]).is_ok_and(|format| format.reading_enabled()))
}

/// The format of an image that is not read, by its first bytes: phones rename HEIC to `.jpg`.
pub(crate) fn unread_format(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4)? {
            b"heic" | b"heix" | b"hevc" | b"hevx" | b"heim" | b"heis" | b"mif1" | b"msf1" => Some("HEIC"),
            b"avif" | b"avis" => Some("AVIF"),
            b"crx " => Some("camera raw"),
            _ => Some("a video"),
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
    fn the_kind_follows_from_the_name() {
        let kind = |name: &str| by_name(Path::new(name)).map_err(|why| why.to_string());
        for image in ["a.jpg", "a.JPEG", "x/b.Tif", "c.tiff", "d.webp", "e.bmp", "f.gif", "g.png"] {
            assert_eq!(kind(image), Ok(()), "{image}");
        }
        assert_eq!(kind("IMG_0231.HEIC"), Err("HEIC is not read, convert it to JPEG".into()));
        assert_eq!(kind("a.avif"), Err("AVIF is not read, convert it to JPEG".into()));
        assert_eq!(kind("IMG_0231.MOV"), Err("a video".into()), "nothing to convert");
        assert_eq!(kind("notes.txt"), Err("not an image".into()));
        assert_eq!(kind("jpg"), Err("not an image".into()), "a name without an extension");
    }

    #[test]
    fn an_image_without_an_extension_is_reported_as_one() {
        let place = tempfile::tempdir().unwrap();
        let kind = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            by_name_or_bytes(&path).map_err(|why| why.to_string())
        };
        let expected = Err("an image, but without an image's extension: rename it".to_owned());
        assert_eq!(kind("IMG_0231", b"\xff\xd8\xff\xe0\0\x10JFIF\0"), expected);
        assert_eq!(kind("notes.txt", b"to do"), Err("not an image".into()));
        assert_eq!(kind("a.jpg", b"to do"), Ok(()), "an extension is believed until the file is decoded");
    }

    #[test]
    fn renamed_files_are_recognised_by_their_first_bytes() {
        assert_eq!(unread_format(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Some("HEIC"));
        assert_eq!(unread_format(b"\0\0\0\x1cftypavif\0\0\0\0"), Some("AVIF"));
        assert_eq!(unread_format(b"\xff\x0a\xfa"), Some("JPEG XL"));
        assert_eq!(unread_format(b"\0\0\0\x18ftyp"), None);
        assert_eq!(unread_format(b"\x89PNG\r\n\x1a\n"), None);
        assert_eq!(unread_format(b""), None);
    }
}
