//! A gradient as one long vector, to be compared with many others.
//!
//! On the host it is added up in blocks of f32 as f64. On a GPU it stays there, and only what was asked
//! for comes back. The two round differently, so each device keeps its own way.

use burn::tensor::Tensor;
use rayon::prelude::*;

use crate::device::{read, read_one};

/// Values that are added up at once on a GPU: the sums are added up again, in a fixed order.
const BLOCK: usize = 1024;
/// What a cosine's denominator is at least.
const SMALLEST: f64 = 1e-8;

/// A gradient as one vector, to be compared with many others.
#[derive(Clone, Debug)]
pub struct FlatGradient(pub(super) Flat);

/// Where it is.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a handle beside millions of numbers")]
pub(super) enum Flat {
    Host(Values),
    Device(Blocks),
}

/// A vector of the host, and its length.
#[derive(Clone, Debug)]
pub(super) struct Values {
    values: Vec<f32>,
    length: f64,
}

/// A vector on a device, filled up with zeros: `[blocks, BLOCK]`.
#[derive(Clone, Debug)]
pub(super) struct Blocks(Tensor<2>);

impl FlatGradient {
    /// The inner product of two gradients.
    pub fn dot(&self, other: &Self) -> f64 {
        match (&self.0, &other.0) {
            (Flat::Host(a), Flat::Host(b)) => dot(&a.values, &b.values),
            (Flat::Device(a), Flat::Device(b)) => f64::from(read_one(a.dot(b))),
            _ => panic!("gradients of one network are on one device"),
        }
    }

    /// The cosine between two gradients; 0 where one of them is 0.
    pub fn cosine(&self, other: &Self) -> f32 {
        let rows = std::slice::from_ref(self);
        match &other.0 {
            Flat::Host(other) => other.cosines(rows)[0],
            Flat::Device(_) => Blocks::cosines(rows, std::iter::once(other.clone()))[0][0],
        }
    }

    /// The cosines of each of several gradients with every row. One gradient after another is looked
    /// at and dropped; what is on a GPU is read back once, after the last.
    pub fn cosines(rows: &[Self], gradients: impl IntoIterator<Item = Self>) -> Vec<Vec<f32>> {
        let mut gradients = gradients.into_iter().peekable();
        match gradients.peek() {
            Some(Self(Flat::Device(_))) => Blocks::cosines(rows, gradients),
            _ => gradients.map(|gradient| gradient.values().cosines(rows)).collect(),
        }
    }

    fn values(&self) -> &Values {
        match &self.0 {
            Flat::Host(values) => values,
            Flat::Device(_) => panic!("gradients of one network are on one device"),
        }
    }

    fn blocks(&self) -> &Blocks {
        match &self.0 {
            Flat::Device(blocks) => blocks,
            Flat::Host(_) => panic!("gradients of one network are on one device"),
        }
    }
}

impl Flat {
    pub(super) fn on_host(gradients: &[Tensor<1>]) -> Self {
        Self::Host(Values::of(gradients))
    }

    pub(super) fn on_device(gradients: &[Tensor<1>]) -> Self {
        Self::Device(Blocks::of(gradients))
    }
}

impl Values {
    fn of(gradients: &[Tensor<1>]) -> Self {
        let mut values = Vec::with_capacity(gradients.iter().map(|tensor| tensor.dims()[0]).sum());
        gradients.iter().for_each(|tensor| values.extend(read(tensor.clone())));
        let length = dot(&values, &values).sqrt();
        Self { values, length }
    }

    fn cosines(&self, rows: &[FlatGradient]) -> Vec<f32> {
        let cosine = |row: &Self| (dot(&row.values, &self.values) / (row.length * self.length).max(SMALLEST)) as f32;
        rows.par_iter().map(|row| cosine(row.values())).collect()
    }
}

impl Blocks {
    pub(super) fn of(gradients: &[Tensor<1>]) -> Self {
        let length: usize = gradients.iter().map(|tensor| tensor.dims()[0]).sum();
        let blocks = length.div_ceil(BLOCK);
        let mut parts = gradients.to_vec();
        if let Some(first) = gradients.first().filter(|_| blocks * BLOCK > length) {
            parts.push(Tensor::zeros([blocks * BLOCK - length], &first.device()));
        }
        Self(Tensor::cat(parts, 0).reshape([blocks, BLOCK]))
    }

