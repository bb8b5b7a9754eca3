//! Progress of long work.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a file.
    Bytes,
    /// Images, files or records.
    Items,
}

/// Is told the progress of long work. The default methods do nothing, and `()` shows nothing.
pub trait Progress: Sync {
    /// Work begins, such as `cifar-100-binary.tar.gz`, at `done` of `total`.
    fn begin(&self, _what: &str, _unit: Unit, _done: u64, _total: Option<u64>) {}
    /// More is done.
    fn advance(&self, _by: u64) {}
    /// The work is done.
    fn end(&self) {}
    /// A message for the user.
    fn say(&self, _line: &str) {}
}

impl Progress for () {}
