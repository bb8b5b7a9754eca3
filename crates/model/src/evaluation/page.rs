//! The page of an evaluation: first the photos it got wrong, then tables. It opens from disk, and needs no network and no script.

mod mistakes;
mod tables;

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::{
    atomic, regular,
    text::{escaped_html as escaped, plural, thousands as count},
};

use super::{Evaluation, Judged};
use crate::{ModelError, Score};

const PAGE: &str = "index.html";
const IMAGES: &str = "images";
/// Stands in every page.
const GENERATOR: &str = "<meta name=generator content=\"rehearsal evaluate\">";
/// Nothing is loaded but the images beside the page, and no script runs, whatever a name says.
const POLICY: &str = "<meta http-equiv=Content-Security-Policy \
                      content=\"default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'\">";
/// More than any page has, in bytes.
const LARGEST_PAGE: u64 = 1 << 30;
const STYLE: &str = include_str!("page/style.css");

/// Writes the page and its images; where the page is.
pub(super) fn write(evaluation: &Evaluation, title: &str, place: &Path) -> Result<PathBuf, ModelError> {
    if !may_write(place) {
        return Err(ModelError::Occupied(place.into()));
    }
    let unwritable = |error| ModelError::Unwritable { path: place.into(), error };
    let (page, images) = (place.join(PAGE), place.join(IMAGES));
    fs::create_dir_all(place).map_err(unwritable)?;
    let mut wrong: Vec<&Judged> = evaluation.photos.iter().filter(|photo| !photo.is_right()).collect();
    wrong.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    // First, because it says whose directory this is: interrupted, the same command writes it again.
    atomic::write(&page, html(evaluation, title, &wrong).as_bytes()).map_err(unwritable)?;
    match fs::remove_dir_all(&images) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(error)),
        _ => fs::create_dir(&images).map_err(unwritable)?,
    }
    mistakes::write_images(&wrong, &images).map_err(unwritable)?;
    Ok(page)
}

/// Whether a directory is empty, is not there yet, or holds an older evaluation.
fn may_write(place: &Path) -> bool {
    let is_ours = regular::read_to_string(&place.join(PAGE), LARGEST_PAGE).is_ok_and(|page| page.contains(GENERATOR));
    let is_rest = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| atomic::is_partial(&entry.file_name()));
    is_ours || fs::read_dir(place).map_or(!place.exists(), |mut entries| entries.all(is_rest))
}

fn html(evaluation: &Evaluation, model: &str, wrong: &[&Judged]) -> String {
    let all = evaluation.score(|_| true);
    let title = format!("{} right, {} of {}", percent(all), count(all.right), plural(all.total, "photo"));
    let mut page = format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n{POLICY}\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n{GENERATOR}\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let folder = &evaluation.folder.to_string_lossy();
    let _ = writeln!(
        page,
        "<p>{} on the photos in {}. 95 % confidence: {}.",
        escaped(model),
        escaped(folder),
        interval(all)
    );
    if evaluation.learned > 0 {
        let _ = writeln!(
            page,
            "<p class=warning>{} of the photos were learned from: the accuracy is too high.",
            count(evaluation.learned)
        );
    }
    page += "<nav><a href=\"#wrong\">Wrong</a><a href=\"#answers\">Sure, unsure, unknown</a>\
             <a href=\"#classes\">Classes</a><a href=\"#confusion\">What was taken for what</a></nav>\n";
    mistakes::section(evaluation, wrong, &mut page);
    tables::answers(evaluation, &mut page);
    tables::classes(evaluation, &mut page);
    tables::confusion(evaluation, &mut page);
    page + "</body>\n</html>\n"
}

/// `90.9 %`.
fn percent(score: Score) -> String {
    score.share().map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// `84–95 %`.
fn interval(score: Score) -> String {
    score.interval().map_or_else(|| "–".to_owned(), |(low, high)| format!("{:.0}–{:.0} %", 100.0 * low, 100.0 * high))
}

#[cfg(test)]
mod tests;
