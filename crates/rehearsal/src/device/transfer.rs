//! The only ways between the host's memory and a device's. On a GPU each of them costs more than the
//! arithmetic of a small layer, and a read-back makes the host wait for all that was asked before it:
//! so they are few, and read-backs are counted. Clippy refuses to read a tensor anywhere else.

use std::cell::Cell;

use burn::tensor::{Device, Tensor, TensorData, kind::Basic};

thread_local! {
    /// Of this thread, since it began. It decides nothing: only [`count_read_backs`] looks at it.
    static READ_BACKS: Cell<u64> = const { Cell::new(0) };
}

/// What `work` gives, and how often this thread waited meanwhile for values from a device.
pub fn count_read_backs<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = READ_BACKS.get();
    let made = work();
    (made, READ_BACKS.get() - before)
}

/// Counts for this thread what another one read for it.
pub(crate) fn add_read_backs(count: u64) {
    READ_BACKS.set(READ_BACKS.get() + count);
}

/// Values of the host as a tensor on the device.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn upload<const D: usize, K: Basic>(data: impl Into<TensorData>, device: &Device) -> Tensor<D, K> {
    Tensor::from_data(data.into(), device)
}

/// The values of a tensor on the host, row by row.
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    READ_BACKS.set(READ_BACKS.get() + 1);
    tensor.into_data().try_to_vec().expect("tensors here are f32")
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
    fn what_comes_back_is_counted() {
        let device = Device::flex();
        let ((), read_backs) = count_read_backs(|| {
            let tensor: Tensor<2> = upload([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &device);
            assert_eq!(read(tensor.clone() * 2.0), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
            assert!((read_one(tensor.clone().sum()) - 21.0).abs() < f32::EPSILON);
            let column = |index: usize| tensor.clone().narrow(1, index, 1).reshape([2]);
            let shorter = column(1).narrow(0, 0, 1);
            assert_eq!(read_all(vec![column(0), shorter, column(2)]), [vec![1.0, 4.0], vec![2.0], vec![3.0, 6.0]]);
            assert!(read_all(Vec::new()).is_empty());
        });
        assert_eq!((read_backs, count_read_backs(|| ()).1), (3, 0));
    }
}
