//! The only ways between the host's memory and a device's. On a GPU each of them costs more than the
//! arithmetic of a small layer, and a read-back makes the host wait for all that was asked before it:
//! so they are few, and they are counted. Clippy refuses to read a tensor anywhere else.

use std::cell::Cell;

use burn::tensor::{Device, Tensor, TensorData, kind::Basic};

/// How often something went between host and device, and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// From the host to the device.
    pub uploads: u64,
    /// Their bytes.
    pub uploaded_bytes: u64,
    /// From the device to the host, which waits.
    pub read_backs: u64,
    /// Their bytes.
    pub read_bytes: u64,
}

thread_local! {
    /// Of this thread, since it began. It decides nothing: only [`Transfers::of`] looks at it. A
    /// count that is handed from call to call would stand in every signature between a benchmark
    /// and the last loss.
    static COUNTED: Cell<Transfers> = const {
        Cell::new(Transfers { uploads: 0, uploaded_bytes: 0, read_backs: 0, read_bytes: 0 })
    };
}

impl Transfers {
    /// What `work` gives, and the transfers that it made on this thread, which are all that a step
    /// makes.
    pub fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let before = COUNTED.get();
        let made = work();
        (made, COUNTED.get().since(before))
    }

    fn since(self, before: Self) -> Self {
        Self {
            uploads: self.uploads - before.uploads,
            uploaded_bytes: self.uploaded_bytes - before.uploaded_bytes,
            read_backs: self.read_backs - before.read_backs,
            read_bytes: self.read_bytes - before.read_bytes,
        }
    }
}

/// Values of the host as a tensor on the device.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn upload<const D: usize, K: Basic>(data: impl Into<TensorData>, device: &Device) -> Tensor<D, K> {
    let data = data.into();
    let counted = COUNTED.get();
    let (uploads, uploaded_bytes) = (counted.uploads + 1, counted.uploaded_bytes + data.as_bytes().len() as u64);
    COUNTED.set(Transfers { uploads, uploaded_bytes, ..counted });
    Tensor::from_data(data, device)
}

/// The values of a tensor on the host, row by row.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let values: Vec<f32> = tensor.into_data().try_to_vec().expect("tensors here are f32");
    let counted = COUNTED.get();
    let (read_backs, read_bytes) = (counted.read_backs + 1, counted.read_bytes + 4 * values.len() as u64);
    COUNTED.set(Transfers { read_backs, read_bytes, ..counted });
    values
}

/// The values of each of several vectors, which come to the host together: it waits once.
pub fn read_all(vectors: Vec<Tensor<1>>) -> Vec<Vec<f32>> {
    let lengths: Vec<usize> = vectors.iter().map(|vector| vector.dims()[0]).collect();
    if lengths.is_empty() {
        return Vec::new();
    }
    let values = read(Tensor::cat(vectors, 0));
    let mut rest = &values[..];
    let next = |length: usize| {
        let (vector, left) = rest.split_at(length);
        rest = left;
        vector.to_vec()
    };
    lengths.into_iter().map(next).collect()
}

/// The value of a tensor that has one.
pub fn read_one<const D: usize>(tensor: Tensor<D>) -> f32 {
    let values = read(tensor);
    assert_eq!(values.len(), 1, "a tensor of one value");
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_there_and_back_is_counted_here_alone() {
        let device = Device::flex();
        let ((), transfers) = Transfers::of(|| {
            let tensor: Tensor<2> = upload([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &device);
            assert_eq!(read(tensor.clone() * 2.0), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
            assert!((read_one(tensor.clone().sum()) - 21.0).abs() < f32::EPSILON);
            let column = |index: usize| tensor.clone().narrow(1, index, 1).reshape([2]);
            let shorter = column(1).narrow(0, 0, 1);
            assert_eq!(read_all(vec![column(0), shorter, column(2)]), [vec![1.0, 4.0], vec![2.0], vec![3.0, 6.0]]);
            assert!(read_all(Vec::new()).is_empty());
        });
        assert_eq!(transfers, Transfers { uploads: 1, uploaded_bytes: 24, read_backs: 3, read_bytes: 48 });
        assert_eq!(Transfers::of(|| ()).1, Transfers::default());
    }
}
