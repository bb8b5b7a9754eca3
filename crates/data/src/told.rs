//! Messages about the files of a data set: which are not read, and the names of classes.

use std::path::Path;

use crate::{Progress, Skipped, pack::Listing, photos, printable};

/// The most files or classes that are listed.
const NAMED: usize = 10;

/// Reports files that are not read, and that folders inside folders are classes.
pub(crate) fn about_listing(listing: &Listing, progress: &dyn Progress) {
    let mut lines = photos::lines(&listing.ignored, &listing.root);
    if listing.nested {
        let paths: Vec<&str> =
            listing.class_names.iter().map(String::as_str).filter(|name| name.contains('/')).collect();
        lines.push(format!("folders inside folders are classes, named by their paths: {}", some(&paths)));
    }
    for line in lines {
        progress.say(&printable(&line));
    }
}

/// Reports files that are not images and were skipped.
pub(crate) fn about_skipped(skipped: &[Skipped], root: &Path, progress: &dyn Progress) {
    match skipped.len() {
        0 => return,
        1 => progress.say("1 file is not an image and was skipped:"),
        count => progress.say(&format!("{count} files are not images and were skipped:")),
    }
    for Skipped { path, why } in skipped.iter().take(NAMED) {
        let path = path.strip_prefix(root).unwrap_or(path);
        progress.say(&printable(&format!("  {}: {why}", path.display())));
    }
    if let Some(more) = skipped.len().checked_sub(NAMED).filter(|&more| more > 0) {
        progress.say(&format!("  and {more} more"));
    }
}

/// The classes with too few images to be learned or tested, one line for each reason.
#[cfg(feature = "fetch")]
pub(crate) fn about_classes(listing: &Listing) -> Vec<String> {
    let mut counts = vec![(0, 0); listing.class_names.len()];
    listing.train.iter().for_each(|entry| counts[usize::from(entry.label)].0 += 1);
    listing.test.iter().for_each(|entry| counts[usize::from(entry.label)].1 += 1);
    let those = |which: fn((usize, usize)) -> bool| -> Vec<&str> {
        let named = listing.class_names.iter().zip(&counts);
        named.filter(|(_, count)| which(**count)).map(|(name, _)| name.as_str()).collect()
    };
    let ways: [(Vec<&str>, &str); 4] = [
        (those(|count| count == (0, 0)), "no images"),
        (those(|count| count == (1, 0)), "one image: none is left for testing"),
        (those(|count| count.0 == 0 && count.1 > 0), "no training images"),
        (those(|count| count.0 > 1 && count.1 == 0), "no test images"),
    ];
    let sentence = |(classes, what): &(Vec<&str>, &str)| match classes.len() {
        0 => None,
        1 => Some(format!("class `{}` has {what}", classes[0])),
        count => Some(format!("{count} classes have {what}: {}", some(classes))),
    };
    ways.iter().filter_map(sentence).collect()
}

/// The first names, and how many more there are.
fn some(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{first} and {} more", names.len() - NAMED) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Entry;

    #[test]
    fn classes_with_too_few_images_are_reported() {
        let entries = |labels: &[u16]| -> Vec<Entry> {
            labels.iter().map(|&label| Entry { path: "x".into(), label, domain: 0 }).collect()
        };
        let listing = Listing {
            class_names: ["full", "empty", "lone", "untested", "void"].map(String::from).to_vec(),
            train: entries(&[0, 0, 2, 3, 3]),
            test: entries(&[0]),
            ..Listing::default()
        };
        let expected = [
            "2 classes have no images: empty, void",
            "class `lone` has one image: none is left for testing",
            "class `untested` has no test images",
        ];
        assert_eq!(about_classes(&listing), expected);
        assert_eq!(some(&["x"; 12]), "x, x, x, x, x, x, x, x, x, x and 2 more");
    }
}
