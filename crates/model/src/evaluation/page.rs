//! The page of an evaluation: each class, which are mistaken for which, the photos it got wrong. It
//! opens from disk and needs no network.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::{
    atomic, regular,
    text::{plural, thousands as count},
};

use super::{Evaluation, Judged};
use crate::ModelError;

const PAGE: &str = "index.html";
const IMAGES: &str = "images";
/// Stands in every page.
const GENERATOR: &str = "<meta name=generator content=\"rehearsal evaluate\">";
/// More than any page has, in bytes.
const LARGEST_PAGE: u64 = 1 << 30;
/// More classes make no table that anybody reads.
const MOST_CLASSES: usize = 200;
/// Photos that are shown at most, the surest mistakes first.
const SHOWN: usize = 300;
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;\
color-scheme:light dark}h1{font-size:1.6em}h2{margin-top:2em}.t{overflow-x:auto}table{border-collapse:collapse}\
td,th{padding:.2em .7em;text-align:right;font-weight:normal}td:not(.l):not(:first-child){white-space:nowrap}th{opacity:.7}th:first-child,td:first-child,.l{text-align:left}\
.m th{vertical-align:bottom;padding:.2em}.m th span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:12em;\
white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\
.m td{min-width:2.2em;padding:.2em;text-align:center}.m td:first-child{padding-right:.8em;text-align:right;white-space:nowrap;\
max-width:16em;overflow:hidden;text-overflow:ellipsis}\
.m .o{opacity:.25}.w{display:grid;grid-template-columns:repeat(auto-fill,minmax(9em,1fr));gap:1.2em}\
.w figure{margin:0;overflow-wrap:anywhere;line-height:1.3}.w img{width:100%;image-rendering:pixelated}\
figcaption{font-size:.85em}small{opacity:.7}";

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
    for (number, photo) in wrong.iter().take(SHOWN).enumerate() {
        let (extension, bytes) = photo.picture.file().map_err(unwritable)?;
        fs::write(images.join(format!("{number:03}.{extension}")), bytes).map_err(unwritable)?;
    }
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
    let title = format!("{} % right, {} of {}", percent(all.share()), count(all.right), plural(all.total, "photo"));
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         {GENERATOR}<title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\n"
    );
    let folder = &evaluation.folder.to_string_lossy();
    let _ = writeln!(page, "<p>{} on the photos in {}.", escaped(model), escaped(folder));
    if let Some((threshold, sure)) = evaluation.sure() {
        let (share, of) = (percent(sure.share()), format!("{} of {}", count(sure.right), plural(sure.total, "photo")));
        let _ = writeln!(page, "<p>Sure answers, from {:.0} % on: {share} % right, {of}.", 100.0 * threshold);
    }
    if evaluation.learned > 0 {
        let _ = writeln!(
            page,
            "<p>{} of the photos were learned from: the accuracy is too high.",
            count(evaluation.learned)
        );
    }
    classes(evaluation, &mut page);
    confusion(evaluation, &mut page);
    mistakes(evaluation, wrong, &mut page);
    page
}

fn classes(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2>Classes</h2><table><tr><th>class<th>photos<th>right<th class=l>mistaken most for\n";
    for (class, name) in evaluation.classes.iter().enumerate() {
        let score = evaluation.score(|photo| photo.class == class);
        let most = evaluation.mistaken_most(class).map(|(name, times)| format!("{} ({times})", escaped(name)));
        let (name, total, most) = (escaped(name), score.total, most.unwrap_or_default());
        let right = score.share().map_or_else(|| "-".to_owned(), |share| percent(Some(share)) + " %");
        let _ = writeln!(page, "<tr><td>{name}<td>{total}<td>{right}<td class=l>{most}");
    }
    *page += "</table>\n";
}

fn confusion(evaluation: &Evaluation, page: &mut String) {
    if evaluation.classes.len() > MOST_CLASSES {
        return;
    }
    *page += "<h2>What was taken for what</h2><p>Rows: what a photo shows; columns: what was predicted.\
              <div class=t><table class=m><tr><th>";
    evaluation.classes.iter().for_each(|name| *page += &format!("<th title=\"{0}\"><span>{0}</span>", escaped(name)));
    for (name, row) in evaluation.classes.iter().zip(evaluation.confusion()) {
        let total = row.iter().sum::<usize>().max(1) as f64;
        let _ = write!(page, "\n<tr><td title=\"{0}\">{0}", escaped(name));
        for times in row {
            let shade = times as f64 / total;
            let _ = match times {
                0 => write!(page, "<td class=o>0"),
                count => write!(page, "<td style=\"background:rgba(60,130,220,{shade:.2})\">{count}"),
            };
        }
    }
    *page += "</table></div>\n";
}

fn mistakes(evaluation: &Evaluation, wrong: &[&Judged], page: &mut String) {
    let shown = wrong.len().min(SHOWN);
    let of = if shown < wrong.len() { format!(", the {shown} surest of them") } else { String::new() };
    let _ = write!(page, "<h2>{} got wrong{of}</h2>", plural(wrong.len(), "photo"));
    if !wrong.is_empty() {
        *page += "<p>As the model sees them, the surest mistakes first.";
    }
    *page += "<div class=w>";
    for (number, photo) in wrong.iter().take(SHOWN).enumerate() {
        let (class, predicted) = (&evaluation.classes[photo.class], &evaluation.classes[photo.predicted]);
        let (class, predicted, path) = (escaped(class), escaped(predicted), escaped(&photo.path.to_string_lossy()));
        let sure = 100.0 * photo.probability;
        let _ = write!(
            page,
            "\n<figure><img src=\"images/{number:03}.png\" alt=\"{class}\"><figcaption>{class}, predicted \
             <b>{predicted}</b> {sure:.0} %<br><small>{path}</small></figcaption></figure>"
        );
    }
    *page += "</div></html>\n";
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", 100.0 * share))
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
