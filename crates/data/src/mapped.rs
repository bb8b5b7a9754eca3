//! A file, mapped into memory, and what happens when it is cut, or may not grow: the one place of
//! this crate with `unsafe`.

use std::{fs::File, io, ops::Deref, path::Path};

use memmap2::Mmap;
use rehearsal_files::regular;

/// The bytes of a file, read by the system when they are touched and shared by all processes that
/// map it.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    /// The same file, to ask it for its length.
    file: File,
}

impl Mapped {
    /// Maps a whole regular file of at most `limit` bytes.
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = regular::open(path, limit)?;
        // SAFETY: the bytes may be read while nobody changes them. We map only packs, which are
        // renamed into place when complete and never written again, and pickles of a data set,
        // which nothing of ours writes after they are in place. Every access is checked against the
        // mapped length, and any bytes at all are valid `u8`s. What remains is a user who truncates
        // a file under a running program: that ends it with SIGBUS, as it would any program that
        // maps files, unless `is_whole` was asked in time; `explain_cut_files` says why.
        #[allow(unsafe_code, reason = "see above")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { map, file })
    }

    /// Whether the file still has all the bytes that were mapped. Someone who truncates it between
    /// this question and a look at the bytes still ends the program: the question makes that rare,
    /// not impossible.
    pub(crate) fn is_whole(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.len() >= self.map.len() as u64)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// What is said when a mapped file is cut while it is read.
#[cfg(unix)]
const CUT: &[u8] =
    b"error: a file of the data set, or a pack of it, was cut while it was read, or its disk failed: nothing \
                     is lost, put the file in order and go on from the last checkpoint (rehearsal run --resume)\n";

/// From now on a program that reads what is no longer in a mapped file says so in a sentence and
/// ends with exit code 1, where the system would end it without a word (SIGBUS); and a file that may
/// grow no more (`ulimit -f`) is an error where it is written (SIGXFSZ is ignored). For programs, in
/// `main`: a library has no business with the signals of those who use it. Where there are no such
/// signals, nothing happens.
pub fn explain_cut_files() {
    #[cfg(unix)]
    #[allow(unsafe_code, reason = "see below")]
    {
        extern "C" fn explain(_: libc::c_int) {
            // SAFETY: both may be called in a signal handler, the bytes are there as long as the
            // program, and after `_exit` nothing of it runs any more.
            unsafe {
                libc::write(libc::STDERR_FILENO, CUT.as_ptr().cast(), CUT.len());
                libc::_exit(1)
            }
        }
        let handler: extern "C" fn(libc::c_int) = explain;
        // SAFETY: a zeroed `sigaction` is one without flags and with an empty mask; all that is set
        // are a handler of the type that goes with these flags, and the flags. It runs on the
        // alternative stack, where there is one. To ignore a signal runs nothing. Whether they could
        // be set is of no consequence.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    }
}
