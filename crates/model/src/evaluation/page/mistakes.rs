//! The photos that were predicted wrong, the surest mistakes first.

use std::{fmt::Write, fs, io, path::Path};

use rayon::prelude::*;
use rehearsal_backbone::thumbnail;
use rehearsal_data::{ImageShape, photos};
use rehearsal_files::text::{escaped_html as escaped, plural, thousands as count};

use super::{IMAGES, percent};
use crate::{Evaluation, Judged};

/// Photos that are shown at most.
const SHOWN: usize = 300;
/// More of them stand behind a line that opens them.
const AT_ONCE: usize = 24;
/// The longest side of a thumbnail: sharp at the width of a column on a dense screen.
const LONGEST: u32 = 360;

/// A thumbnail of each photo that is shown, from its file; as the model sees it if the file is gone.
pub(super) fn write_images(wrong: &[&Judged], images: &Path) -> io::Result<()> {
    let shown = &wrong[..wrong.len().min(SHOWN)];
    shown.par_iter().with_max_len(1).enumerate().try_for_each(|(number, photo)| {
        let bytes = match photos::picture(&photo.path) {
            Ok(picture) => {
                let shape = ImageShape { height: picture.height, width: picture.width, channels: 3 };
                thumbnail(&picture.pixels, shape, LONGEST).to_vec()
            }
            Err(_) => photo.picture.file()?.1,
        };
        fs::write(images.join(name(number)), bytes)
    })
}

/// Browsers tell JPEG and PNG apart by their content.
fn name(number: usize) -> String {
    format!("{number:03}.jpg")
}

/// The section of the page.
pub(super) fn section(evaluation: &Evaluation, wrong: &[&Judged], page: &mut String) {
    let all = evaluation.score(|_| true);
    let share = percent(crate::Score { right: wrong.len(), ..all });
    let _ = writeln!(page, "<h2 id=wrong>{}: {share}</h2>", plural(wrong.len(), "wrong answer"));
    if wrong.is_empty() {
        *page += "<p>Every photo was predicted right.\n";
        return;
    }
    let shown = wrong.len().min(SHOWN);
    let of = if shown < wrong.len() { format!(", {} of them", count(shown)) } else { String::new() };
    let _ = writeln!(page, "<p class=note>The surest mistakes first{of}: the true class, then the predicted one.");
    let first = AT_ONCE.min(shown);
    grid(evaluation, wrong, 0..first, page);
    if first < shown {
        let _ = writeln!(page, "<details><summary>{} more</summary>", count(shown - first));
        grid(evaluation, wrong, first..shown, page);
        *page += "</details>\n";
    }
}

fn grid(evaluation: &Evaluation, wrong: &[&Judged], numbers: std::ops::Range<usize>, page: &mut String) {
    *page += "<div class=w>\n";
    for (number, photo) in numbers.clone().zip(&wrong[numbers]) {
        let [class, predicted] = [photo.class, photo.predicted].map(|class| escaped(&evaluation.classes[class]));
        let (path, verdict) = (escaped(&photo.path.to_string_lossy()), photo.verdict.word());
        let _ = writeln!(
            page,
            "<figure><img src=\"{IMAGES}/{}\" alt=\"{class}\" loading=lazy><figcaption>{class} → <b>{predicted}</b> \
             {:.0} %, {verdict}<br><small>{path}</small></figcaption></figure>",
            name(number),
            100.0 * photo.probability
        );
    }
    *page += "</div>\n";
}
