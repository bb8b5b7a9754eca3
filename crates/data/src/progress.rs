//! How far a long piece of work is, told to whoever shows it.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a file.
    Bytes,
    /// Images, files or records.
    Items,
}

/// Hears how far a long piece of work is. Every method does nothing unless it is written: `()`
/// shows nothing.
pub trait Progress: Sync {
    /// Something begins, such as `cifar-100-binary.tar.gz`, at `done` of `total`.
    fn begin(&self, _what: &str, _unit: Unit, _done: u64, _total: Option<u64>) {}
    /// So much more is done.
    fn advance(&self, _by: u64) {}
    /// It is done.
    fn end(&self) {}
    /// A sentence worth saying.
    fn say(&self, _line: &str) {}
}

impl Progress for () {}
