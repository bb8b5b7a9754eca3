//! The legend of a figure: how each series looks, and its name, in columns that fit the figure.

use super::{
    canvas::{Anchor, Canvas},
    palette::Style,
    text::{width, wrapped},
};

const SIZE: f64 = 12.0;
/// From one entry to the one below, and from one line of a name to the next.
const ROW: f64 = 18.0;
const LINE: f64 = 14.0;
/// How wide a piece of a line is, and how far from it the name is.
const SAMPLE: f64 = 30.0;
const SPACE: f64 = 6.0;
/// From the widest name of a column to the next column.
const GAP: f64 = 18.0;
const MOST_COLUMNS: usize = 8;

/// What of a series the figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Lines with markers.
    Both,
    /// Only lines.
    Line,
    /// Only markers.
    Marker,
}

/// The names of series in columns that fit a figure; long names take several lines.
pub struct Legend {
    sample: Sample,
    columns: usize,
    entries: Vec<(usize, Vec<String>)>,
}

impl Legend {
    /// In as many columns as make it lowest.
    pub fn new(names: &[(usize, &str)], widest: f64, sample: Sample) -> Self {
        let most = names.len().clamp(1, MOST_COLUMNS);
        let lowest = (1..=most).map(|columns| Self::in_columns(names, widest, sample, columns)).min_by(|one, other| {
            // The first of equals, which breaks fewest names.
            one.height().total_cmp(&other.height())
        });
        lowest.expect("there is one column at least")
    }

    /// Names are broken only in columns that would take more than their share of the width.
    fn in_columns(names: &[(usize, &str)], widest: f64, sample: Sample, columns: usize) -> Self {
        let entries = names.iter().map(|&(series, name)| (series, vec![name.to_owned()])).collect();
        let mut legend = Self { sample, columns, entries };
        let room = widest + GAP - columns as f64 * (SAMPLE + SPACE + GAP);
        let most = fair_limit((0..columns).map(|column| legend.name_width(column)).collect(), room);
        for (entry, (_, name)) in legend.entries.iter_mut().zip(names) {
            entry.1 = wrapped(name, SIZE, most);
        }
        legend
    }

    pub fn height(&self) -> f64 {
        self.rows().map(row_height).sum::<f64>() + 10.0
    }

    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let mut y = top + SIZE;
        for row in self.rows() {
            let mut x = left;
            for ((series, name), width) in row.iter().zip(self.widths()) {
                canvas.begin_legend(*series);
                self.draw_sample(canvas, Style::for_series(*series), x, y - 4.0);
                for (i, line) in name.iter().enumerate() {
                    canvas.text(x + SAMPLE + SPACE, y + i as f64 * LINE, SIZE, Anchor::Start, false, line);
                }
                canvas.end();
                x += width;
            }
            y += row_height(row);
        }
    }

    fn draw_sample(&self, canvas: &mut Canvas, style: Style, x: f64, y: f64) {
        if self.sample != Sample::Marker {
            canvas.polyline(&[(x, y), (x + SAMPLE, y)], style);
        }
        if self.sample != Sample::Line {
            style.mark(canvas, x + SAMPLE / 2.0, y, 3.6, None);
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[(usize, Vec<String>)]> {
        self.entries.chunks(self.columns)
    }

    /// How far it is from each column to the next.
    fn widths(&self) -> Vec<f64> {
        (0..self.columns).map(|column| SAMPLE + SPACE + self.name_width(column) + GAP).collect()
    }

    /// The widest line of the names in a column.
    fn name_width(&self, column: usize) -> f64 {
        let lines = self.entries.iter().skip(column).step_by(self.columns).flat_map(|(_, name)| name);
        lines.map(|line| width(line, SIZE)).fold(0.0, f64::max)
    }
}

/// What each of some widths may take at most so that all fit into a room: who needs less than an
/// even share leaves the rest to others.
fn fair_limit(mut widths: Vec<f64>, mut room: f64) -> f64 {
    widths.sort_by(f64::total_cmp);
    for (taken, width) in widths.iter().enumerate() {
        let share = room / (widths.len() - taken) as f64;
        if *width > share {
            return share;
        }
        room -= width;
    }
    f64::INFINITY
}

fn row_height(row: &[(usize, Vec<String>)]) -> f64 {
    let lines = row.iter().map(|(_, name)| name.len()).max().unwrap_or(1).max(1);
    ROW + (lines - 1) as f64 * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_fits_however_long_its_names_are() {
        let long = "PCR + balanced 10:0, gss memory (gss-group-size 20, gss-groups 20, shapley-score asvm and 11 more)";
        let word = "w".repeat(200);
        let names = [(0, "ER"), (1, long), (2, "fine-tune"), (3, &word), (4, "PCR + random")];
        for widest in [300.0, 700.0, 1200.0] {
            let legend = Legend::new(&names, widest, Sample::Both);
            let used = legend.widths().iter().sum::<f64>() - GAP;
            assert!(used <= widest + 1e-6, "{used} of {widest}");
            let kept: String =
                legend.entries.iter().flat_map(|(_, lines)| lines).map(|line| line.replace(' ', "")).collect();
            assert_eq!(kept, names.map(|(_, name)| name.replace(' ', "")).concat());
        }
    }

    #[test]
    fn who_needs_less_leaves_room_to_others() {
        for (widths, limit) in [([100.0, 10.0, 20.0], 60.0), ([100.0, 10.0, 80.0], 40.0), ([30.0; 3], f64::INFINITY)] {
            assert_eq!(fair_limit(widths.into(), 90.0).total_cmp(&limit), std::cmp::Ordering::Equal, "{widths:?}");
        }
    }

    #[test]
    fn short_names_stand_beside_each_other() {
        let names: Vec<(usize, &str)> = (0..12).map(|series| (series, "PCR + balanced 4:6")).collect();
        let legend = Legend::new(&names, 700.0, Sample::Both);
        assert_eq!((legend.columns, legend.rows().count()), (4, 3));
        assert!(legend.entries.iter().all(|(_, lines)| lines.len() == 1));
    }
}
