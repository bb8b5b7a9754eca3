//! tar, tar.gz and zip, chosen by the first byte: nothing is left beside what is unpacked.
#![no_main]

use std::fs;

use rehearsal_data::unpack::{Kind, Limits, Unpacking};
use rehearsal_fuzz::place;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let kind = [Kind::Tar, Kind::TarGz, Kind::Zip][usize::from(*which) % 3];
    let inside = place().join("inside");
    fs::create_dir_all(&inside).expect("it can be made");
    let (archive, to) = (inside.join("archive"), inside.join("to"));
    fs::write(&archive, bytes).expect("it can be written");
    let limits = Limits { bytes: 20_000, entries: 20 };
    let unpacking = Unpacking { archive: &archive, kind, limits, to: &to, wanted: &|_| true, progress: &() };
    if unpacking.run().is_ok() {
        fs::remove_dir_all(&to).expect("what was unpacked is there");
    }
    let left = |directory| fs::read_dir(directory).expect("it is there").count();
    assert_eq!((left(&inside), left(&place().to_path_buf())), (1, 1), "nothing else, inside or outside");
});
