//! The head of a figure: its title and what it is about.

use super::{
    canvas::{Anchor, Canvas},
    text::wrapped,
};

const TITLE: f64 = 14.0;
const SUBTITLE: f64 = 11.5;

/// Where a figure stands, which decides its width and whether it says what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Alone, in a file: with its title.
    Titled,
    /// Below a heading or above a caption that says what it is about.
    Bare,
    /// The same on the screen of a phone: panels stand below each other.
    Narrow,
}

/// The title and the subtitle as lines that fit a figure.
pub struct Head {
    title: Vec<String>,
    subtitle: Vec<String>,
}

impl Head {
    /// Empty unless the figure stands alone.
    pub fn new(title: &str, subtitle: &str, widest: f64, form: Form) -> Self {
        if form != Form::Titled {
            return Self { title: Vec::new(), subtitle: Vec::new() };
        }
        // Bold letters are wider than those that are measured.
        Self { title: wrapped(title, TITLE * 1.13, widest), subtitle: wrapped(subtitle, SUBTITLE, widest) }
    }

    pub fn height(&self) -> f64 {
        12.0 + self.title.len() as f64 * (TITLE + 4.0) + self.subtitle.len() as f64 * (SUBTITLE + 4.0) + 8.0
    }

    pub fn draw(&self, canvas: &mut Canvas, left: f64) {
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
