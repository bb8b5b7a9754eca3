//! The calls that a pickle may make: those that rebuild bytes and numpy arrays.

use super::{
    Array, Bytes, Dtype, Id, Object, array,
    machine::{Machine, Step},
};

/// More axes than images have.
const MOST_AXES: usize = 8;

/// What a pickle may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// Python 3's way to write bytes in protocol 2: `_codecs.encode(text, "latin1")`.
    Encode,
    Ndarray,
    Dtype,
    Reconstruct,
    FromBuffer,
    Scalar,
}

impl Function {
    pub(super) fn named(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("_codecs", "encode") => Self::Encode,
            ("numpy", "ndarray") => Self::Ndarray,
            ("numpy", "dtype") => Self::Dtype,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Self::Reconstruct,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Self::Scalar,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Self::FromBuffer,
            _ => return None,
        })
    }
}

impl<'a> Machine<'a> {
    pub(super) fn called(&self, function: Function, arguments: &[Id]) -> Option<Object<'a>> {
        let object = |index: usize| arguments.get(index).map(|&id| &self.objects[id]);
        match function {
            Function::Encode => match (object(0)?, object(1)?) {
                (Object::Text(text), Object::Text("latin1")) => {
                    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
                    Some(Object::Bytes(Bytes::Owned(bytes?.into())))
                }
                _ => None,
            },
            Function::Dtype => {
                let name = match object(0)? {
                    Object::Text(name) => name,
                    Object::Bytes(name) => std::str::from_utf8(name.as_slice()).ok()?,
                    _ => return None,
                };
                Dtype::from_name(name).map(Object::Dtype)
            }
            Function::Reconstruct => {
                matches!(object(0)?, Object::Function(Function::Ndarray)).then(|| Object::Array(Array::empty()))
            }
            Function::Scalar => match (object(0)?, object(1)?) {
                (Object::Dtype(dtype), Object::Bytes(bytes)) if bytes.as_slice().len() == dtype.bytes => {
                    array::int(bytes.as_slice(), *dtype).map(Object::Int)
                }
                _ => None,
            },
            Function::FromBuffer => match (object(0)?, object(1)?, object(3)?) {
                (Object::Bytes(data), Object::Dtype(dtype), Object::Text("C")) => {
                    Array::new(*dtype, self.sizes(object(2)?)?, data.clone()).map(Object::Array)
                }
                _ => None,
            },
            Function::Ndarray => None,
        }
    }

    /// Gives an array or a dtype its state.
    pub(super) fn build(&mut self) -> Step<()> {
        let (state, target) = (self.pop()?, self.top()?);
        let Object::Tuple(state) = &self.objects[state] else {
            return self.error("the state of an array", "something else");
        };
        let object = |index: usize| state.get(index).map(|&id| &self.objects[id]);
        let built = match &self.objects[target] {
            // (version, shape, dtype, Fortran order, data)
            Object::Array(_) => match (object(1), object(2), object(3), object(4)) {
                (
                    Some(shape),
                    Some(Object::Dtype(dtype)),
                    Some(Object::Bool(false) | Object::Int(0)),
                    Some(Object::Bytes(data)),
                ) => self.sizes(shape).and_then(|shape| Array::new(*dtype, shape, data.clone())).map(Object::Array),
                _ => None,
            },
            // (version, byte order, …)
            Object::Dtype(dtype) => match object(1) {
                Some(Object::Text(order)) => Some(order.as_bytes()),
                Some(Object::Bytes(order)) => Some(order.as_slice()),
                _ => None,
            }
            .map(|order| Object::Dtype(Dtype { big_endian: order == b">", ..*dtype })),
            _ => None,
        };
        self.objects[target] = self.some(built, "the state of an array of integers, row by row")?;
        Ok(())
    }

    fn sizes(&self, shape: &Object) -> Option<Vec<usize>> {
        let Object::Tuple(sizes) = shape else { return None };
        if sizes.len() > MOST_AXES {
            return None;
        }
        let size = |&id: &Id| match self.objects[id] {
            Object::Int(size) => usize::try_from(size).ok(),
            _ => None,
        };
        sizes.iter().map(size).collect()
    }
}
