//! Paths as text: in JSON, where not every path is text, and as words of a command.

use std::path::{Path, PathBuf};

use serde::{Serializer, ser::SerializeMap};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The entries of a JSON object that say a path: `name`, and, if the path is not UTF-8 and that is not exact, its bytes
/// in base64 as `name_bytes`.
pub fn entries(name: &str, path: &Path) -> impl Iterator<Item = (String, String)> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let exact = path.to_str().is_none().then(|| (format!("{name}_bytes"), base64(bytes)));
    std::iter::once((name.to_owned(), path.to_string_lossy().into_owned())).chain(exact)
}

/// The entries of `path`, for `#[serde(flatten, serialize_with = …)]`.
///
/// # Errors
/// Those of the serializer.
#[allow(clippy::ptr_arg, reason = "serde gives a reference to the field")]
pub fn serialize<S: Serializer>(path: &PathBuf, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    entries("path", path).try_for_each(|(name, text)| map.serialize_entry(&name, &text))?;
    map.end()
}

/// A path, or a name, as one word of a shell's command.
pub fn quoted(word: impl AsRef<Path>) -> String {
    let text = word.as_ref().to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let of_chunk = |chunk: &[u8]| {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        let digit = move |i: usize| char::from(DIGITS[(bits >> (18 - 6 * i) & 63) as usize]);
        let length = chunk.len();
        (0..4).map(move |i| if i <= length { digit(i) } else { '=' })
    };
    bytes.chunks(3).flat_map(of_chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let expected =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in expected {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[cfg(unix)]
    #[derive(serde::Serialize)]
    struct Bad {
        #[serde(flatten, serialize_with = "serialize")]
        path: PathBuf,
        why: u8,
    }

    #[test]
    fn a_path_that_is_no_text_is_said_exactly_and_others_once() {
        let of = |path: &Path| entries("path", path).collect::<Vec<_>>();
        assert_eq!(of(Path::new("é.png")), [("path".into(), "é.png".into())]);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff"));
            let expected = [("path", "a\u{fffd}"), ("path_bytes", "Yf8=")].map(|(a, b)| (a.to_owned(), b.to_owned()));
            assert_eq!(of(path), expected);
            let text = serde_json::to_string(&Bad { path: path.into(), why: 1 }).unwrap();
            assert_eq!(text, "{\"path\":\"a\u{fffd}\",\"path_bytes\":\"Yf8=\",\"why\":1}");
        }
    }

    #[test]
    fn a_path_is_one_word_for_a_shell() {
        let quoted = |path: &str| quoted(Path::new(path));
        assert_eq!(quoted("shop.model"), "shop.model");
        assert_eq!(quoted("m odel"), "'m odel'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$(x)"), "'$(x)'");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
