//! The tables of the page: how far answers can be trusted, every class, and what was taken for what.

use std::fmt::Write;

use rehearsal_files::text::{escaped_html as escaped, thousands as count};

use super::{interval, percent};
use crate::{Evaluation, Score, Verdict};

/// More classes make no table that anybody reads.
const MOST_CLASSES: usize = 200;

/// How many answers are sure, unsure and unknown, and how many of each are right.
pub(super) fn answers(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2 id=answers>Sure, unsure, unknown</h2>\n";
    match (evaluation.threshold, evaluation.all_unsure) {
        (Some(threshold), _) => {
            let _ = writeln!(page, "<p class=note>Sure from {:.0} % on.", 100.0 * threshold);
        }
        (None, Some(why)) => {
            let _ = writeln!(page, "<p class=note>No answer is sure: {}.", why.text());
        }
        (None, None) => {}
    }
    *page += "<div class=t><table><thead><tr><th>answer<th>photos<th>share<th>right<th>95 %</thead><tbody>\n";
    let total = evaluation.photos.len();
    for verdict in [Verdict::Sure, Verdict::Unsure, Verdict::Unknown] {
        let score = evaluation.score(|photo| photo.verdict == verdict);
        let share = percent(Score { right: score.total, total });
        let _ = writeln!(
            page,
            "<tr><th scope=row>{}<td>{}<td>{share}<td>{}<td>{}",
            verdict.word(),
            count(score.total),
            percent(score),
            interval(score)
        );
    }
    *page += "</tbody></table></div>\n";
}

/// Recall and precision of every class, with intervals.
pub(super) fn classes(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2 id=classes>Classes</h2>\n<p class=note>Recall: of the photos of a class, how many were predicted as it. \
              Precision: of the photos predicted as a class, how many are of it.\n\
              <div class=t><table><thead><tr><th>class<th>photos<th>recall<th>95 %<th>predicted<th>precision<th>95 %\
              <th class=l>mistaken most for</thead><tbody>\n";
    for (class, name) in evaluation.classes.iter().enumerate() {
        let most = evaluation.mistaken_most(class).map(|(name, times)| format!("{} ({times})", escaped(name)));
        let (recall, precision) = (evaluation.recall(class), evaluation.precision(class));
        let cells = [recall, precision]
            .map(|score| format!("<td>{}<td>{}<td>{}", count(score.total), percent(score), interval(score)));
        let (name, most) = (escaped(name), most.unwrap_or_default());
        let _ = writeln!(page, "<tr><th scope=row class=n>{name}{}<td class=\"l n\">{most}", cells.concat());
    }
    *page += "</tbody></table></div>\n";
}

/// The confusion matrix.
pub(super) fn confusion(evaluation: &Evaluation, page: &mut String) {
    *page += "<h2 id=confusion>What was taken for what</h2>\n";
    if evaluation.classes.len() > MOST_CLASSES {
        let _ = writeln!(page, "<p class=note>Not shown: more than {MOST_CLASSES} classes.");
        return;
    }
    *page += "<p class=note>Rows: what a photo shows; columns: what was predicted.\n\
              <div class=t><table class=m><thead><tr><th>";
    evaluation.classes.iter().for_each(|name| *page += &format!("<th title=\"{0}\"><span>{0}</span>", escaped(name)));
    *page += "</thead><tbody>";
    for (name, row) in evaluation.classes.iter().zip(evaluation.confusion()) {
        let total = row.iter().sum::<usize>().max(1) as f64;
        let _ = write!(page, "\n<tr><th scope=row title=\"{0}\">{0}", escaped(name));
        for times in row {
            let shade = times as f64 / total;
            let _ = match times {
                0 => write!(page, "<td class=o>0"),
                times => write!(page, "<td style=\"background:rgba(var(--shade),{shade:.2})\">{times}"),
            };
        }
    }
    *page += "\n</tbody></table></div>\n";
}
