//! `rehearsal evaluate`.

mod page;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Result;
use rehearsal::sample::Image;
use rehearsal_data::{ImageShape, printable};
use rehearsal_model::{Model, ModelError, Score};
use serde_json::json;

use super::predict::version;
use crate::{
    args::model::Evaluate,
    photos,
    printer::{clipped, columns, count, message, percent, plural, print},
    user_error::{UserError, model_first},
};

/// How many classes that the model does not know are named.
const NAMED: usize = 10;

/// Measures a model on photos that it has not learned.
pub fn evaluate(args: &Evaluate) -> Result<ExitCode> {
    evaluate_folder(args)
}

/// What a model predicted for every photo of a folder.
struct Evaluation {
    model: PathBuf,
    folder: PathBuf,
    version: u32,
    shape: ImageShape,
    /// The classes that can be predicted.
    classes: Vec<String>,
    photos: Vec<Judged>,
    threshold: Option<f64>,
    /// How many of the photos the model has learned from.
    learned: usize,
}

/// A photo, what it shows and what was seen in it, both by their places in the list of classes.
struct Judged {
    path: PathBuf,
    image: Image,
    shows: usize,
    predicted: usize,
    probability: f32,
}

impl Judged {
    fn is_right(&self) -> bool {
        self.shows == self.predicted
    }
}

impl Evaluation {
    fn score<'a>(&'a self, which: impl Fn(&Judged) -> bool + 'a) -> Score {
        let of = self.photos.iter().filter(|photo| which(photo));
        of.fold(Score::default(), |score, photo| Score {
            right: score.right + usize::from(photo.is_right()),
            total: score.total + 1,
        })
    }

    /// Above which probability answers are sure, and how many of those are right.
    fn sure(&self) -> Option<(f64, Score)> {
        let threshold = self.threshold?;
        Some((threshold, self.score(|photo| f64::from(photo.probability) >= threshold)))
    }

    /// How often images of one class (rows) were taken for each (columns).
    fn confusion(&self) -> Vec<Vec<usize>> {
        let mut table = vec![vec![0; self.classes.len()]; self.classes.len()];
        self.photos.iter().for_each(|photo| table[photo.shows][photo.predicted] += 1);
        table
    }

    /// What a class was mistaken for most, and how often.
    fn mistaken_most(&self, class: usize) -> Option<(&str, usize)> {
        let mut others: BTreeMap<usize, usize> = BTreeMap::new();
        for photo in self.photos.iter().filter(|photo| photo.shows == class && !photo.is_right()) {
            *others.entry(photo.predicted).or_default() += 1;
        }
        let most = others.into_iter().max_by_key(|(other, count)| (*count, std::cmp::Reverse(*other)));
        most.map(|(other, count)| (self.classes[other].as_str(), count))
    }
}

fn evaluate_folder(args: &Evaluate) -> Result<ExitCode> {
    let evaluation = judge(args)?;
    if let Some(place) = &args.report {
        let written = page::write(&evaluation, place)?;
        if !args.quiet {
            message(&format!("wrote {}", printable(&written.to_string_lossy())));
        }
    }
    print(&if args.json { to_json(&evaluation) } else { text(&evaluation) })?;
    Ok(ExitCode::SUCCESS)
}

