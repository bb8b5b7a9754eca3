//! How series are told apart: by colour, by dashes and by markers, so that a print in grey and an
//! eye that mixes colours can too.

use super::canvas::Canvas;

/// Okabe and Ito's colours without yellow, which is pale on white, and with the ink for black.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222"];

const DASHES: [&str; 4] = ["", "7 3", "2 2.5", "9 3 2 3"];

const PLUS: [(f64, f64); 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];

const STAR: [(f64, f64); 10] = [
    (0.0, -1.5),
    (0.37, -0.51),
    (1.43, -0.46),
    (0.6, 0.2),
    (0.88, 1.21),
    (0.0, 0.63),
    (-0.88, 1.21),
    (-0.6, 0.2),
    (-1.43, -0.46),
    (-0.37, -0.51),
];

/// How a series looks.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Which of the colours.
    pub colour: usize,
    /// The pattern of its line.
    pub dash: &'static str,
    /// Which of the markers.
    pub marker: usize,
}

impl Style {
    /// That of the i-th series. There are 7 colours, 4 dashes and 9 markers, which share no
    /// divisor: of 28 series no two have the same colour and dashes, and of 36 no two the same
    /// dashes and marker, which is all that a print in grey leaves.
    pub fn for_series(series: usize) -> Self {
        Self { colour: series % 7, dash: DASHES[series % 4], marker: series % 9 }
    }

    /// Its colour.
    pub fn ink(self) -> &'static str {
        COLOURS[self.colour]
    }

    /// Draws its marker, with what a reader who points at it is told.
    pub fn mark(self, canvas: &mut Canvas, x: f64, y: f64, size: f64, tip: Option<&str>) {
        let corners: &[(f64, f64)] = match self.marker {
            0 => return canvas.circle(x, y, size, self, tip),
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
            3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            4 => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
            5 => &PLUS,
            6 => &[(-1.1, -1.2), (1.1, -1.2), (-1.1, 1.2), (1.1, 1.2)],
            7 => &STAR,
            _ => {
                return canvas.marker(
                    &PLUS.map(|(dx, dy)| (x + (dx - dy) * 0.74 * size, y + (dx + dy) * 0.74 * size)),
                    self,
                    tip,
                );
            }
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect();
        canvas.marker(&corners, self, tip);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn many_series_differ_in_colour_and_in_grey() {
        let looks = |count: usize, of: fn(Style) -> (usize, &'static str)| {
            (0..count).map(|series| of(Style::for_series(series))).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(looks(28, |style| (style.colour, style.dash)), 28);
        assert_eq!(looks(36, |style| (style.marker, style.dash)), 36);
    }
}
