//! Which files are damaged, and where they come from.

use std::{
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, Result, bail};
use rehearsal_runs::files;

use super::{
    Judge, Subject,
    judges::{Readers, Shop, goes_on, grows, prints, rehearsed, run_one, verifies},
};
use crate::{
    dice::Dice,
    outcome::Outcome,
    program::{Call, Ending, Whom},
    scene::{Fetch, Grid, MODEL, PACKS, Pack, Rehearsed, Report, Run, Scene, Visits},
    stage::{Stage, bitmap, copy},
};

/// Every file of every template.
pub fn subjects(stage: &Stage, short: bool) -> Result<Vec<Subject>> {
    let mut all = Vec::new();
    all.extend(stopped_run(stage)?);
    all.extend(finished_run(stage)?);
    all.extend(packs(stage)?);
    all.extend(shop(stage)?);
    if !short {
        all.extend(fresh_run(stage)?);
        all.extend(data_of_a_run(stage)?);
        all.extend(grids(stage)?);
        all.extend(half_a_pack(stage)?);
        all.extend(unpacked(stage)?);
        all.extend(report(stage)?);
        all.extend(model(stage)?);
    }
    Ok(all)
}

/// A subject for each file below a template.
fn each(what: &str, template: &Path, below: &str, other: Option<&Path>, judge: Judge) -> Result<Vec<Subject>> {
    let judge = Rc::new(judge);
    let mut found = Vec::new();
    for file in listed(&template.join(below))? {
        let relative = file.strip_prefix(template)?.to_string_lossy().into_owned();
        let short = file.strip_prefix(template.join(below))?.to_string_lossy().into_owned();
        let short = if short.contains("tfevents") { "event file".to_owned() } else { short };
        found.push(Subject {
            name: format!("{what}: {short}"),
            template: template.into(),
            other: other.map(|other| other.join(&relative)),
            file: relative,
            judge: Rc::clone(&judge),
        });
    }
    Ok(found)
}

