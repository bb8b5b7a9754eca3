//! Names of folders that are probably a mistake: a folder of sessions in the place of a session, and two
//! spellings of one class.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_data::photos::Photo;

use crate::{Model, ModelError};

/// Which names of folders become classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// A folder inside a folder is a class, too, named by its path.
    pub nested: bool,
    /// So are two names that differ only in capitals, spaces or a plural.
    pub as_is: bool,
}

impl Names {
    /// Refuses what is probably a mistake.
    pub(crate) fn check(self, photos: &[Photo], model: &Model, known: &[Arc<str>]) -> Result<(), ModelError> {
        if let Some(nested) = photos.iter().find(|photo| is_nested(photo)).filter(|_| !self.nested) {
            let (model, class) = (model.path().into(), nested.class.clone());
            return Err(ModelError::Nested { model, class, sessions: sessions(photos) });
        }
        let names: BTreeSet<&str> = photos.iter().map(|photo| photo.class.as_str()).collect();
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        match similar(&names, &known).into_iter().next() {
            Some((one, other)) if !self.as_is => Err(ModelError::SimilarClasses { one, other }),
            _ => Ok(()),
        }
    }
}

fn is_nested(photo: &Photo) -> bool {
    photo.class.contains('/')
}

/// The folders that hold folders of photos; none if some photo is not so deep.
fn sessions(photos: &[Photo]) -> Vec<PathBuf> {
    if !photos.iter().all(is_nested) {
        return Vec::new();
    }
    // The class is the part of the path between the root and the file.
    let session = |photo: &Photo| photo.path.ancestors().nth(photo.class.split('/').count()).map(Path::to_path_buf);
    photos.iter().filter_map(session).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Each new class whose name is probably that of another, with the other one first.
pub(crate) fn similar(classes: &BTreeSet<&str>, known: &[&str]) -> Vec<(String, String)> {
    let mut others: Vec<(String, &str)> = known.iter().map(|name| (plain(name), *name)).collect();
    let mut pairs = Vec::new();
    for class in classes.iter().filter(|class| !known.contains(class)) {
        let name = plain(class);
        if let Some((_, other)) = others.iter().find(|(other, _)| *other == name) {
            pairs.push(((*other).to_owned(), (*class).to_owned()));
        }
        others.push((name, class));
    }
    pairs
}

/// A name without capitals, spaces and the ending of an English plural.
fn plain(name: &str) -> String {
    /// A shorter word has no plural here: `as` is not two `a`.
    const SHORTEST: usize = 3;
    let name = name.split_whitespace().collect::<String>().to_lowercase();
    let ends = |endings: &[&str], stem: &str| endings.iter().any(|ending| stem.ends_with(ending));
    let singular = match (name.strip_suffix("ies"), name.strip_suffix("es"), name.strip_suffix('s')) {
        (Some(stem), ..) => format!("{stem}y"),
        (_, Some(stem), _) if ends(&["s", "x", "z", "ch", "sh"], stem) => stem.to_owned(),
        (.., Some(stem)) if !stem.ends_with('s') => stem.to_owned(),
        _ => return name,
    };
    if singular.chars().count() < SHORTEST { name } else { singular }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(classes: &[&'static str], known: &[&str]) -> Vec<(String, String)> {
        similar(&classes.iter().copied().collect(), known)
    }

    fn pair(one: &str, other: &str) -> [(String, String); 1] {
        [(one.into(), other.into())]
    }

    #[test]
    fn names_that_differ_in_capitals_spaces_or_a_plural_only_are_found() {
        assert_eq!(pairs(&["Boots", "clogs"], &["boots", "mules"]), pair("boots", "Boots"));
        assert_eq!(pairs(&["boots", "clogs", "Boots"], &[]), pair("Boots", "boots"));
        assert_eq!(pairs(&["Boots", "boots"], &["boots", "Boots"]), [], "known, and accepted before");
        for (one, other) in
            [("lion", "lions"), ("lion", "lion "), ("berry", "Berries"), ("box", "boxes"), ("dish", "dishes")]
        {
            assert_eq!(pairs(&[other], &[one]), pair(one, other));
        }
        assert_eq!(pairs(&["glass", "gla", "a", "as", "c", "cs", "boot", "root"], &[]), []);
    }

    fn photo(path: &str, class: &str) -> Photo {
        Photo { path: path.into(), class: class.into(), bytes: None }
    }

    #[test]
    fn folders_of_sessions_are_named_unless_some_class_is_a_folder_of_the_root() {
        let deep = [photo("p/february/lion/1.jpg", "february/lion"), photo("p/january/lion/2.jpg", "january/lion")];
        assert_eq!(sessions(&deep), [PathBuf::from("p/february"), "p/january".into()]);
        let mixed = [photo("p/bags/leather/1.jpg", "bags/leather"), photo("p/boots/2.jpg", "boots")];
        assert_eq!(sessions(&mixed), Vec::<PathBuf>::new());
    }
}
