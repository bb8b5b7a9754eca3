//! Tables, figures and statistical tests from the directories that runs write.
//!
//! [`Study::read`](study::Study::read) finds runs and groups them by everything but the seed; [`Report::new`](report::Report::new) makes
//! tables and figures of them, where asked for also the paper's, each cell beside the paper's own number;
//! [`Report::write`](report::Report::write) writes one page that needs no network, and beside it
//! every table as Markdown, LaTeX and CSV and every figure as SVG and PNG.
//!
//! ```no_run
//! use rehearsal_report::{report::{Options, Report}, study::Study};
//!
//! let study = Study::read(&["runs".into()])?;
//! let page = Report::new(study, Options::default()).write("report".as_ref())?;
//! println!("{}", page.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod arm;
pub mod compare;
pub mod drawing;
pub mod figures;
pub mod find;
pub mod formats;
pub mod page;
pub mod pairs;
pub mod paper;
pub mod protocol;
pub mod published;
pub mod readings;
pub mod report;
pub mod run;
pub mod settings;
pub mod study;
pub mod table;
pub mod tables;
mod text;

use protocol::Data;

/// A name for files and links: the data set, numbered if several parts of it are reported.
pub(crate) fn slug(data: &Data, among: &[&Data]) -> String {
    let alike: Vec<&&Data> = among.iter().filter(|other| other.dataset() == data.dataset()).collect();
    let name: String = data.dataset().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    match alike.iter().position(|other| **other == data) {
        None | Some(0) => name,
        Some(place) => format!("{name}-{}", place + 1),
    }
}