fn listed(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() { found.extend(listed(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// A template in which a scene was killed when `there` was true of it.
fn killed(stage: &Stage, name: &str, rehearsed: &Rehearsed, there: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    for attempt in 0..200 {
        let place = stage.place("template")?;
        rehearsed.scene.prepare(&place)?;
        let after = rehearsed.lasts.mul_f64(0.2 + 0.75 * f64::from(attempt % 20) / 20.0);
        rehearsed.scene.next(stage, &place).killed_after(after, Whom::Group).run(&place)?;
        if there(&place) {
            let kept = stage.shared(name);
            copy(&place, &kept)?;
            return Ok(kept);
        }
    }
    bail!("{name}: it was never killed at the right moment");
}

fn watched(seed: u64) -> Run {
    Run::new("run", &format!("diagnostics = true\ntensorboard = true\nseed = {seed}\n"))
}

/// A run that was killed in its second task.
fn stopped_run(stage: &Stage) -> Result<Vec<Subject>> {
    let in_second_task = |place: &Path| {
        let has = |file: &str| place.join("run").join(file).exists();
        has(files::CHECKPOINT) && has(files::DIAGNOSTICS) && !has(files::PREDICTIONS)
    };
    let mut templates = Vec::new();
    for seed in [0, 1] {
        let rehearsed = rehearsed(Box::new(watched(seed)), stage)?;
        let template = killed(stage, &format!("stopped{seed}"), &rehearsed, in_second_task)?;
        templates.push((rehearsed, template));
    }
    let [(rehearsed, template), (_, other)] = &templates[..] else { bail!("two") };
    each("stopped run", template, "run", Some(other), goes_on(Rc::clone(rehearsed)))
}

/// A run that was killed in its first task, with no checkpoint but the first.
fn fresh_run(stage: &Stage) -> Result<Vec<Subject>> {
    let mut run = watched(0);
    run.settings = run.settings.replace("checkpoint-minutes = 0.0", "checkpoint-minutes = 10.0");
    let rehearsed = rehearsed(Box::new(run), stage)?;
    let begun = |place: &Path| {
        let run = place.join("run");
        run.join(files::CHECKPOINT).exists() && !run.join(files::DIAGNOSTICS).exists()
    };
    let template = killed(stage, "fresh", &rehearsed, begun)?;
    each("run without a finished task", &template, "run", None, goes_on(rehearsed))
}

/// A finished run: whoever reads it.
fn finished_run(stage: &Stage) -> Result<Vec<Subject>> {
    Report::new(stage)?;
    let template = stage.shared("finished");
    for run in ["run0", "run1"] {
        copy(&stage.shared("runs").join(run), &template.join(run))?;
    }
    let other = stage.shared("swapped");
    copy(&template.join("run1"), &other.join("run0"))?;
    let place = stage.place("readers")?;
    copy(&template, &place)?;
    each("finished run", &template, "run0", Some(&other), Readers::new(stage, &place)?.judge())
}

/// The images of a run that was killed in the middle.
fn data_of_a_run(stage: &Stage) -> Result<Vec<Subject>> {
    struct OnFolder(Run);
    impl Scene for OnFolder {
        fn name(&self) -> String {
            self.0.name()
        }
        fn prepare(&self, place: &Path) -> Result<()> {
            let mut dice = Dice::new(0, "images", 0);
            for class in ["a", "b"] {
                fs::create_dir_all(place.join("photos").join(class))?;
                for i in 0..30 {
                    let image = bitmap(12, 9, i, &mut dice);
                    fs::write(place.join("photos").join(class).join(format!("{i}.bmp")), image)?;
                }
            }
            self.0.prepare(place)
        }
        fn next(&self, stage: &Stage, place: &Path) -> Call {
            self.0.next(stage, place)
        }
        fn outcome(&self, place: &Path, last: &Ending) -> Result<Outcome> {
            self.0.outcome(place, last)
        }
    }
    let settings = "dataset = 'folder'\ndata = 'photos'\nsize = 16\ntasks = 2\nepochs = 2\nbackbone = 'tiny'\nwidth = 4\n\
                    memory = 20\ncandidates = 12\ncheckpoint-minutes = 0.0\nthreads = 1\n";
    let run = Run { name: "run on a folder", settings: settings.into() };
    let rehearsed = rehearsed(Box::new(OnFolder(run)), stage)?;
    let going = |place: &Path| {
        let run = place.join("run");
        run.join(files::CHECKPOINT).exists() && !run.join(files::PREDICTIONS).exists()
    };
    let template = killed(stage, "on-folder", &rehearsed, going)?;
    let mut found = each("data of a stopped run", &template, "photos/a", None, goes_on(rehearsed))?;
    found.truncate(2);
    for subject in &mut found {
        subject.name = "data of a stopped run: an image".into();
    }
    Ok(found)
}

/// A model that was killed in its third visit.
fn shop(stage: &Stage) -> Result<Vec<Subject>> {
    let in_third_visit = |place: &Path| place.join(MODEL).join("learning.safetensors").exists();
    let mut templates = Vec::new();
    for seed in ["0", "1"] {
        let visits = Visits::of_seed(seed);
        let begun = stage.place("two-visits")?;
        visits.prepare(&begun)?;
        for number in 0..2 {
            let ending = visits.visit(stage, number).run(&begun)?;
            if !ending.is_done() {
                bail!("learning, undisturbed: {}", ending.errors);
            }
        }
        let kept = stage.shared(&format!("third-visit{seed}"));
        copy(&begun, &kept)?;
        let rehearsed = rehearsed(Box::new(ThirdVisit { visits, begun: kept }), stage)?;
        templates.push(killed(stage, &format!("visited{seed}"), &rehearsed, in_third_visit)?);
    }
    let [template, other] = &templates[..] else { bail!("two") };
    let place = stage.place("shop")?;
    copy(template, &place)?;
    each("model", template, MODEL, Some(other), Shop::new(stage, &place)?.judge())
}

/// The third visit to a model that two have been made to.
struct ThirdVisit {
    visits: Visits,
    begun: PathBuf,
}

impl Scene for ThirdVisit {
    fn name(&self) -> String {
        "the third visit".into()
    }
    fn prepare(&self, place: &Path) -> Result<()> {
        copy(&self.begun, place)
    }
    fn next(&self, stage: &Stage, _: &Path) -> Call {
        self.visits.visit(stage, 2)
    }
    fn outcome(&self, place: &Path, last: &Ending) -> Result<Outcome> {
        self.visits.outcome(place, last)
    }
}

/// A grid that was killed in the middle, and the list of its runs.
fn grids(stage: &Stage) -> Result<Vec<Subject>> {
    let rehearsed = rehearsed(Box::new(Grid), stage)?;
    let going = |place: &Path| {
        let has = |file: &str| place.join("runs/small/seed0").join(file).exists();
        has(files::CHECKPOINT) && !has(files::RESULT)
    };
    let template = killed(stage, "grid", &rehearsed, going)?;
    let place = stage.place("grid-undisturbed")?;
    copy(&template, &place)?;
    let ending = rehearsed.scene.next(stage, &place).run(&place)?;
    if let Some(difference) = rehearsed.compare(&place, &ending) {
        bail!("the grid's template: {difference}");
    }
    let one = Outcome::of_run(&place.join("runs/small/seed0"))?;
    let mut found = each("grid", &template, "runs/small", None, goes_on(rehearsed))?;
    let mut lists = each("run-one", &template, "runs/small", None, run_one(one))?;
    lists.retain(|subject| subject.file.ends_with(files::MANIFEST));
    found.extend(lists);
    Ok(found)
}

/// The packs of a folder.
fn packs(stage: &Stage) -> Result<Vec<Subject>> {
    let rehearsed = rehearsed(Box::new(Pack { photos: stage.photos()? }), stage)?;
    let template = stage.shared("packed");
    rehearsed.scene.prepare(&template)?;
    let ending = rehearsed.scene.next(stage, &template).run(&template)?;
    let mut found = each("packed folder", &template, PACKS, None, prints(rehearsed, ending.out))?;
    for subject in &mut found {
        subject.name = without_key(&subject.name);
    }
    Ok(found)
}

/// Without the digits that say what a pack is made of.
fn without_key(name: &str) -> String {
    let words = name.split('-').map(|word| match word.split_once('.') {
        Some((key, ending)) if key.len() == 16 => format!("….{ending}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join("-")
}

/// A pack that was killed while it was made.
fn half_a_pack(stage: &Stage) -> Result<Vec<Subject>> {
    let rehearsed = rehearsed(Box::new(Pack { photos: stage.photos()? }), stage)?;
    let half = |place: &Path| {
        let files = listed(&place.join(PACKS)).unwrap_or_default();
        files
            .iter()
            .any(|file| file.to_string_lossy().contains(".pack.") && file.metadata().is_ok_and(|file| file.len() > 0))
    };
    let template = killed(stage, "half-packed", &rehearsed, half)?;
    let mut found = each("half a pack", &template, PACKS, None, goes_on(rehearsed))?;
    for subject in &mut found {
        subject.name = without_key(&subject.name);
    }
    Ok(found)
}

/// A data set that was unpacked.
fn unpacked(stage: &Stage) -> Result<Vec<Subject>> {
    let fetch = Fetch { archive: stage.archive()? };
    let template = stage.shared("unpacked");
    fs::create_dir_all(&template)?;
    let ending = fetch.next(stage, &template).run(&template)?;
    if !ending.is_done() {
        bail!("fetching: {}", ending.errors);
    }
    each("unpacked data, verified", &template, "data/cifar100/archive", None, verifies())
}

/// A report, made again over a damaged one.
fn report(stage: &Stage) -> Result<Vec<Subject>> {
    let rehearsed = rehearsed(Box::new(Report::new(stage)?), stage)?;
    let template = stage.shared("reported");
    fs::create_dir_all(&template)?;
    rehearsed.scene.next(stage, &template).run(&template)?;
    let mut found = each("report, made again", &template, "report", None, goes_on(rehearsed))?;
    found.retain(|subject| ["index.html", "index.md"].iter().any(|name| subject.file.ends_with(name)));
    Ok(found)
}

/// A saved model, where the example that grows it is built.
fn model(stage: &Stage) -> Result<Vec<Subject>> {
    let example = stage.binary.with_file_name("examples").join("grow");
    if !example.exists() {
        eprintln!("saved models are left out: there is no {}", example.display());
        return Ok(Vec::new());
    }
    let template = stage.shared("model");
    fs::create_dir_all(&template)?;
    Call::new(&example, ["learn", "shop.safetensors"]).run(&template)?;
    let place = stage.place("grown")?;
    copy(&template, &place)?;
    let ending = Call::new(&example, ["more", "shop.safetensors"]).run(&place)?;
    let judge = grows(example, ending.out, fs::read(place.join("shop.safetensors"))?);
    each("saved model", &template, "", None, judge)
}
