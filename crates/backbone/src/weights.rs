//! Tensors of a file of weights, as `f32`: safetensors, or what `torch.save` writes. Reading a file
//! runs no code of it, and allocates no more than the tensors that are asked for.

use std::path::Path;

use half::f16;
use pytorch_reader::{DType, PytorchReader};
use rehearsal_files::{regular, sha256};
use safetensors::{Dtype, SafeTensors};

use crate::BackboneError;

/// A file of weights.
pub(crate) enum Weights<'a> {
    Safetensors(SafeTensors<'a>),
    Checkpoint(PytorchReader),
}

/// The types of numbers that are read.
#[derive(Clone, Copy)]
enum Precision {
    Half,
    Single,
}

impl<'a> Weights<'a> {
    /// A safetensors file.
    pub fn new(bytes: &'a [u8]) -> Result<Self, BackboneError> {
        Ok(Self::Safetensors(SafeTensors::deserialize(bytes)?))
    }

    /// A file of `torch.save`: a dictionary of tensors, in today's format or the one before.
    pub fn from_checkpoint(path: &Path) -> Result<Self, BackboneError> {
        // The reader opens whatever is there, and would wait for a pipe.
        regular::open(path, u64::MAX).map_err(|error| BackboneError::File { path: path.into(), error })?;
        let damaged = |why: String| BackboneError::Checkpoint { path: path.into(), why };
        Ok(Self::Checkpoint(PytorchReader::new(path).map_err(|error| damaged(error.to_string()))?))
    }

    /// A tensor of this shape, in float16 or float32.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, BackboneError> {
        let values = match self {
            Self::Safetensors(file) => {
                let tensor = file.tensor(name).map_err(|_| BackboneError::Missing(name.to_owned()))?;
                let precision = match tensor.dtype() {
                    Dtype::F16 => Some(Precision::Half),
                    Dtype::F32 => Some(Precision::Single),
                    _ => None,
                };
                let found = || format!("{:?} {:?}", tensor.dtype(), tensor.shape());
                decode(tensor.data(), check(name, shape, tensor.shape(), precision, found)?)
            }
            Self::Checkpoint(file) => {
                let tensor = file.get(name).ok_or_else(|| BackboneError::Missing(name.to_owned()))?;
                let precision = match tensor.dtype() {
                    DType::F16 => Some(Precision::Half),
                    DType::F32 => Some(Precision::Single),
                    _ => None,
                };
                let found = || format!("{:?} {:?}", tensor.dtype(), tensor.shape());
                // The shape first: a tensor is not read before it is known to be as large as it should.
                let precision = check(name, shape, tensor.shape(), precision, found)?;
                let bytes = tensor.read();
                decode(&bytes.map_err(|error| BackboneError::Damaged { name: name.to_owned(), error })?, precision)
            }
        };
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(BackboneError::NotFinite(name.to_owned()))
        }
    }
}

/// SHA-256 of a file.
pub(crate) fn file_sha256(path: &Path) -> Result<String, BackboneError> {
    let digest = regular::open(path, u64::MAX).and_then(sha256::of_reader);
    digest.map(sha256::finish).map_err(|error| BackboneError::File { path: path.into(), error })
}

/// Refuses a tensor of another shape or type.
fn check(
    name: &str,
    expected: &[usize],
    shape: &[usize],
    precision: Option<Precision>,
    found: impl Fn() -> String,
) -> Result<Precision, BackboneError> {
    precision.filter(|_| shape == expected).ok_or_else(|| BackboneError::Shape {
        name: name.to_owned(),
        found: found(),
        expected: format!("{expected:?}"),
    })
}

