//! A reader of Python's pickles that can build nothing but what it needs: dictionaries, lists,
//! tuples, texts, bytes, integers and numpy arrays of bytes or integers. A pickle is a program that
//! may call anything; this reader knows no call but numpy's own for rebuilding an array, so a
//! hostile pickle is an error.
//!
//! Protocols 2 to 5, as Python 2 and 3 and numpy 1 and 2 write them. Bytes are not copied: an array
//! of gigabytes is a slice of the mapped file. Reading takes time and memory proportional to the
//! number of instructions, never to a number that the pickle claims.

mod array;
mod calls;
mod machine;

use std::sync::Arc;

pub use array::Array;

use array::Dtype;

/// Why a pickle cannot be read, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickleError {
    /// From 0.
    pub offset: usize,
    /// What should stand there.
    pub expected: String,
    /// What does.
    pub found: String,
}

/// Bytes of a pickle, or bytes that Python wrote as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Owned(Arc<[u8]>),
}

impl Bytes<'_> {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// An object's place in [`Pickle`].
pub(crate) type Id = usize;

/// Something that a pickle made.
#[derive(Clone, Debug)]
pub(crate) enum Object<'a> {
    None,
    Bool(bool),
    Int(i64),
    Text(&'a str),
    /// Bytes; Python 2's strings are bytes too.
    Bytes(Bytes<'a>),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Function(calls::Function),
    Dtype(Dtype),
    Array(Array<'a>),
}

/// A pickle, read. Objects are shared and may even contain themselves: walk it with care.
pub struct Pickle<'a> {
    objects: Vec<Object<'a>>,
    root: Id,
}

/// An object of a pickle.
#[derive(Clone, Copy)]
pub struct Value<'p, 'a> {
    pickle: &'p Pickle<'a>,
    id: Id,
}

/// Reads a pickle.
///
/// # Errors
/// It is cut, damaged, of another protocol, or wants to build something else.
pub fn read(bytes: &[u8]) -> Result<Pickle<'_>, PickleError> {
    machine::Machine::new(bytes).run()
}

impl<'a> Pickle<'a> {
    /// What the pickle is.
    pub fn root(&self) -> Value<'_, 'a> {
        Value { pickle: self, id: self.root }
    }
}

impl<'p, 'a> Value<'p, 'a> {
    fn object(self) -> &'p Object<'a> {
        &self.pickle.objects[self.id]
    }

    fn at(self, id: Id) -> Self {
        Self { id, ..self }
    }

    /// A text, whichever way Python wrote it.
    pub fn text(self) -> Option<&'p str> {
        match self.object() {
            Object::Text(text) => Some(text),
            Object::Bytes(bytes) => std::str::from_utf8(bytes.as_slice()).ok(),
            _ => None,
        }
    }

    /// An integer.
    pub fn int(self) -> Option<i64> {
        match self.object() {
            Object::Int(int) => Some(*int),
            _ => None,
        }
    }

    /// Keys and values of a dictionary.
    pub fn entries(self) -> Option<impl Iterator<Item = (Self, Self)> + use<'p, 'a>> {
        match self.object() {
            Object::Dict(entries) => Some(entries.iter().map(move |&(key, value)| (self.at(key), self.at(value)))),
            _ => None,
        }
    }

    /// The last value of a dictionary under a text.
    pub fn get(self, key: &str) -> Option<Self> {
        self.entries()?.filter(|(found, _)| found.text() == Some(key)).last().map(|(_, value)| value)
    }

    /// The integers of a list, a tuple or an array.
    pub fn ints(self) -> Option<Vec<i64>> {
        match self.object() {
            Object::List(items) | Object::Tuple(items) => items.iter().map(|&id| self.at(id).int()).collect(),
            Object::Array(array) => array.ints(),
            _ => None,
        }
    }

    /// An array.
    pub fn array(self) -> Option<&'p Array<'a>> {
        match self.object() {
            Object::Array(array) => Some(array),
            _ => None,
        }
    }
}