fn judge(args: &Evaluate) -> Result<Evaluation> {
    let model = model_first(Model::open(&args.model), std::slice::from_ref(&args.folder))?;
    let number = args.which.version.unwrap_or(model.settings().current);
    let version = version(&model, &args.which)?;
    let known = version.learner.classes();
    let classes: Vec<String> = known.active().map(|class| known.name(class).to_string()).collect();
    let place = |name: &str| classes.iter().position(|class| class == name);
    let scanned = photos::scan(&args.folder, photos::For::Testing, args.follow_links, args.quiet)?;
    let strange: BTreeSet<&str> =
        scanned.photos.iter().map(|photo| photo.class.as_str()).filter(|name| place(name).is_none()).collect();
    if !strange.is_empty() && !args.quiet {
        let named: Vec<&str> = strange.iter().take(NAMED).copied().collect();
        let more = strange.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        message(&printable(&format!("not known to the model and left out: {}{more}", named.join(", "))));
    }
    let (paths, shows): (Vec<PathBuf>, Vec<usize>) =
        scanned.photos.iter().filter_map(|photo| Some((photo.path.clone(), place(&photo.class)?))).unzip();
    let images = photos::read(&paths, version.learner.shape(), args.skip_bad, args.quiet)?;
    let read: Vec<_> =
        paths.into_iter().zip(shows).zip(images).filter_map(|(photo, image)| Some((photo, image?))).collect();
    if read.is_empty() {
        return Err(UserError("there is no photo of a class that the model knows".into()).into());
    }
    let images: Vec<Image> = read.iter().map(|(_, image)| image.clone()).collect();
    let learned = images.iter().filter(|image| version.has_learned(image)).count();
    if learned > 0 && !args.quiet {
        let (learned, all) = (count(learned), plural(images.len(), "photo"));
        message(&format!("{learned} of {all} were learned from: the result flatters the model"));
    }
    let predicted = version.learner.predict(&images).map_err(ModelError::from)?;
    let judged =
        |(((path, shows), image), predicted): (((PathBuf, usize), Image), rehearsal::learner::Prediction)| Judged {
            path,
            image,
            shows,
            predicted: place(&predicted.class).expect("only active classes are predicted"),
            probability: predicted.probability,
        };
    let photos = read.into_iter().zip(predicted).map(judged).collect();
    let (shape, threshold) = (version.learner.shape(), version.threshold);
    let (model, folder) = (args.model.clone(), args.folder.clone());
    Ok(Evaluation { model, folder, version: number, shape, classes, photos, threshold, learned })
}

/// Two names fit a line of 60 columns.
fn short(class: &str) -> String {
    clipped(&printable(class), 18)
}

fn text(evaluation: &Evaluation) -> String {
    let all = evaluation.score(|_| true);
    let of = format!("{} of {}", count(all.right), plural(all.total, "photo"));
    let mut lines = vec![format!("version {}: {} % right, {of}", evaluation.version, percent(all.share()))];
    if let Some((_, sure)) = evaluation.sure() {
        let share = percent(sure.share());
        lines.push(format!("  not unsure: {share} % right, {} of {}", count(sure.right), count(sure.total)));
    }
    lines.push(String::new());
    let mut rows = vec![["class", "photos", "right", "mistaken most for"].map(String::from).to_vec()];
    for (class, name) in evaluation.classes.iter().enumerate() {
        let score = evaluation.score(|photo| photo.shows == class);
        let mistaken = evaluation.mistaken_most(class).map(|(other, times)| format!("{} ({times})", short(other)));
        let right = score.share().map_or_else(|| "-".to_owned(), |share| percent(Some(share)) + " %");
        rows.push(vec![short(name), count(score.total), right, mistaken.unwrap_or_default()]);
    }
    lines.extend(columns(&rows, &[false, true, true]));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn to_json(evaluation: &Evaluation) -> String {
    let all = evaluation.score(|_| true);
    let wrong = evaluation.photos.iter().filter(|photo| !photo.is_right());
    let wrong = wrong.map(|photo| {
        let (shows, predicted) = (&evaluation.classes[photo.shows], &evaluation.classes[photo.predicted]);
        json!({ "path": photo.path, "class": shows, "predicted": predicted, "probability": photo.probability })
    });
    let line = json!({
        "version": evaluation.version,
        "accuracy": all.share(),
        "right": all.right,
        "photos": all.total,
        "learned_before": evaluation.learned,
        "threshold": evaluation.threshold,
        "classes": evaluation.classes,
        "confusion": evaluation.confusion(),
        "wrong": wrong.collect::<Vec<_>>(),
    });
    format!("{line}\n")
}
