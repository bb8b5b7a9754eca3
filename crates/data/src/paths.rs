//! Checks that names in archives and lists are paths inside a directory.

use std::path::PathBuf;

/// The longest name that is accepted, in bytes.
const LONGEST: usize = 4096;

/// The path that a name means, below the directory it is joined to; empty for the directory itself.
///
/// # Errors
/// It would leave the directory, or means something else on another system. The text says which.
pub(crate) fn safe(name: &str) -> Result<PathBuf, &'static str> {
    if name.starts_with('/') {
        return Err("is an absolute path");
    }
    if name.contains(['\\', '\0']) {
        return Err("has a character that is not allowed");
    }
    if name.len() > LONGEST {
        return Err("has a name that is too long");
    }
    let mut path = PathBuf::new();
    for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err("leaves its directory");
        }
        if part.len() > 255 || (cfg!(windows) && part.contains(':')) {
            return Err("has a part that is not a valid file name");
        }
        path.push(part);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_inside_the_directory_are_paths() {
        assert_eq!(safe("a/b.png"), Ok("a/b.png".into()));
        assert_eq!(safe("./a//b/./c"), Ok("a/b/c".into()));
        assert_eq!(safe("./"), Ok(PathBuf::new()));
        assert_eq!(safe("..a/b.."), Ok("..a/b..".into()));
        for bad in
            ["/etc/passwd", "..", "../x", "a/../../x", "a/..", "a\\..\\b", "a\0b", &"x".repeat(5000), &"y".repeat(256)]
        {
            assert!(safe(bad).is_err(), "{bad:?}");
        }
    }
}
