//! `rehearsal bench retrieval`: what cheaper ways of scoring are worth beside the exact change of
//! loss, on the states of a real learner, and what a step costs with each.

mod agreement;
mod batches;
mod pace;

use std::process::ExitCode;

use agreement::Agreement;
use anyhow::{Context, Result, anyhow};
use batches::Batches;
use pace::Pace;
use rehearsal::{
    choice::Choice,
    config::PartialConfig,
    datasets::Chain,
    learner::on_threads,
    methods::MethodKind,
    probe::{ScoreKind, ScoreNorm},
    retrieval::{Draws, RetrievalKind},
};
use serde_json::{Value, json};

use crate::{
    args::RetrievalBench,
    flags::as_flags,
    printer::{columns, message, plural, print},
};

/// A way to choose, of those that are compared.
struct Variant {
    name: &'static str,
    settings: PartialConfig,
}

/// Measures and prints.
pub fn retrieval(args: &RetrievalBench) -> Result<ExitCode> {
    let prepared = settings(args).and_then(|settings| Ok((Batches::new(&settings, args.steps as usize)?, settings)));
    let (batches, settings) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            message(&as_flags(&format!("error: {error:#}")));
            return Ok(ExitCode::from(2));
        }
    };
    let measured = on_threads(usize::from(args.threads), || measure(&settings, &batches));
    let rows = measured.context("threads cannot be started")??;
    let text = if args.json { as_json(args, &rows).to_string() + "\n" } else { as_text(args, &rows) };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What is measured about a variant.
struct Row {
    variant: Variant,
    agreement: Option<Agreement>,
    pace: Pace,
    /// Beside random's.
    ratio: f64,
}

fn measure(settings: &PartialConfig, batches: &Batches) -> Result<Vec<Row>> {
    message(&format!("asking every score about the same candidates in {} steps", batches.measured()));
    let agreements = agreement::of_scores(settings, batches)?;
    let variants = variants();
    message(&format!("taking {} steps with each of {} retrievals, in turns", batches.measured(), variants.len()));
    let paces = pace::of_variants(settings, &variants, batches)?;
    let random = paces.first().map_or(f64::NAN, |pace| pace.mean);
    let row = |(variant, pace): (Variant, Pace)| {
        let learner = &variant.settings;
        let scores = learner.retrieval == Some(RetrievalKind::Balanced);
        let score = learner.score.unwrap_or_default();
        let asked = (score, learner.score_norm.unwrap_or(score.default_norm()));
        let agreement = agreements.iter().find(|(of, _)| scores && *of == asked).map(|(_, agreement)| *agreement);
        Row { agreement, pace, ratio: pace.mean / random, variant }
    };
    Ok(variants.into_iter().zip(paces).map(row).collect())
}

/// The settings that all variants share.
fn settings(args: &RetrievalBench) -> Result<PartialConfig> {
    let dataset: Chain = args.dataset.parse().map_err(|error| anyhow!("{error}"))?;
    let method = MethodKind::from_name(&args.method)?;
    let settings = PartialConfig {
        dataset: Some(dataset),
        data: args.data.clone(),
        classes: args.classes.map(usize::from),
        tasks: args.tasks.map(usize::from),
        method: Some(method),
        memory: Some(args.memory as usize),
        width: Some(args.width.into()),
        threads: Some(args.threads.into()),
        seed: Some(args.seed),
        ..PartialConfig::default()
    };
    if !method.replays() {
        return Err(anyhow!("{method} replays nothing: there is nothing to retrieve"));
    }
    settings.resolve()?;
    Ok(settings)
}