    /// Σ a·b, `[1]`. By sums over axes: a sum over everything may be added up in any order.
    pub(super) fn dot(&self, other: &Self) -> Tensor<1> {
        (self.0.clone() * other.0.clone()).sum_dim(1).sum_dim(0).reshape([1])
    }

    /// See [`FlatGradient::cosines`].
    fn cosines(rows: &[FlatGradient], gradients: impl Iterator<Item = FlatGradient>) -> Vec<Vec<f32>> {
        let mut asked: Vec<Tensor<1>> = rows.iter().map(|row| row.blocks().dot(row.blocks())).collect();
        for gradient in gradients {
            let gradient = gradient.blocks();
            asked.push(gradient.dot(gradient));
            asked.extend(rows.iter().map(|row| row.blocks().dot(gradient)));
        }
        let read = read(Tensor::cat(asked, 0));
        let (squares, products) = read.split_at(rows.len());
        let length = |square: f32| f64::from(square).sqrt();
        let cosine = |product: f32, a: f32, b: f32| (f64::from(product) / (length(a) * length(b)).max(SMALLEST)) as f32;
        let of_one = |products: &[f32]| {
            let pairs = products[1..].iter().zip(squares);
            pairs.map(|(&product, &square)| cosine(product, square, products[0])).collect()
        };
        products.chunks_exact(1 + rows.len()).map(of_one).collect()
    }
}

/// Σ a·b, in blocks of f32 added up as f64: as fast as f32 and, over millions of values, nearly as exact as f64.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 16;
    let block = |a: &[f32], b: &[f32]| {
        let mut sums = [0.0f32; LANES];
        let (a, b) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (a, b) in a.0.iter().zip(b.0) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * b[lane];
            }
        }
        let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
        f64::from(sums.iter().sum::<f32>() + rest)
    };
    a.chunks(1024).zip(b.chunks(1024)).map(|(a, b)| block(a, b)).sum()
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::gradients::Gradients;

    #[test]
    fn a_cosine_is_that_of_the_vectors_and_zero_for_none() {
        let flat = |values: &[f32]| Gradients::from_values(values).flat();
        assert!((flat(&[3.0, 4.0]).cosine(&flat(&[4.0, 3.0])) - 0.96).abs() < 1e-6);
        assert!(flat(&[0.0, 0.0]).cosine(&flat(&[4.0, 3.0])).abs() < 1e-9);
        let long: Vec<f32> = (0..5000).map(|i| (i % 7) as f32 - 2.5).collect();
        let exact: f64 = long.iter().map(|value| f64::from(*value).powi(2)).sum();
        assert!((dot(&long, &long) - exact).abs() < 1e-9 * exact);
    }

    /// On the processor, if both ways can be had.
    #[test]
    fn what_a_gpu_adds_up_is_what_the_host_adds_up() {
        let vector = |seed: usize, length: usize| -> Tensor<1> {
            let values: Vec<f32> = (0..length).map(|i| ((i * seed) % 23) as f32 / 11.0 - 1.0).collect();
            crate::device::upload(values.as_slice(), &Device::flex())
        };
        let gradient = |seed: usize| vec![vector(seed, 700), vector(seed + 1, 1), vector(seed + 2, 1500)];
        let on = |gradients: &[Tensor<1>]| {
            (FlatGradient(Flat::on_host(gradients)), FlatGradient(Flat::on_device(gradients)))
        };
        let (rows, blocks): (Vec<_>, Vec<_>) = [gradient(3), gradient(5)].iter().map(|g| on(g)).unzip();
        let (mine, blocked): (Vec<_>, Vec<_>) = [gradient(7), gradient(9), gradient(3)].iter().map(|g| on(g)).unzip();
        let (host, device) =
            (FlatGradient::cosines(&rows, mine.clone()), FlatGradient::cosines(&blocks, blocked.clone()));
        assert_eq!((device.len(), device[0].len()), (3, 2));
        for (a, b) in host.concat().iter().zip(device.concat()) {
            assert!((a - b).abs() < 1e-6, "{host:?}, {device:?}");
        }
        assert!((host[2][0] - 1.0).abs() < 1e-6, "with itself");
        let (a, b) = (rows[0].dot(&mine[0]), blocks[0].dot(&blocked[0]));
        assert!((a - b).abs() < 1e-4 * a.abs().max(1.0), "{a}, {b}");
    }
}
