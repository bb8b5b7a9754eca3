//! The file of a model: a safetensors file whose header says what the arrays mean, sealed by a
//! checksum over every byte. `docs/model-file.md` describes it for other programs.
//!
//! The crate `safetensors` reads and writes the header. Arrays are written and read here, piece by
//! piece: the crate wants each of them in one piece, and the images of a memory are hundreds of
//! megabytes in thousands of pieces.

use std::{
    collections::HashMap,
    io::{self, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::{regular, seal, sha256::finish};
pub use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The version of the layout. 1 and 2 were checkpoints that could not stand alone, 3 had no
/// recalibrated statistics, 4 had settings that are gone, 5 said in words how a photo becomes an input.
pub const FORMAT: u64 = 6;
/// The one entry of the file's metadata.
const ENTRY: &str = "rehearsal";
/// The one entry of a file of weights for other programs, which is not a model.
pub const EXPORT_ENTRY: &str = "rehearsal-export";
/// Before the checksum, as the header's JSON is escaped inside the file's JSON.
const BEFORE_CHECKSUM: &str = "{\\\"sha256\\\":\\\"";
/// No header is longer: 65,536 classes with long names fit many times.
const LONGEST_HEADER: u64 = 256 << 20;

/// Why a file cannot be written, or is not a model that can be used.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ModelFileError {
    /// It cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    /// It cannot be written.
    #[error("{path} cannot be written: {error}")]
    Unwritable { path: PathBuf, error: io::Error },
    /// It is another kind of file.
    #[error("{path} is not a model of Rehearsal: {why}")]
    Foreign { path: PathBuf, why: String },
    /// It was made by another version.
    #[error("{path} has format {found}; this program reads format {expected}: use the version that wrote it")]
    Format { path: PathBuf, found: u64, expected: u64 },
    /// Its bytes have changed since it was written.
    #[error("{path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    /// It is whole, but what it holds cannot be.
    #[error("{path} cannot be used: {why}")]
    Unusable { path: PathBuf, why: String },
}

impl ModelFileError {
    /// Whether the file or its place is wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Unwritable { error, .. } => regular::is_wrong_place(error),
            _ => true,
        }
    }
}

/// An array on its way into a file.
pub struct ArrayToWrite<'a> {
    /// Its name in the file.
    pub name: String,
    /// The type of its values.
    pub dtype: Dtype,
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// Its bytes, row-major and little-endian, in any number of pieces.
    pub pieces: Box<dyn Iterator<Item = Vec<u8>> + 'a>,
}

/// Writes a file and gives its checksum: `header` is JSON whose first key is `sha256`, with [`seal::UNSEALED`]
/// as its value.
///
/// # Errors
/// It cannot be written; what is there is not a model.
pub fn write(mut file: impl Write + Seek, header: &str, mut arrays: Vec<ArrayToWrite>) -> io::Result<String> {
    // The widest types first, so that every array is aligned.
    arrays.sort_by_key(|array| std::cmp::Reverse(array.dtype.bitsize()));
    let metadata = metadata(header, &arrays)?;
    let sealed_at = find(&metadata, BEFORE_CHECKSUM.as_bytes())
        .map(|start| 8 + start + BEFORE_CHECKSUM.len())
        .ok_or_else(|| io::Error::other("a header begins with its checksum"))?;
    let mut digest = Sha256::new();
    let mut out = BufWriter::with_capacity(1 << 20, &mut file);
    let mut put = |bytes: &[u8]| {
        digest.update(bytes);
        out.write_all(bytes)
    };
    put(&(metadata.len() as u64).to_le_bytes())?;
    put(&metadata)?;
    for array in arrays {
        array.pieces.into_iter().try_for_each(|piece| put(&piece))?;
    }
    out.flush()?;
    drop(out);
    file.seek(SeekFrom::Start(sealed_at as u64))?;
    let checksum = finish(digest);
    file.write_all(checksum.as_bytes())?;
    Ok(checksum)
}

