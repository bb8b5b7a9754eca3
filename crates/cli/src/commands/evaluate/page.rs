//! The page of an evaluation: each class, which are mistaken for which, the photos it got wrong. It
//! opens from disk and needs no network.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use rehearsal_runs::atomic;

use super::{Evaluation, Judged};
use crate::{
    commands::memory::colour,
    printer::{percent, plural},
};

/// Photos that are shown at most, the surest mistakes first.
const SHOWN: usize = 300;
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;\
color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:right}\
th:first-child,td:first-child{text-align:left}.m td{text-align:center;min-width:2.2em}\
.w{display:grid;grid-template-columns:repeat(auto-fill,minmax(11em,1fr));gap:1em}\
.w figure{margin:0;overflow-wrap:anywhere}.w img{width:100%;image-rendering:pixelated}figcaption{font-size:.85em}";

/// Writes the page and its images; where the page is.
pub fn write(evaluation: &Evaluation, place: &Path) -> Result<PathBuf> {
    let unwritable = || format!("{} cannot be written", place.display());
    let images = place.join("images");
    fs::create_dir_all(&images).with_context(unwritable)?;
    let mut wrong: Vec<&Judged> = evaluation.photos.iter().filter(|photo| !photo.is_right()).collect();
    wrong.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let shape = evaluation.shape;
    for (number, photo) in wrong.iter().take(SHOWN).enumerate() {
        let file = images.join(format!("{number:03}.png"));
        let (width, height) = (shape.width as u32, shape.height as u32);
        image::save_buffer(file, &photo.image, width, height, colour(shape.channels)).with_context(unwritable)?;
    }
    let page = place.join("index.html");
    atomic::write(&page, html(evaluation, &wrong).as_bytes()).with_context(unwritable)?;
    Ok(page)
}

fn html(evaluation: &Evaluation, wrong: &[&Judged]) -> String {
    let all = evaluation.score(|_| true);
    let title = format!("Version {}: {} % of {}", evaluation.version, percent(all.share()), plural(all.total, "photo"));
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\n"
    );
    classes(evaluation, &mut page);
    confusion(evaluation, &mut page);
    mistakes(evaluation, wrong, &mut page);
    page
}

fn classes(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2>Classes</h2><table><tr><th>class<th>photos<th>right<th>mistaken most for\n";
    for (class, name) in evaluation.classes.iter().enumerate() {
        let score = evaluation.score(|photo| photo.shows == class);
        let most = evaluation.mistaken_most(class).map(|(name, times)| format!("{} ({times})", escaped(name)));
        let (name, total, most) = (escaped(name), score.total, most.unwrap_or_default());
        let _ = writeln!(page, "<tr><td>{name}<td>{total}<td>{} %<td>{most}", percent(score.share()));
    }
    *page += "</table>\n";
}

fn confusion(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2>What was taken for what</h2><p>Rows: what a photo shows; columns: what was said.\
              <table class=m><tr><th>";
    evaluation.classes.iter().for_each(|name| *page += &format!("<th>{}", escaped(name)));
    for (name, row) in evaluation.classes.iter().zip(evaluation.confusion()) {
        let total = row.iter().sum::<usize>().max(1) as f64;
        let _ = write!(page, "\n<tr><td>{}", escaped(name));
        for count in row {
            let shade = count as f64 / total;
            let _ = write!(page, "<td style=\"background:rgba(60,130,220,{shade:.2})\">{count}");
        }
    }
    *page += "</table>\n";
}

fn mistakes(evaluation: &Evaluation, wrong: &[&Judged], page: &mut String) {
    let shown = wrong.len().min(SHOWN);
    let of = if shown < wrong.len() { format!(", the {shown} surest of them") } else { String::new() };
    let _ = write!(page, "<h2>{} got wrong{of}</h2><div class=w>", plural(wrong.len(), "photo"));
    for (number, photo) in wrong.iter().take(SHOWN).enumerate() {
        let (shows, said) = (&evaluation.classes[photo.shows], &evaluation.classes[photo.said]);
        let (shows, said, path) = (escaped(shows), escaped(said), escaped(&photo.path.to_string_lossy()));
        let sure = 100.0 * photo.probability;
        let _ = write!(
            page,
            "\n<figure><img src=\"images/{number:03}.png\" alt=\"{shows}\"><figcaption>{shows}, said \
             <b>{said}</b> {sure:.0} %<br>{path}</figcaption></figure>"
        );
    }
    *page += "</div></html>\n";
}

/// Text that is nothing but text in a page.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_in_the_page() {
        assert_eq!(escaped("<b>\"a\" & b"), "&lt;b&gt;&quot;a&quot; &amp; b");
    }
}