fn decode(bytes: &[u8], precision: Precision) -> Vec<f32> {
    match precision {
        Precision::Half => bytes.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
        Precision::Single => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;

    /// A file of `make_goldens.py`.
    fn made(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pth").join(name)
    }

    #[test]
    fn files_of_torch_save_are_read_in_both_formats() {
        for name in ["zip.pth", "legacy.pth"] {
            let file = Weights::from_checkpoint(&made(name)).unwrap();
            let single = file.tensor("single", &[2, 3]).unwrap();
            assert_eq!(single, [0.9073855, 1.1026154, -0.13593467, 1.087453, 0.76377547, 0.30766314], "{name}");
            let turned = file.tensor("turned", &[3, 2]).unwrap();
            assert_eq!(turned, [0, 3, 1, 4, 2, 5].map(|index: usize| single[index]), "{name}");
            let half = file.tensor("half", &[4]).unwrap();
            assert_eq!(half.iter().map(|x| (x * 1000.0).round() as i32).collect::<Vec<_>>(), [997, 1169, 878, 1158]);
            assert_eq!(file.tensor("nothing", &[0, 3]).unwrap(), Vec::<f32>::new());
            assert!(matches!(file.tensor("absent", &[1]), Err(BackboneError::Missing(_))));
            assert!(matches!(file.tensor("single", &[3, 2]), Err(BackboneError::Shape { .. })));
            assert!(matches!(file.tensor("int", &[3]), Err(BackboneError::Shape { .. })));
            assert!(matches!(file.tensor("nan", &[2]), Err(BackboneError::NotFinite(_))));
        }
    }

    #[test]
    fn hostile_files_are_refused_without_running_or_allocating() {
        // A kilobyte that says it is 4 GB: its shape is compared before anything is allocated.
        let expanded = Weights::from_checkpoint(&made("expanded.pth")).unwrap();
        assert!(matches!(expanded.tensor("single", &[2, 3]), Err(BackboneError::Shape { .. })));
        let short = Weights::from_checkpoint(&made("short.pth")).map(|file| file.tensor("single", &[2, 3]));
        assert!(
            matches!(short, Err(BackboneError::Checkpoint { .. }) | Ok(Err(BackboneError::Damaged { .. }))),
            "a storage that is shorter than it says"
        );
        let code = Weights::from_checkpoint(&made("code.pth")).map(|file| file.tensor("single", &[2, 3]));
        assert!(matches!(code, Err(BackboneError::Checkpoint { .. }) | Ok(Err(BackboneError::Missing(_)))));
    }

    #[test]
    fn files_that_are_cut_anywhere_or_are_no_files_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let cut = place.path().join("cut.pth");
        for name in ["zip.pth", "legacy.pth"] {
            let whole = fs::read(made(name)).unwrap();
            for length in (0..whole.len()).step_by(11).chain([whole.len() - 1]) {
                fs::write(&cut, &whole[..length]).unwrap();
                let file = Weights::from_checkpoint(&cut);
                let is_whole = file.is_ok_and(|file| {
                    file.tensor("single", &[2, 3]).is_ok()
                        && file.tensor("turned", &[3, 2]).is_ok()
                        && file.tensor("half", &[4]).is_ok()
                        && matches!(file.tensor("nan", &[2]), Err(BackboneError::NotFinite(_)))
                });
                assert!(!is_whole, "{name}, {length} of {} bytes", whole.len());
            }
        }
        assert!(matches!(Weights::from_checkpoint(place.path()), Err(BackboneError::File { .. })));
        assert!(matches!(Weights::from_checkpoint(&place.path().join("none")), Err(BackboneError::File { .. })));
    }

    #[test]
    fn a_file_with_any_byte_changed_is_read_or_refused() {
        let place = tempfile::tempdir().unwrap();
        let changed = place.path().join("changed.pth");
        for name in ["zip.pth", "legacy.pth", "expanded.pth"] {
            let whole = fs::read(made(name)).unwrap();
            for at in (0..whole.len()).step_by(3) {
                for flip in [1, 0x80, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= flip;
                    fs::write(&changed, bytes).unwrap();
                    let Ok(file) = Weights::from_checkpoint(&changed) else { continue };
                    // Whatever it says: not more is allocated than what is asked for, and nothing panics.
                    for (tensor, shape) in [("single", &[2, 3][..]), ("half", &[4]), ("nan", &[2])] {
                        let _ = file.tensor(tensor, shape);
                    }
                }
            }
        }
    }
}
