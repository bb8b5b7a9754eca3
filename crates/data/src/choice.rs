//! Enums whose values a user chooses by name: methods, retrievals, data sets.

use thiserror::Error;

/// An enum whose values a user names.
pub trait Choice: Copy + 'static {
    /// What a value is, such as "method".
    const KIND: &'static str;
    /// Every value, in the order of documentation.
    const ALL: &'static [Self];
    /// The value's name on the command line and in files.
    fn name(self) -> &'static str;

    /// The value of that name.
    ///
    /// # Errors
    /// No value has the name: the error lists the names and suggests the nearest.
    fn from_name(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name).ok_or_else(|| UnknownName::new::<Self>(name))
    }
}

/// A description of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// What it does, in a few words.
    pub does: &'static str,
    /// What it costs more than the cheapest of its kind, in a few words; empty if that is negligible.
    pub costs: &'static str,
}

/// An unknown name.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("there is no {kind} `{name}`: {}choose one of {}", nearest.map(|n| format!("did you mean `{n}`? ")).unwrap_or_default(), all.join(", "))]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    nearest: Option<&'static str>,
    all: Vec<&'static str>,
}

impl UnknownName {
    fn new<C: Choice>(name: &str) -> Self {
        let all: Vec<_> = C::ALL.iter().map(|choice| choice.name()).collect();
        let distance = |candidate: &&str| strsim::osa_distance(&name.to_lowercase(), candidate);
        // A name of which every letter differs is not a suggestion.
        let nearest = all.iter().copied().min_by_key(distance).filter(|nearest| distance(nearest) < nearest.len());
        Self { kind: C::KIND, name: name.to_owned(), nearest, all }
    }
}

/// Implements [`Choice`], `FromStr`, `Display`, `Serialize` and `Deserialize` for an enum from one
/// list of names.
#[macro_export]
macro_rules! choice {
    ($type:ident, $kind:literal, $($value:ident = $name:literal),+ $(,)?) => {
        impl $crate::choice::Choice for $type {
            const KIND: &'static str = $kind;
            const ALL: &'static [Self] = &[$(Self::$value),+];
            fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }
        }
        impl std::str::FromStr for $type {
            type Err = $crate::choice::UnknownName;
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::choice::Choice::from_name(name)
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.pad($crate::choice::Choice::name(*self))
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($crate::choice::Choice::name(*self))
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(from)?;
                $crate::choice::Choice::from_name(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fruit {
        Apple,
        Cherry,
    }
    choice!(Fruit, "fruit", Apple = "apple", Cherry = "cherry");

    #[test]
    fn an_unknown_name_gets_the_nearest_and_the_list() {
        assert_eq!(Fruit::from_name("cherry"), Ok(Fruit::Cherry));
        assert_eq!("apple".parse(), Ok(Fruit::Apple));
        let error = Fruit::from_name("Aple").unwrap_err().to_string();
        assert_eq!(error, "there is no fruit `Aple`: did you mean `apple`? choose one of apple, cherry");
        let error = Fruit::from_name("xyz").unwrap_err().to_string();
        assert_eq!(error, "there is no fruit `xyz`: choose one of apple, cherry");
    }
}
