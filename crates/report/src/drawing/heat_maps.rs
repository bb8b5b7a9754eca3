//! Matrices as colours, several beside each other on one scale.

use super::{
    canvas::{Anchor, Canvas},
    head::{Form, Head},
    text::{width, wrapped},
};

/// A figure of matrices that share a scale from 0 to 100.
#[derive(Clone, Debug)]
pub struct HeatMaps {
    /// What it shows.
    pub title: String,
    /// Of what and under which conditions.
    pub subtitle: String,
    /// What rows are.
    pub rows: String,
    /// What columns are.
    pub columns: String,
    /// What the scale measures.
    pub unit: String,
    /// The value of the darkest colour.
    pub highest: f64,
    /// The matrices.
    pub maps: Vec<HeatMap>,
}

/// One matrix.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What it belongs to.
    pub title: String,
    /// Values with what a reader who points at them is told; none where there is no value.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
    /// What numbers rows and columns have, if not 1, 2, 3 and so on.
    pub numbers: Vec<usize>,
}

/// From nothing to everything: lightness falls evenly, so that it reads in grey too.
const RAMP: [(f64, f64, f64); 5] =
    [(247.0, 251.0, 255.0), (198.0, 219.0, 239.0), (107.0, 174.0, 214.0), (33.0, 113.0, 181.0), (8.0, 48.0, 107.0)];

const MARGIN: f64 = 14.0;
const SIDE: f64 = 34.0;
const SCALE: f64 = 86.0;
/// The width of a figure on the screen of a phone, at least.
const NARROWEST: f64 = 360.0;
/// What the scale takes at least, with what it measures below it.
const SCALE_HEIGHT: f64 = 170.0;
/// Ticks and the name of the axis below a map.
const BELOW: f64 = 38.0;

impl HeatMap {
    fn number(&self, place: usize) -> String {
        self.numbers.get(place).copied().unwrap_or(place + 1).to_string()
    }
}

impl HeatMaps {
    /// The figure as SVG.
    pub fn svg(&self, form: Form) -> String {
        let most = |size: fn(&HeatMap) -> usize| self.maps.iter().map(size).max().unwrap_or(1).max(1);
        let (rows, columns) =
            (most(|map| map.cells.len()), most(|map| map.cells.iter().map(Vec::len).max().unwrap_or(0)));
        let most_across = match form {
            Form::Narrow => 1,
            _ if columns > 30 => 2,
            _ => 4,
        };
        let across = self.maps.len().clamp(1, most_across);
        let cell_width = match form {
            Form::Narrow => (210.0 / columns as f64).min(36.0),
            _ if columns > 30 => 420.0 / columns as f64,
            _ => (210.0 / columns as f64).clamp(9.0, 36.0),
        };
        let cell_height = if columns > 30 { (200.0 / rows as f64).clamp(9.0, 24.0) } else { cell_width };
        let (map_width, map_height) = (columns as f64 * cell_width, rows as f64 * cell_height);
        // Bold letters are wider than those that are measured.
        let titles: Vec<Vec<String>> =
            self.maps.iter().map(|map| wrapped(&map.title, 13.6, map_width.max(120.0))).collect();
        let step = map_width.max(120.0) + SIDE + 16.0;
        let figure_width =
            (across as f64 * step + 2.0 * MARGIN + SCALE).max(if form == Form::Narrow { NARROWEST } else { 420.0 });
        let head = Head::new(&self.title, &self.subtitle, figure_width - 2.0 * MARGIN, form);
        let title_heights: Vec<f64> =
            titles.chunks(across).map(|row| row.iter().map(Vec::len).max().unwrap_or(1) as f64 * 15.0 + 4.0).collect();
        let maps_height: f64 = title_heights.iter().map(|title| title + map_height + BELOW).sum();
        let mut canvas =
            Canvas::new(figure_width.ceil(), (head.height() + maps_height.max(SCALE_HEIGHT) + MARGIN).ceil());
        head.draw(&mut canvas, MARGIN);
        let mut top = head.height();
        for ((maps, titles), title_height) in self.maps.chunks(across).zip(titles.chunks(across)).zip(&title_heights) {
            for (column, (map, title)) in maps.iter().zip(titles).enumerate() {
                let left = MARGIN + column as f64 * step + SIDE;
                // A short title stands at its map, not above a gap.
                let first = top + title_height - 4.0 - 15.0 * title.len() as f64;
                for (line, text) in title.iter().enumerate() {
                    canvas.text(left, first + 12.0 + 15.0 * line as f64, 12.0, Anchor::Start, true, text);
                }
                self.draw_map(&mut canvas, map, (left, top + title_height), (cell_width, cell_height));
            }
            top += title_height + map_height + BELOW;
        }
        self.draw_scale(&mut canvas, figure_width - SCALE, head.height() + title_heights.first().unwrap_or(&0.0));
        canvas.svg(&self.title)
    }

