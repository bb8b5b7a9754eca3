//! Patterns of names and paths: `*` is any part of a name, `**` any part of a path, `?` any character of a name. All
//! other characters, brackets too, stand for themselves, as they do in names of photos.

/// Whether a text fits a pattern as a whole. Takes time in proportion to the product of their lengths.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Whether the pattern so far fits the first 0, 1, 2, … characters of the text.
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let crosses = pattern[at..].starts_with(&['*', '*']);
        match pattern[at] {
            '*' => {
                for i in 0..text.len() {
                    row[i + 1] |= row[i] && (crosses || text[i] != '/');
                }
            }
            wanted => {
                for i in (0..text.len()).rev() {
                    row[i + 1] = row[i] && (text[i] == wanted || wanted == '?' && text[i] != '/');
                }
                row[0] = false;
            }
        }
        at += if crosses { 2 } else { 1 };
    }
    row[text.len()]
}

/// Whether a path, or its end from one name on, fits a pattern. `\` separates names as `/` does, and `./` at the
/// beginning does not matter.
pub fn fits_end(pattern: &str, path: &str) -> bool {
    let [pattern, path] = [pattern, path].map(|path| path.replace('\\', "/"));
    let [pattern, path] = [&pattern, &path].map(|path| path.strip_prefix("./").unwrap_or(path));
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).any(|start| fits(pattern, &path[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_part_of_a_name() {
        for (pattern, name) in [
            ("er-*", "er-random-0"),
            ("*-0", "er-random-0"),
            ("e*r*0", "er-random-0"),
            ("*", "é"),
            ("*", ""),
            ("a*b*c", "abbc"),
            ("a**c", "ac"),
            ("a[1]{2}?", "a[1]{2}3"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("er-*", "pcr-random-0"),
            ("er", "er-random-0"),
            ("*-1", "er-random-0"),
            ("a*a", "a"),
            ("a*b*c", "ac"),
            ("a[1]", "a1"),
            ("a?", "a"),
            ("*", "a/b"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        assert!(!fits(&("*a".repeat(40) + "*b"), &"a".repeat(250)), "and soon");
    }

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
            "jan**.jpg",
            "photos/**",
            "photos\\january\\boots\\*",
            path,
        ] {
            assert!(fits_end(fitting, path), "{fitting}");
        }
        for other in
            ["photos/*", "boots", "oots/IMG_77*", "IMG_77?.jpg", "*/IMG_78*", "", "photos/january/boots/IMG_77"]
        {
            assert!(!fits_end(other, path), "{other}");
        }
    }
}
