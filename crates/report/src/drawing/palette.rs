//! How series are told apart: by colour, by dashes and by markers, so that a print in grey and an eye that mixes colours can too.

use super::canvas::Canvas;

/// Okabe and Ito's colours without yellow, which is pale on white, and with the ink for black.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222"];

const DASHES: [&str; 4] = ["", "7 3", "2 2.5", "9 3 2 3"];

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
    /// That of the i-th series. Colours repeat after 7, with other markers and dashes.
    pub fn of(series: usize) -> Self {
        Self { colour: series % 7, dash: DASHES[(series + series / 7) % 4], marker: series % 6 }
    }

    /// Its colour.
    pub fn ink(self) -> &'static str {
        COLOURS[self.colour]
    }

    /// Draws its marker, with what a reader who points at it is told.
    pub fn mark(self, canvas: &Canvas, x: f64, y: f64, size: f64, tip: Option<&str>) {
        let corners: &[(f64, f64)] = match self.marker {
            0 => return canvas.circle(x, y, size, self, tip),
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
            3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            4 => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
            _ => &[
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
            ],
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect();
        canvas.marker(&corners, self, tip);
    }
}
