//! Photos → features.

use std::{
    mem,
    ops::ControlFlow,
    path::PathBuf,
    process,
    sync::{Arc, Mutex, PoisonError},
};

use numpy::{
    IntoPyArray, PyArray2, PyReadonlyArray2, PyReadonlyArray3, PyReadonlyArray4, PyUntypedArrayMethods,
    ndarray::{Array2, ArrayView2},
};
use pyo3::prelude::*;
use rehearsal_backbone::{Extracted, Extractor};
use rehearsal_data::decode::PictureRef;
use rehearsal_files::threads::on_threads;
use rehearsal_gaussian::Feature;
use rehearsal_model::{BackboneId, Digest, ModelError, open_backbone};

use crate::{
    error::{Error, Result},
    events::{self, Reporter},
    number::{self, Number},
};

/// A frozen pre-trained network, opened at first use.
#[pyclass(frozen, module = "rehearsal_learn")]
pub struct Backbone {
    name: String,
    threads: usize,
    /// With the process that opened it: a forked child has no threads of its parent.
    opened: Mutex<Option<(u32, Arc<Extractor>)>>,
}

/// The features of photos, and who they are.
#[pyclass(frozen, module = "rehearsal_learn")]
pub struct Features(pub Vec<Extracted>);

/// What photos come as.
#[derive(FromPyObject)]
enum Photos<'py> {
    /// Files.
    Paths(Vec<PathBuf>),
    /// `[n, height, width, 3]`.
    Stack(PyReadonlyArray4<'py, u8>),
    /// `[height, width, 3]` each.
    Arrays(Vec<PyReadonlyArray3<'py, u8>>),
}

#[pymethods]
impl Backbone {
    #[new]
    #[pyo3(signature = (name, threads=None))]
    fn new(name: String, threads: Option<Number<usize>>) -> Result<Self> {
        Ok(Self { name, threads: number::threads(threads)?, opened: Mutex::new(None) })
    }

    /// Features of a photo.
    #[getter]
    fn dimensions(&self) -> Result<usize> {
        Ok(self.open()?.backbone().dimensions())
    }

    /// SHA-256 of the weights.
    #[getter]
    fn sha256(&self) -> Result<String> {
        Ok(self.open()?.backbone().sha256().to_owned())
    }

    /// The features of photos: paths, an array [n, height, width, 3] of bytes, or a list of arrays [height, width, 3].
    #[pyo3(signature = (photos, callback=None))]
    fn extract(&self, py: Python<'_>, photos: Photos<'_>, callback: Option<Bound<'_, PyAny>>) -> Result<Features> {
        let (extractor, threads) = (self.open()?, self.threads);
        let work = Work::new(&photos)?;
        let extracted = events::run(py, callback.as_ref(), |reporter| {
            on_threads(threads, || work.extract(&extractor, reporter)).map_err(no_threads)?
        });
        extracted.map(Features)
    }
}

impl Backbone {
    /// The backbone, opened by this process.
    fn open(&self) -> Result<Arc<Extractor>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        match opened.take() {
            Some((process, extractor)) if process == process::id() => {
                *opened = Some((process, Arc::clone(&extractor)));
                return Ok(extractor);
            }
            // Its threads were not forked: it would wait for them for ever.
            stale => mem::forget(stale),
        }
        let extractor = Arc::new(open_backbone(&self.name, self.threads)?);
        *opened = Some((process::id(), Arc::clone(&extractor)));
        Ok(extractor)
    }

    /// Which backbone that is.
    pub fn id(&self) -> Result<BackboneId> {
        Ok(BackboneId::of(&self.name, self.open()?.backbone()))
    }
}

