//! Packed images: a pack that was changed gives the images that were packed, or is refused, or is made
//! anew. The pack is that of a folder of six photos; the input says which of its bytes are changed.
#![no_main]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use image::{Rgb, RgbImage};
use rehearsal_data::{DataError, Dataset, Request, Source, Split};
use rehearsal_fuzz::place;

/// Where the pack of the training images is, and its bytes.
static PACK: LazyLock<(PathBuf, Vec<u8>)> = LazyLock::new(|| {
    for (class, shade) in [("a", 10), ("b", 200)] {
        let folder = place().join("photos").join(class);
        fs::create_dir_all(&folder).expect("it can be made");
        for i in 0..3u8 {
            let photo = RgbImage::from_pixel(6, 5, Rgb([shade, i, 7]));
            photo.save(folder.join(format!("{i}.png"))).expect("it can be saved");
        }
    }
    drop(open().expect("six photos can be packed"));
    let packs = fs::read_dir(place().join("packs")).expect("it is there");
    let mut packs = packs.map(|entry| entry.expect("it is there").path());
    let path = packs.find(|path| path.to_string_lossy().contains("-train-")).expect("there is a pack");
    let bytes = fs::read(&path).expect("it can be read");
    (path, bytes)
});

fn open() -> Result<Arc<dyn Source>, DataError> {
    let (photos, packs) = (place().join("photos"), place().join("packs"));
    let request = Request { directory: Some(&photos), packs: Some(&packs), size: Some(4), ..Request::default() };
    Dataset::Folder.open(&request)
}

fn images(path: &Path, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    fs::write(path, bytes).expect("it can be written");
    let source = open().ok()?;
    let count = source.labels(Split::Train).len();
    (0..count).map(|i| source.image(Split::Train, i).ok().map(|image| image.to_vec())).collect()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (path, whole) = &*PACK;
    let mut pack = whole.clone();
    for edit in bytes.chunks_exact(3).take(64) {
        match usize::from(u16::from_le_bytes([edit[0], edit[1]])) {
            at if at < pack.len() => pack[at] = edit[2],
            at => pack.truncate(at % 10_000),
        }
    }
    if let Some(found) = images(path, &pack) {
        let expected = images(path, whole).expect("the whole pack can be read");
        assert!(found == expected, "a changed pack gives other images");
    }
});
