//! Patterns of paths: `*` is any part of a name, `**` any part of a path, `?` any letter. A pattern
//! names a photo if it fits its path or the end of it.

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// As it was written.
    pub fn new(text: &str) -> Self {
        Self(normal(text))
    }

    /// Whether it fits the path, or the end of it from one name on.
    pub fn fits(&self, path: &str) -> bool {
        let path = normal(path);
        let starts = std::iter::once(0).chain(path.iter().enumerate().filter(|(_, c)| **c == '/').map(|(i, _)| i + 1));
        starts.into_iter().any(|start| fits(&self.0, &path[start..]))
    }
}

/// With `/` between names and none before the first of a relative path.
fn normal(path: &str) -> Vec<char> {
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).chars().collect()
}

/// One row of a table after another: whether the pattern so far fits so much of the text.
fn fits(pattern: &[char], text: &[char]) -> bool {
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let deep = pattern[at..].starts_with(&['*', '*']);
        match pattern[at] {
            '*' => {
                for i in 0..text.len() {
                    row[i + 1] |= row[i] && (deep || text[i] != '/');
                }
            }
            wanted => {
                for i in (0..text.len()).rev() {
                    row[i + 1] = row[i] && (text[i] == wanted || wanted == '?' && text[i] != '/');
                }
                row[0] = false;
            }
        }
        at += if deep { 2 } else { 1 };
    }
    row[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_paths_or_their_ends() {
        let path = "photos/january/boots/IMG_7712.jpg";
        for fitting in [
            "photos/january/boots/IMG_77*",
            "boots/IMG_77*",
            "IMG_7712.jpg",
            "IMG_77??.*",
            "./photos/*/boots/*",
            "**IMG*",
            "photos/**",
            "photos\\january\\boots\\*",
            path,
        ] {
            assert!(Pattern::new(fitting).fits(path), "{fitting}");
        }
        for other in
            ["photos/*", "boots", "oots/IMG_77*", "IMG_77?.jpg", "*/IMG_78*", "", "photos/january/boots/IMG_77"]
        {
            assert!(!Pattern::new(other).fits(path), "{other}");
        }
    }
}
