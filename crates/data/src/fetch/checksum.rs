//! Published checksums.

use std::{io::Read, path::Path};

use md5::Md5;
use rehearsal_files::{regular, sha256::hex};
use sha2::{Digest, Sha256};

use crate::{DataError, Progress, Unit, catalogue::Checksum, files::unreadable};

/// Refuses a file of more than `limit` bytes, or with another checksum.
pub(crate) fn check(path: &Path, expected: Checksum, limit: u64, progress: &dyn Progress) -> Result<(), DataError> {
    let (kind, expected, found) = match expected {
        Checksum::Md5(md5) => ("md5", md5, digest::<Md5>(path, limit, progress)?),
        Checksum::Sha256(sha256) => ("sha256", sha256, digest::<Sha256>(path, limit, progress)?),
    };
    if found == expected {
        return Ok(());
    }
    Err(DataError::Checksum { path: path.into(), kind, expected: expected.into(), found })
}

fn digest<D: Digest>(path: &Path, limit: u64, progress: &dyn Progress) -> Result<String, DataError> {
    let file = regular::open(path, limit).map_err(unreadable(path))?;
    let length = file.metadata().map_err(unreadable(path))?.len();
    let what = format!("checking {}", path.file_name().unwrap_or_default().to_string_lossy());
    progress.begin(&what, Unit::Bytes, 0, Some(length));
    let mut digest = D::new();
    let mut file = file.take(limit);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(unreadable(path))?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        progress.advance(read as u64);
    }
    progress.end();
    Ok(hex(&digest.finalize()))
}