/// The ways that are compared: random first, which the others are measured by.
fn variants() -> Vec<Variant> {
    let balanced = |name, score: ScoreKind, draws: Draws, score_every: u64| {
        let (score, draws, score_every) = (Some(score), Some(draws), Some(score_every));
        let retrieval = Some(RetrievalKind::Balanced);
        Variant { name, settings: PartialConfig { retrieval, score, draws, score_every, ..PartialConfig::default() } }
    };
    let eval = |mut variant: Variant| {
        variant.settings.score_norm = Some(ScoreNorm::Eval);
        variant
    };
    let random = PartialConfig { retrieval: Some(RetrievalKind::Random), ..PartialConfig::default() };
    vec![
        Variant { name: "random", settings: random },
        balanced("look-ahead", ScoreKind::LookAhead, Draws::Two, 1),
        eval(balanced("look-ahead, eval norm", ScoreKind::LookAhead, Draws::Two, 1)),
        balanced("look-ahead, one draw", ScoreKind::LookAhead, Draws::One, 1),
        balanced("look-ahead, every 4th step", ScoreKind::LookAhead, Draws::Two, 4),
        balanced("head-ahead, one draw", ScoreKind::HeadAhead, Draws::One, 1),
        balanced("last-layer", ScoreKind::LastLayer, Draws::Two, 1),
        balanced("last-layer, one draw", ScoreKind::LastLayer, Draws::One, 1),
        eval(balanced("last-layer, one draw, eval norm", ScoreKind::LastLayer, Draws::One, 1)),
        balanced("last-layer, one draw, every 2nd", ScoreKind::LastLayer, Draws::One, 2),
        balanced("kept-features", ScoreKind::KeptFeatures, Draws::Two, 1),
        balanced("kept-features, one draw", ScoreKind::KeptFeatures, Draws::One, 1),
    ]
}

fn as_text(args: &RetrievalBench, rows: &[Row]) -> String {
    let header = ["balanced by", "rank corr.", "high", "low", "ms/step", "× random"].map(str::to_owned).to_vec();
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let line = |row: &Row| {
        let cell = |of: fn(&Agreement) -> f64, text: &dyn Fn(f64) -> String| {
            row.agreement.as_ref().map_or_else(|| "-".to_owned(), |agreement| text(of(agreement)))
        };
        vec![
            row.variant.name.to_owned(),
            cell(|agreement| agreement.rank_correlation, &|value| format!("{value:.3}")),
            cell(|agreement| agreement.high_overlap, &percent),
            cell(|agreement| agreement.low_overlap, &percent),
            format!("{:.1}", row.pace.mean),
            format!("{:.2}", row.ratio),
        ]
    };
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows.iter().map(line)).collect();
    let RetrievalBench { dataset, method, width, memory, steps, threads, .. } = args;
    format!(
        "{method} on {dataset}, width {width}, memory {memory} (full), {steps} steps, {}\n\n{}\n\n\
         rank corr.: Spearman's, with the exact change of loss of the same candidates\n\
         high, low:  share of the picks in common with the exact score's\n\
         ms/step:    mean over real steps, taken in turns\n",
        plural(usize::from(*threads), "thread"),
        columns(&lines, &[false, true, true, true, true, true]).join("\n")
    )
}

fn as_json(args: &RetrievalBench, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let agreement = row.agreement.as_ref();
        json!({
            "name": row.variant.name,
            "retrieval": row.variant.settings.retrieval,
            "score": row.variant.settings.score,
            "score_norm": row.variant.settings.score_norm,
            "draws": row.variant.settings.draws,
            "score_every": row.variant.settings.score_every,
            "rank_correlation": agreement.map(|agreement| agreement.rank_correlation),
            "high_overlap": agreement.map(|agreement| agreement.high_overlap),
            "low_overlap": agreement.map(|agreement| agreement.low_overlap),
            "mean_ms": row.pace.mean,
            "median_ms": row.pace.median,
            "over_random": row.ratio,
        })
    };
    json!({
        "engine": concat!("rehearsal ", env!("CARGO_PKG_VERSION")),
        "dataset": args.dataset,
        "method": args.method,
        "width": args.width,
        "memory": args.memory,
        "threads": args.threads,
        "steps": args.steps,
        "seed": args.seed,
        "variants": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
