//! Position embeddings for another number of patches than they were trained for, as `DINOv2`'s own code
//! makes them: bicubic (a = −0.75), not antialiased, and with its offset of 0.1 patches. (timm antialiases
//! and has no offset: its embeddings, and features, are a little different.)

/// What `DINOv2`'s code adds to the number of patches before it computes the scale.
const OFFSET: f32 = 0.1;
const A: f32 = -0.75;

/// Embeddings `[side, side, width]` on a grid of `(rows, columns)`.
pub(crate) fn interpolated(from: &[f32], side: usize, width: usize, grid: (usize, usize)) -> Vec<f32> {
    if grid == (side, side) {
        return from.to_vec();
    }
    let (rows, columns) = (taps(side, grid.0), taps(side, grid.1));
    let mut to = vec![0.0; grid.0 * grid.1 * width];
    let cells = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
    for (to, (row, column)) in to.chunks_exact_mut(width).zip(cells) {
        for &(y, of_row) in row {
            for &(x, of_column) in column {
                let weight = of_row * of_column;
                let from = &from[(y * side + x) * width..][..width];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
            }
        }
    }
    to
}

/// For each of `count` places along one axis: four of `side` embeddings, and their weights.
fn taps(side: usize, count: usize) -> Vec<[(usize, f32); 4]> {
    let step = side as f32 / (count as f32 + OFFSET);
    let place = |index: usize| {
        let at = (index as f32 + 0.5) * step - 0.5;
        let (first, part) = (at.floor(), at - at.floor());
        let near = |x: f32| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
        let far = |x: f32| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
        let weights = [far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)];
        let last = side as f32 - 1.0;
        std::array::from_fn(|tap| ((first + tap as f32 - 1.0).clamp(0.0, last) as usize, weights[tap]))
    };
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trained_grid_is_as_it_is_and_others_are_pytorchs() {
        let ramp: Vec<f32> = (0..37 * 37).map(|i| ((i % 37) * (i % 37)) as f32 + (i / 37) as f32).collect();
        assert_eq!(interpolated(&ramp, 37, 1, (37, 37)), ramp);
        let flat = interpolated(&[0.25; 37 * 37], 37, 1, (16, 5));
        assert!(flat.len() == 80 && flat.iter().all(|x| (x - 0.25).abs() < 1e-6));
        let small = interpolated(&ramp, 37, 1, (16, 16));
        // torch.nn.functional.interpolate(…, scale_factor=(16.1 / 37, 16.1 / 37), mode="bicubic") of the same ramp.
        for (index, expected) in [(0, 0.8886), (15, 1237.5652), (37, 153.6887), (120, 379.5726), (255, 1272.1808)] {
            assert!((small[index] - expected).abs() < 2e-3, "{} for {expected}", small[index]);
        }
    }
}