/// Photos, as the libraries take them.
enum Work<'a> {
    Paths(&'a [PathBuf]),
    Pictures(Vec<PictureRef<'a>>),
}

impl<'a> Work<'a> {
    fn new(photos: &'a Photos<'_>) -> Result<Self> {
        Ok(match photos {
            Photos::Paths(paths) => Self::Paths(paths),
            Photos::Stack(stack) => {
                let pixels = stack.as_slice().map_err(|_| not_contiguous())?;
                let &[count, height, width, channels] = stack.shape() else { return Err(not_a_picture(stack.shape())) };
                let each = height * width * channels;
                let picture = |at: usize| picture(&stack.shape()[1..], &pixels[at * each..][..each]);
                Self::Pictures((0..count).map(picture).collect::<Result<_>>()?)
            }
            Photos::Arrays(arrays) => {
                let one = |array: &'a PyReadonlyArray3<'_, u8>| {
                    picture(array.shape(), array.as_slice().map_err(|_| not_contiguous())?)
                };
                Self::Pictures(arrays.iter().map(one).collect::<Result<_>>()?)
            }
        })
    }

    fn extract(&self, extractor: &Extractor, reporter: &Reporter) -> Result<Vec<Extracted>> {
        let (mut all, mut refused) = (Vec::new(), None);
        let go_on = || if reporter.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        match self {
            Self::Paths(paths) => extractor.for_each(paths, reporter, |_, extracted| match extracted {
                Ok(extracted) => {
                    all.push(extracted);
                    go_on()
                }
                Err(error) => {
                    refused = Some(error);
                    ControlFlow::Break(())
                }
            })?,
            Self::Pictures(pictures) => extractor.for_each_picture(pictures, reporter, |extracted| {
                all.push(extracted);
                go_on()
            })?,
        }
        match refused {
            Some(error) => Err(error.into()),
            None if reporter.is_stopped() => Err(Error::Stopped),
            None => Ok(all),
        }
    }
}

/// A picture in an array of this shape.
fn picture<'a>(shape: &[usize], pixels: &'a [u8]) -> Result<PictureRef<'a>> {
    match shape {
        &[height, width, 3] => PictureRef::new(height, width, pixels).ok_or_else(|| not_a_picture(shape)),
        _ => Err(not_a_picture(shape)),
    }
}

fn not_a_picture(shape: &[usize]) -> Error {
    Error::Value(format!("an image has the shape {shape:?}: expected [height, width, 3], with at least one pixel"))
}

fn not_contiguous() -> Error {
    Error::Value("an array of images is not contiguous: pass it through numpy.ascontiguousarray".into())
}

fn no_threads(error: impl ToString) -> Error {
    ModelError::Threads(error.to_string()).into()
}

#[pymethods]
impl Features {
    /// Features that were computed elsewhere: [n, dimensions].
    #[staticmethod]
    fn of_array(py: Python<'_>, values: PyReadonlyArray2<'_, f32>) -> Result<Self> {
        let values: ArrayView2<f32> = values.as_array();
        events::run(py, None, |_| {
            let row = |row: numpy::ndarray::ArrayView1<f32>| match row.as_slice() {
                Some(row) => Feature::new(row),
                None => Feature::new(&row.to_vec()),
            };
            let features = values.rows().into_iter().map(row).collect::<std::result::Result<Vec<_>, _>>();
            let features = features.map_err(|error| Error::Value(error.to_string()))?;
            Ok(Self(features.into_iter().map(Extracted::of_feature).collect()))
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The features [n, dimensions].
    fn values<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f32>>> {
        let dimensions = self.0.first().map_or(0, |extracted| extracted.feature.dimensions());
        let values: Vec<f32> = self.0.iter().flat_map(|extracted| extracted.feature.values()).collect();
        matrix(py, (self.0.len(), dimensions), values)
    }

    /// The identities of the photos [n, 16]: a photo that comes again has the same.
    fn digests<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<u8>>> {
        let digests = self.0.iter().flat_map(|extracted| Digest::from_sha256(extracted.sha256).bytes()).collect();
        matrix(py, (self.0.len(), Digest::BYTES), digests)
    }
}

/// Numbers, row by row, as an array of Python's.
pub fn matrix<T: numpy::Element>(
    py: Python<'_>,
    shape: (usize, usize),
    values: Vec<T>,
) -> Result<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec(shape, values).map_err(|error| Error::Bug(error.to_string()))?;
    Ok(array.into_pyarray(py))
}