/// The file's JSON, padded so that the data begin at a multiple of eight bytes.
fn metadata(header: &str, arrays: &[ArrayToWrite]) -> io::Result<Vec<u8>> {
    let mut end = 0;
    let info = |array: &ArrayToWrite| {
        let start = end;
        end += array.shape.iter().product::<usize>() * (array.dtype.bitsize() / 8);
        let info = TensorInfo { dtype: array.dtype, shape: array.shape.clone(), data_offsets: (start, end) };
        (array.name.clone(), info)
    };
    let infos = arrays.iter().map(info).collect();
    let entries = HashMap::from([(ENTRY.to_owned(), header.to_owned())]);
    let metadata = Metadata::new(Some(entries), infos).map_err(io::Error::other)?;
    let mut bytes = serde_json::to_vec(&metadata)?;
    bytes.resize(bytes.len().next_multiple_of(8), b' ');
    Ok(bytes)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A file that is being read. Nothing that it says may be used before [`Reader::finish`] has found it whole.
pub struct Reader {
    path: PathBuf,
    /// Of the whole file, in bytes.
    length: u64,
    from: BufReader<Box<dyn Read + Send>>,
    digest: Sha256,
    checksum: String,
    header: String,
    /// The arrays that are left, in the order of the file; the next one last.
    arrays: Vec<(String, TensorInfo)>,
}

impl Reader {
    /// Opens a file of format `format` and reads its header.
    ///
    /// # Errors
    /// It cannot be read, is another kind of file or another format, or is cut.
    pub fn open(path: &Path, format: u64) -> Result<Self, ModelFileError> {
        let unreadable = |error| ModelFileError::Unreadable { path: path.into(), error };
        let foreign = |why: &str| ModelFileError::Foreign { path: path.into(), why: why.into() };
        let file = regular::open(path, u64::MAX).map_err(|error| {
            if regular::is_irregular(&error) { foreign(&error.to_string()) } else { unreadable(error) }
        })?;
        let length = file.metadata().map_err(unreadable)?.len();
        Self::begin(path, length, Box::new(file), format)
    }

    /// The content of such a file; errors call it `name`.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn of_bytes(name: &Path, bytes: Vec<u8>, format: u64) -> Result<Self, ModelFileError> {
        Self::begin(name, bytes.len() as u64, Box::new(Cursor::new(bytes)), format)
    }

    fn begin(path: &Path, length: u64, from: Box<dyn Read + Send>, format: u64) -> Result<Self, ModelFileError> {
        let unreadable = |error| ModelFileError::Unreadable { path: path.into(), error };
        let foreign = |why: &str| ModelFileError::Foreign { path: path.into(), why: why.into() };
        let damaged = |why: &str| ModelFileError::Damaged { path: path.into(), why: why.into() };
        let mut from = BufReader::with_capacity(1 << 20, from);
        let mut start = [0; 8];
        from.read_exact(&mut start).map_err(|_| foreign("it is too short"))?;
        let header_length = u64::from_le_bytes(start);
        if header_length > LONGEST_HEADER || header_length > length - 8 {
            return Err(foreign("it does not begin as a safetensors file does"));
        }
        let mut json = vec![0; header_length as usize];
        from.read_exact(&mut json).map_err(unreadable)?;
        let metadata: Metadata =
            serde_json::from_slice(&json).map_err(|_| foreign("it does not begin as a safetensors file does"))?;
        let entry = |name: &str| metadata.metadata().as_ref().and_then(|entries| entries.get(name));
        if entry(EXPORT_ENTRY).is_some() {
            return Err(foreign("it is an export for other programs, which keeps no memory to learn with"));
        }
        let header = entry(ENTRY);
        let header = header.ok_or_else(|| foreign("it was not written by Rehearsal"))?.clone();
        check_format(path, &header, format)?;
        if metadata.data_len() as u64 != length - 8 - header_length {
            return Err(damaged("it is longer or shorter than its header says"));
        }
        let place = find(&json, BEFORE_CHECKSUM.as_bytes()).map(|start| start + BEFORE_CHECKSUM.len());
        let checksum = place.and_then(|place| seal::take(&mut json, place));
        let checksum = checksum.ok_or_else(|| damaged("its checksum is missing"))?;
        let mut digest = Sha256::new();
        digest.update(start);
        digest.update(&json);
        let mut arrays: Vec<(String, TensorInfo)> =
            metadata.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        arrays.sort_by_key(|(_, info)| std::cmp::Reverse(info.data_offsets));
        Ok(Self { path: path.into(), length, from, digest, checksum, header, arrays })
    }

    /// How long the file is, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The header, as JSON.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The name, type and shape of the next array; none if all were read.
    pub fn next_array(&mut self) -> Option<(String, TensorInfo)> {
        self.arrays.pop()
    }

    /// Reads the next bytes of the array that [`Reader::next_array`] told.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self, into: &mut [u8]) -> Result<(), ModelFileError> {
        let read = self.from.read_exact(into);
        read.map_err(|error| ModelFileError::Unreadable { path: self.path.clone(), error })?;
        self.digest.update(into);
        Ok(())
    }

    /// The checksum, if every byte is as it was written.
    ///
    /// # Errors
    /// It is not.
    pub fn finish(self) -> Result<String, ModelFileError> {
        if finish(self.digest) == self.checksum {
            return Ok(self.checksum);
        }
        let why = "its checksum is not that of its content".into();
        Err(ModelFileError::Damaged { path: self.path, why })
    }
}

/// Refuses other formats by their number, whatever else they say.
fn check_format(path: &Path, header: &str, expected: u64) -> Result<(), ModelFileError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u64,
    }
    match serde_json::from_str(header) {
        Ok(Format { format }) if format == expected => Ok(()),
        Ok(Format { format: found }) => Err(ModelFileError::Format { path: path.into(), found, expected }),
        Err(_) => {
            let why = "its header cannot be read".into();
            Err(ModelFileError::Damaged { path: path.into(), why })
        }
    }
}
