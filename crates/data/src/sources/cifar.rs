//! CIFAR-10 and CIFAR-100 in their official binary layout: records of one label byte (CIFAR-100:
//! coarse, then fine), then 3,072 bytes in planes of red, green and blue. There must be at least one
//! record.

use std::path::{Path, PathBuf};

use rehearsal_files::sha256::finish;
use sha2::{Digest, Sha256};

use crate::{
    DataError, Image, ImageShape, InMemory,
    files::{read_into, unreadable},
};

const SHAPE: ImageShape = ImageShape { height: 32, width: 32, channels: 3 };
const PLANE: usize = 32 * 32;
const PIXELS: usize = 3 * PLANE;

/// The layout of one of the two.
pub(crate) struct Layout {
    folder: &'static str,
    train: &'static [&'static str],
    test: &'static [&'static str],
    names: &'static str,
    classes: usize,
    /// Bytes before the pixels; the last of them is the label.
    label_bytes: usize,
}

pub(crate) const CIFAR10: Layout = Layout {
    folder: "cifar-10-batches-bin",
    train: &["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"],
    test: &["test_batch.bin"],
    names: "batches.meta.txt",
    classes: 10,
    label_bytes: 1,
};

pub(crate) const CIFAR100: Layout = Layout {
    folder: "cifar-100-binary",
    train: &["train.bin"],
    test: &["test.bin"],
    names: "fine_label_names.txt",
    classes: 100,
    label_bytes: 2,
};

/// `directory`, or the folder in it that the official archive has.
fn root(layout: &Layout, directory: &Path) -> PathBuf {
    let inside = directory.join(layout.folder);
    if inside.is_dir() { inside } else { directory.to_path_buf() }
}

/// How many training and test records there are, by the sizes of the files.
pub(crate) fn count(layout: &Layout, directory: &Path) -> Result<(usize, usize), DataError> {
    let (directory, record) = (root(layout, directory), (layout.label_bytes + PIXELS) as u64);
    let records = |files: &[&str]| -> Result<usize, DataError> {
        let mut records = 0;
        for path in files.iter().map(|file| directory.join(file)) {
            let bytes = path.metadata().map_err(unreadable(&path))?.len();
            check_length(bytes, record, &path)?;
            records += (bytes / record) as usize;
        }
        Ok(records)
    };
    Ok((records(layout.train)?, records(layout.test)?))
}

/// Opens the files in `directory`, or in the layout's own folder inside it.
pub(crate) fn open(layout: &Layout, directory: &Path) -> Result<InMemory, DataError> {
    let directory = root(layout, directory);
    let mut digest = Sha256::new();
    let class_names = class_names(layout, &directory.join(layout.names), &mut digest)?;
    let (train_labels, train_images) = part(layout, &directory, layout.train, &mut digest)?;
    let (test_labels, test_images) = part(layout, &directory, layout.test, &mut digest)?;
    let (labels, images) = ([train_labels, test_labels], [train_images, test_images]);
    Ok(InMemory { shape: SHAPE, class_names, labels, images, sha256: finish(digest) })
}

fn class_names(layout: &Layout, path: &Path, digest: &mut Sha256) -> Result<Vec<String>, DataError> {
    let expected = format!("the names of {} classes, one a line", layout.classes);
    let bytes = read_into(path, &expected, digest)?;
    let text = String::from_utf8_lossy(&bytes);
    let names: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect();
    if names.len() == layout.classes {
        return Ok(names);
    }
    Err(DataError::Malformed {
        path: path.into(),
        offset: bytes.len() as u64,
        expected,
        found: format!("{} names", names.len()),
    })
}

/// The labels and images of a split.
fn part(
    layout: &Layout,
    directory: &Path,
    files: &[&str],
    digest: &mut Sha256,
) -> Result<(Vec<u16>, Vec<Image>), DataError> {
    let (record, mut all_labels, mut images) = (layout.label_bytes + PIXELS, Vec::new(), Vec::new());
    for file in files {
        let path = directory.join(file);
        let records = read_into(&path, &format!("records of {record} bytes"), digest)?;
        all_labels.extend(labels(layout, &records, &path)?);
        images.extend(records.chunks_exact(record).map(|record| interleave(&record[layout.label_bytes..])));
    }
    Ok((all_labels, images))
}

/// Refuses a file without records, or with an incomplete record.
fn check_length(bytes: u64, record: u64, path: &Path) -> Result<(), DataError> {
    let rest = bytes % record;
    if bytes > 0 && rest == 0 {
        return Ok(());
    }
    Err(DataError::Malformed {
        path: path.into(),
        offset: bytes - rest,
        expected: format!("a record of {record} bytes"),
        found: format!("the end of the file after {rest}"),
    })
}

