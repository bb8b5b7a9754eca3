//! The head of a figure and its legend.

use super::{
    canvas::{Anchor, Canvas},
    palette::Style,
    text::{width, wrapped},
};

const TITLE: f64 = 14.0;
const SUBTITLE: f64 = 11.5;
const ENTRY: f64 = 12.0;
const LINE: f64 = 18.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;

/// The title and the subtitle as lines that fit a figure.
pub struct Head {
    title: Vec<String>,
    subtitle: Vec<String>,
}

impl Head {
    pub fn new(title: &str, subtitle: &str, widest: f64) -> Self {
        // Bold letters are wider than those that are measured.
        Self { title: wrapped(title, TITLE * 1.13, widest), subtitle: wrapped(subtitle, SUBTITLE, widest) }
    }

    pub fn height(&self) -> f64 {
        12.0 + self.title.len() as f64 * (TITLE + 4.0) + self.subtitle.len() as f64 * (SUBTITLE + 4.0) + 8.0
    }

    pub fn draw(&self, canvas: &Canvas, left: f64) {
        let mut y = 10.0;
        for line in &self.title {
            y += TITLE + 4.0;
            canvas.text(left, y, TITLE, Anchor::Start, true, line);
        }
        for line in &self.subtitle {
            y += SUBTITLE + 4.0;
            canvas.text(left, y, SUBTITLE, Anchor::Start, false, line);
        }
    }
}

/// The names of series in lines that fit a figure.
pub struct Legend<'a> {
    lines: Vec<Vec<(usize, &'a str)>>,
}

impl<'a> Legend<'a> {
    pub fn new(names: &[(usize, &'a str)], widest: f64) -> Self {
        let mut lines: Vec<Vec<(usize, &str)>> = vec![Vec::new()];
        let mut used = 0.0;
        for &(series, name) in names {
            let needed = entry_width(name);
            if used > 0.0 && used + needed > widest {
                lines.push(Vec::new());
                used = 0.0;
            }
            used += needed;
            lines.last_mut().expect("there is a line").push((series, name));
        }
        Self { lines }
    }

    pub fn height(&self) -> f64 {
        self.lines.len() as f64 * LINE + 10.0
    }

    pub fn draw(&self, canvas: &Canvas, left: f64, top: f64) {
        for (line, entries) in self.lines.iter().enumerate() {
            let (mut x, y) = (left, top + line as f64 * LINE + ENTRY);
            for &(series, name) in entries {
                let style = Style::of(series);
                canvas.begin_legend(series);
                canvas.polyline(&[(x, y - 4.0), (x + SAMPLE, y - 4.0)], style);
                style.mark(canvas, x + SAMPLE / 2.0, y - 4.0, 3.6, None);
                canvas.text(x + SAMPLE + 6.0, y, ENTRY, Anchor::Start, false, name);
                canvas.end();
                x += entry_width(name);
            }
        }
    }
}

fn entry_width(name: &str) -> f64 {
    SAMPLE + 6.0 + width(name, ENTRY) + GAP
}
