//! Features in two dimensions: their first two principal components.

use rehearsal_model::{Digest, Features};

/// Photos beyond these are left out: a map has no room for more.
const MOST: usize = 3000;
/// Enough for what an eye can see.
const ITERATIONS: usize = 30;

/// A photo on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub photo: Digest,
    pub x: f32,
    pub y: f32,
}

/// The photos on a map from −1 to 1, and the share of the variance along each axis.
pub(crate) fn map(features: &Features) -> (Vec<Point>, [f64; 2]) {
    let every = features.len().div_ceil(MOST).max(1);
    let photos: Vec<Digest> = features.keys().copied().step_by(every).collect();
    let mut rows: Vec<Vec<f32>> = features.values().step_by(every).map(|feature| feature.values().collect()).collect();
    let (n, d) = (rows.len(), rows.first().map_or(0, Vec::len));
    if n < 2 || d < 2 {
        return (photos.into_iter().map(|photo| Point { photo, x: 0.0, y: 0.0 }).collect(), [0.0; 2]);
    }
    let mut mean = vec![0.0; d];
    rows.iter().for_each(|row| mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / n as f32));
    rows.iter_mut().for_each(|row| row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean));
    let total: f64 = rows.iter().flatten().map(|&value| f64::from(value).powi(2)).sum();
    let mut axes: Vec<Vec<f32>> = Vec::new();
    for axis in 0..2 {
        axes.push(component(&rows, &axes, axis));
    }
    let along = |axis: &[f32]| -> Vec<f32> { rows.iter().map(|row| dot(row, axis)).collect() };
    let places: Vec<Vec<f32>> = axes.iter().map(|axis| along(axis)).collect();
    let share =
        |places: &[f32]| places.iter().map(|&at| f64::from(at).powi(2)).sum::<f64>() / total.max(f64::MIN_POSITIVE);
    let farthest = places.iter().flatten().fold(f32::MIN_POSITIVE, |most, at| most.max(at.abs()));
    let point = |(index, photo): (usize, Digest)| Point {
        photo,
        x: places[0][index] / farthest,
        y: places[1][index] / farthest,
    };
    (photos.into_iter().enumerate().map(point).collect(), [share(&places[0]), share(&places[1])])
}

/// The direction of the largest variance that is orthogonal to `others`, by power iteration.
fn component(rows: &[Vec<f32>], others: &[Vec<f32>], number: usize) -> Vec<f32> {
    // Begins anywhere, always at the same place.
    let mut axis: Vec<f32> =
        (0..rows[0].len()).map(|i| ((i * 7919 + number * 104_729) % 1009) as f32 - 504.0).collect();
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; axis.len()];
        for row in rows {
            let at = dot(row, &axis);
            next.iter_mut().zip(row).for_each(|(sum, value)| *sum += at * value);
        }
        for other in others {
            let at = dot(&next, other);
            next.iter_mut().zip(other).for_each(|(value, other)| *value -= at * other);
        }
        let length = dot(&next, &next).sqrt();
        if length == 0.0 {
            return vec![0.0; axis.len()];
        }
        axis = next.into_iter().map(|value| value / length).collect();
    }
    axis
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