    fn draw_map(&self, canvas: &mut Canvas, map: &HeatMap, (left, top): (f64, f64), (width, height): (f64, f64)) {
        for (row, cells) in map.cells.iter().enumerate() {
            let y = top + row as f64 * height;
            for (column, cell) in cells.iter().enumerate() {
                let x = left + column as f64 * width;
                let Some((value, tip)) = cell else { continue };
                let share = (value / self.highest).clamp(0.0, 1.0);
                canvas.cell([x, y, width, height], &colour(share), Some(tip));
                if width >= 24.0 {
                    let ink = if share > 0.5 { "#ffffff" } else { "#222222" };
                    canvas.cell_text(x + width / 2.0, y + height / 2.0 + 3.5, 10.0, ink, &number(*value, self.highest));
                }
            }
        }
        let (rows, columns) = (map.cells.len(), map.cells.iter().map(Vec::len).max().unwrap_or(0));
        for row in (0..rows).step_by((rows - 1) / 10 + 1) {
            let y = top + (row as f64 + 0.5) * height + 3.5;
            canvas.text(left - 4.0, y, 10.0, Anchor::End, false, &map.number(row));
        }
        for column in (0..columns).step_by((columns.saturating_sub(1)) / 10 + 1) {
            let x = left + (column as f64 + 0.5) * width;
            canvas.text(x, top + rows as f64 * height + 12.0, 10.0, Anchor::Middle, false, &map.number(column));
        }
        let (across, down) = (columns as f64 * width, rows as f64 * height);
        canvas.text(left + across / 2.0, top + down + 26.0, 11.0, Anchor::Middle, false, &self.columns);
        canvas.upward_text(left - 22.0, top + down / 2.0, 11.0, &self.rows);
    }

    fn draw_scale(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (height, steps) = (120.0, 40);
        for step in 0..steps {
            let share = 1.0 - (f64::from(step) + 0.5) / f64::from(steps);
            let y = top + height * f64::from(step) / f64::from(steps);
            canvas.cell([left, y, 12.0, height / f64::from(steps) + 0.3], &colour(share), None);
        }
        for (share, y) in [(1.0, top + 4.0), (0.5, top + height / 2.0 + 4.0), (0.0, top + height + 4.0)] {
            canvas.text(left + 17.0, y, 10.0, Anchor::Start, false, &scale_number(share * self.highest, self.highest));
        }
        let unit_left = (left + 6.0).min(left + SCALE - MARGIN - width(&self.unit, 11.0));
        canvas.text(unit_left, top + height + 22.0, 11.0, Anchor::Start, false, &self.unit);
    }
}

/// A value with a digit after the point where the scale is short.
fn number(value: f64, highest: f64) -> String {
    if highest < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// A mark of the scale, which is halved once.
fn scale_number(value: f64, highest: f64) -> String {
    if highest < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The colour of a share between 0 and 1.
fn colour(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let below = (place as usize).min(RAMP.len() - 2);
    let (low, high, part) = (RAMP[below], RAMP[below + 1], place - below as f64);
    let mix = |a: f64, b: f64| (a + (b - a) * part).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_begins_light_and_ends_dark() {
        assert_eq!([colour(0.0), colour(0.5), colour(1.0), colour(7.0)], ["#f7fbff", "#6baed6", "#08306b", "#08306b"]);
    }
}
