//! Who reads a damaged file, and what must come of it.

use std::{
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::Result;
use rehearsal_runs::files;
use serde_json::Value;

use super::{Judge, ended};
use crate::{
    outcome::{Outcome, result},
    program::Call,
    scene::{MODEL, Rehearsed, Scene, Visits},
    stage::Stage,
    tally::Verdict,
};

/// Goes on with a scene: it ends as if undisturbed, or refuses.
pub fn goes_on(rehearsed: Rc<Rehearsed>) -> Judge {
    Box::new(move |stage, place| {
        let call = rehearsed.scene.next(stage, place);
        Ok(match ended(&call, place)? {
            Ok(ending) => rehearsed.compare(place, &ending).map_or(Verdict::Same, Verdict::Another),
            Err(verdict) => verdict,
        })
    })
}

/// The same, but only what it prints counts: what it made of a damaged file may be made anew.
pub fn prints(rehearsed: Rc<Rehearsed>, printed: Vec<u8>) -> Judge {
    Box::new(move |stage, place| {
        Ok(match ended(&rehearsed.scene.next(stage, place), place)? {
            Ok(ending) if ending.out == printed => Verdict::Same,
            Ok(_) => Verdict::Another("other numbers are printed".into()),
            Err(verdict) => verdict,
        })
    })
}

/// Everything that reads a finished run: each answers as before, or refuses.
pub struct Readers {
    calls: Vec<(Vec<&'static str>, Outcome)>,
}

impl Readers {
    const CALLS: [&[&str]; 3] = [
        &["run", "--resume", "run0", "--json"],
        &["compare", "run0", "run1", "--json"],
        &["report", ".", "--out", "report", "--quiet"],
    ];

    /// As they answer in an undamaged place.
    pub fn new(stage: &Stage, place: &Path) -> Result<Self> {
        let mut calls = Vec::new();
        for call in Self::CALLS {
            let out = stage.succeed(place, call)?;
            calls.push((call.to_vec(), answer(call, out, place)?));
        }
        Ok(Self { calls })
    }

    /// The worst answer counts. Most of a report is shown by its comparison; it is made for a part of
    /// the trials only, because it is slow.
    pub fn judge(self) -> Judge {
        Box::new(move |stage, place| {
            let mut verdict = Verdict::Same;
            let with_report = place.to_string_lossy().ends_with('7');
            // Without a result it is a run to go on with, and reports say so.
            let finished = place.join("run0").join(files::RESULT).symlink_metadata().is_ok();
            for (call, expected) in self.calls.iter().filter(|(call, _)| with_report || call[0] != "report") {
                if !finished && call[0] != "run" {
                    continue;
                }
                let found = match ended(&stage.call(call), place)? {
                    Ok(ending) => {
                        let found = answer(call, ending.out, place)?;
                        expected.difference(&found).map_or(Verdict::Same, Verdict::Another)
                    }
                    Err(verdict) => verdict,
                };
                if found.wrong().is_some() {
                    return Ok(found);
                }
                verdict = if found == Verdict::Same { verdict } else { found };
            }
            Ok(verdict)
        })
    }
}

fn answer(call: &[&str], out: Vec<u8>, place: &Path) -> Result<Outcome> {
    let report = place.join("report");
    let out = if call[0] == "run" { result(&out)? } else { out };
    let answer = Outcome::default().with("standard output", out);
    if !report.exists() {
        return Ok(answer);
    }
    let answer = answer.and("report", Outcome::of_tree(&report)?);
    fs::remove_dir_all(report)?;
    Ok(answer)
}

/// Everything that reads a model, or goes on with it: each answers as before, or refuses.
pub struct Shop {
    calls: Vec<(Call, Outcome)>,
}

impl Shop {
    /// As they answer in an undamaged place, in which a third visit was interrupted.
    pub fn new(stage: &Stage, place: &Path) -> Result<Self> {
        let asked: [&[&str]; 4] = [
            &["show", MODEL, "--json"],
            &["predict", MODEL, "january", "--json"],
            &["predict", MODEL, "january", "--json", "--version", "1"],
            &["memory", MODEL, "list", "--json"],
        ];
        let mut calls: Vec<Call> = asked.iter().map(|words| stage.call(words)).collect();
        calls.push(Visits::of_seed("0").visit(stage, 2));
        calls.push(stage.call(&["use", MODEL, "1"]));
        let mut answered = Vec::new();
        for call in calls {
            let out = ended(&call, place)?.map_err(|verdict| anyhow::anyhow!("{}: {verdict:?}", call.text()))?.out;
            answered.push((call.clone(), shop_answer(&call, out, place)?));
        }
        Ok(Self { calls: answered })
    }

    /// The worst answer counts.
    pub fn judge(self) -> Judge {
        Box::new(move |_, place| {
            let mut verdict = Verdict::Same;
            for (call, expected) in &self.calls {
                let found = match ended(call, place)? {
                    Ok(ending) => {
                        let found = shop_answer(call, ending.out, place)?;
                        let told = |difference: String| Verdict::Another(format!("{}: {difference}", call.text()));
                        expected.difference(&found).map_or(Verdict::Same, told)
                    }
                    Err(verdict) => verdict,
                };
                if found.wrong().is_some() {
                    return Ok(found);
                }
                verdict = if found == Verdict::Same { verdict } else { found };
            }
            Ok(verdict)
        })
    }
}

/// What was printed; of a visit, what it made.
fn shop_answer(call: &Call, out: Vec<u8>, place: &Path) -> Result<Outcome> {
    let version = place.join(MODEL).join("versions/0003.safetensors");
    if call.verb() == "learn" {
        return Ok(Outcome::default().with("version 3", fs::read(version)?));
    }
    if call.verb() != "show" {
        return Ok(Outcome::default().with("standard output", out));
    }
    let mut value: Value = serde_json::from_slice(&out)?;
    // Whether a visit can be gone on with is no result, and how large a file is it says as it is.
    value["interrupted"] = Value::Null;
    for version in value["versions"].as_array_mut().into_iter().flatten() {
        version["bytes"] = Value::Null;
    }
    Ok(Outcome::default().with("standard output", value.to_string().into_bytes()))
}

/// One run of a grid, by the list of its runs.
pub fn run_one(rehearsed: Outcome) -> Judge {
    Box::new(move |stage, place| {
        let manifest = "runs/small/manifest.jsonl";
        if let Err(verdict) = ended(&stage.call(&["grid", "status", manifest]), place)? {
            return Ok(verdict);
        }
        let call = stage.call(&["grid", "run-one", manifest, "--index", "0", "--threads", "1"]);
        if let Err(verdict) = ended(&call, place)? {
            return Ok(verdict);
        }
        Ok(match Outcome::of_run(&place.join("runs/small/seed0")) {
            Ok(found) => rehearsed.difference(&found).map_or(Verdict::Same, Verdict::Another),
            Err(error) => Verdict::Another(format!("{error:#}")),
        })
    })
}

/// `data verify` names a damaged file, always.
pub fn verifies() -> Judge {
    Box::new(|stage, place| {
        let ending = stage.call(&["data", "verify", "cifar100", "--json", "-q"]).run(place)?;
        let report = serde_json::from_slice::<Value>(&ending.out).ok();
        let bad =
            report.as_ref().and_then(|report| report["report"]["bad"].as_array()).is_none_or(|bad| !bad.is_empty());
        Ok(match Verdict::of_failure(&ending) {
            Some(verdict) if verdict.wrong().is_some() && (report.is_none() || ending.has_panicked()) => verdict,
            _ if bad => Verdict::Refused("named".into()),
            _ => Verdict::Another("nothing bad was found".into()),
        })
    })
}

/// The example that loads a model, learns more and predicts.
pub fn grows(example: PathBuf, printed: Vec<u8>, model: Vec<u8>) -> Judge {
    Box::new(move |_, place| {
        let call = Call::new(&example, ["more", "shop.safetensors"]);
        Ok(match ended(&call, place)? {
            Ok(ending) if ending.out == printed && fs::read(place.join("shop.safetensors"))? == model => Verdict::Same,
            Ok(_) => Verdict::Another("it learned from a damaged file".into()),
            Err(verdict) => verdict,
        })
    })
}

/// A scene, rehearsed for its files.
pub fn rehearsed(scene: Box<dyn Scene>, stage: &Stage) -> Result<Rc<Rehearsed>> {
    Ok(Rc::new(Rehearsed::new(scene, stage, false)?))
}