/// The label of every record; refuses an incomplete record and an invalid label.
fn labels(layout: &Layout, records: &[u8], path: &Path) -> Result<Vec<u16>, DataError> {
    let record = layout.label_bytes + PIXELS;
    let malformed = |offset: usize, expected: String, found: String| DataError::Malformed {
        path: PathBuf::from(path),
        offset: offset as u64,
        expected,
        found,
    };
    check_length(records.len() as u64, record as u64, path)?;
    let label = |(index, record_bytes): (usize, &[u8])| {
        let offset = layout.label_bytes - 1;
        match record_bytes[offset] {
            label if usize::from(label) < layout.classes => Ok(u16::from(label)),
            label => {
                Err(malformed(index * record + offset, format!("a label below {}", layout.classes), label.to_string()))
            }
        }
    };
    records.chunks_exact(record).enumerate().map(label).collect()
}

/// Planes of red, green and blue to interleaved pixels.
fn interleave(planes: &[u8]) -> Image {
    (0..PIXELS).map(|i| planes[i % 3 * PLANE + i / 3]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Source, Split};

    /// A record whose red is the column, green the row and blue 7: an image that no transposition
    /// leaves as it is.
    fn record(labels: &[u8]) -> Vec<u8> {
        let red = (0..PLANE).map(|i| (i % 32) as u8);
        let green = (0..PLANE).map(|i| (i / 32) as u8);
        labels.iter().copied().chain(red).chain(green).chain([7; PLANE]).collect()
    }

    fn write(directory: &Path, train: &[u8], test: &[u8]) {
        let names = "name\n".repeat(100);
        std::fs::write(directory.join("fine_label_names.txt"), names).unwrap();
        std::fs::write(directory.join("train.bin"), train).unwrap();
        std::fs::write(directory.join("test.bin"), test).unwrap();
    }

    fn error(directory: &Path) -> String {
        open(&CIFAR100, directory).err().unwrap().to_string()
    }

    #[test]
    fn reads_fine_labels_and_interleaves_the_planes() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("cifar-100-binary");
        std::fs::create_dir(&folder).unwrap();
        write(&folder, &[record(&[3, 99]), record(&[4, 12])].concat(), &record(&[0, 5]));
        for directory in [parent.path(), &folder] {
            let data = open(&CIFAR100, directory).unwrap();
            assert_eq!(data.labels(Split::Train), [99, 12]);
            assert_eq!(data.labels(Split::Test), [5]);
            let image = data.image(Split::Train, 1).unwrap();
            assert_eq!(image[3 * (2 * 32 + 30)..][..3], [30, 2, 7], "row 2, column 30");
        }
    }

    #[test]
    fn cifar10_joins_its_five_files() {
        let directory = tempfile::tempdir().unwrap();
        let names = "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";
        std::fs::write(directory.path().join("batches.meta.txt"), names).unwrap();
        for (index, file) in CIFAR10.train.iter().enumerate() {
            std::fs::write(directory.path().join(file), record(&[index as u8])).unwrap();
        }
        std::fs::write(directory.path().join("test_batch.bin"), record(&[9])).unwrap();
        let data = open(&CIFAR10, directory.path()).unwrap();
        assert_eq!(data.labels(Split::Train), [0, 1, 2, 3, 4]);
        assert_eq!(data.image(Split::Train, 4).unwrap()[3 * (31 * 32)..][..3], [0, 31, 7]);
    }

    #[test]
    fn errors_name_the_byte() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), &record(&[0, 1])[..3000], &record(&[0, 5]));
        assert!(
            error(directory.path())
                .ends_with("train.bin, byte 0: expected a record of 3074 bytes, found the end of the file after 3000")
        );
        write(directory.path(), &record(&[0, 1]), &[record(&[0, 5]), record(&[0, 100])].concat());
        assert!(error(directory.path()).ends_with("test.bin, byte 3075: expected a label below 100, found 100"));
        std::fs::remove_file(directory.path().join("train.bin")).unwrap();
        assert!(error(directory.path()).ends_with("train.bin is missing: expected records of 3074 bytes"));
        std::fs::write(directory.path().join("fine_label_names.txt"), "apple").unwrap();
        assert!(
            error(directory.path()).ends_with("byte 5: expected the names of 100 classes, one a line, found 1 names")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(head in prop::collection::vec(any::<u8>(), 0..4), records in 0usize..3, tail in 0usize..3) {
            let bytes = [head.as_slice(), &vec![7; records * 3074 + tail]].concat();
            let _ = labels(&CIFAR100, &bytes, Path::new("x"));
            let _ = labels(&CIFAR10, &bytes, Path::new("x"));
        }
    }
}
