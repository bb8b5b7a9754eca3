//! Archives, which may not leave their directory, nor anything behind when they are refused. The
//! first byte chooses the kind.

#![no_main]

use std::{cell::RefCell, fs};

use libfuzzer_sys::fuzz_target;
use rehearsal_data::unpack::{Kind, Limits, Unpacking};
use tempfile::TempDir;

thread_local! {
    static DIRECTORY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, archive)) = bytes.split_first() else { return };
    let kind = [Kind::Tar, Kind::TarGz, Kind::Zip][usize::from(kind % 3)];
    DIRECTORY.with_borrow_mut(|directory| {
        let directory = directory.get_or_insert_with(|| tempfile::tempdir().expect("a directory"));
        let inside = directory.path().join("inside");
        fs::create_dir_all(&inside).expect("a directory");
        let (file, to) = (inside.join("archive"), inside.join("to"));
        fs::write(&file, archive).expect("a file");
        let limits = Limits { bytes: 100_000, entries: 50 };
        let unpacking = Unpacking { archive: &file, kind, limits, to: &to, wanted: &|_| true, progress: &() };
        if unpacking.run().is_ok() {
            fs::remove_dir_all(&to).expect("what was unpacked");
        }
        let left = |path| fs::read_dir(path).expect("a directory").count();
        assert_eq!((left(inside.as_path()), left(directory.path())), (1, 1), "nothing is left, inside or outside");
    });
});
