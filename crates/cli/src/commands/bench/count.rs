//! `rehearsal bench step --count`: what goes between host and device in a step of each method, and how
//! many kernels it takes.

use anyhow::Result;
use rehearsal::{
    Learner,
    choice::Choice,
    config::PartialConfig,
    device::{Launches, Transfers},
    memory::PolicyKind,
    methods::MethodKind,
    probe::ScoreKind,
    retrieval::RetrievalKind,
    rng::{Rng, RngStream},
    sample::Image,
};
use serde_json::{Value, json};

use super::ENGINE;
use crate::args::StepBench;

/// As many as a draw of candidates looks at.
const MEMORY: usize = 50;
const BATCH: usize = 10;
/// Steps that are counted, once the memory is full and a second task has begun.
const STEPS: usize = 3;

/// The counts of each arm, as JSON.
pub fn count(args: &StepBench) -> Result<Value> {
    let mut arms = Vec::new();
    for (name, settings) in arms_of() {
        let counts = count_arm(args, &settings)?;
        arms.push(json!({
            "name": name,
            "uploads": counts.transfers.uploads,
            "uploaded_bytes": counts.transfers.uploaded_bytes,
            "read_backs": counts.transfers.read_backs,
            "read_bytes": counts.transfers.read_bytes,
            "launches": counts.launches.0,
        }));
    }
    Ok(json!({ "engine": ENGINE, "width": args.width, "size": args.size, "counts": arms }))
}

/// PCR as it is and with what replaces its parts, then the other methods as they are.
fn arms_of() -> Vec<(String, PartialConfig)> {
    let with = |name: &str, set: fn(&mut PartialConfig)| {
        let mut settings = PartialConfig::default();
        set(&mut settings);
        (name.to_owned(), settings)
    };
    let others = MethodKind::ALL.iter().filter(|method| !matches!(method, MethodKind::Pcr | MethodKind::Joint));
    let others =
        others.map(|&method| (method.to_string(), PartialConfig { method: Some(method), ..PartialConfig::default() }));
    let of_pcr = [
        with("pcr + balanced", |_| {}),
        with("pcr + random", |settings| settings.retrieval = Some(RetrievalKind::Random)),
        with("pcr + balanced by last-layer", |settings| settings.score = Some(ScoreKind::LastLayer)),
        with("pcr + balanced, memory gss", |settings| settings.memory_policy = Some(PolicyKind::Gss)),
    ];
    of_pcr.into_iter().chain(others).collect()
}

/// What a step takes at most.
struct Counts {
    transfers: Transfers,
    launches: Launches,
}

fn count_arm(args: &StepBench, settings: &PartialConfig) -> Result<Counts> {
    let learner = Learner::builder().settings(settings).size(args.size.into()).width(args.width.into());
    let learner = learner.threads(args.threads.into()).device(args.device).memory(MEMORY);
    let mut learner = learner.classes(&["a", "b", "c", "d"]).build()?;
    let mut rng = Rng::new(0, RngStream::Split, &[]);
    let bytes = learner.shape().bytes();
    let mut batch = || -> Vec<Image> {
        (0..BATCH).map(|_| (0..bytes).map(|_| rng.below(256) as u8).collect::<Vec<u8>>().into()).collect()
    };
    for _ in 0..MEMORY / BATCH {
        learner.learn_batch(&batch(), &labels(["a", "b"]))?;
    }
    learner.end_task();
    let mut most = Counts { transfers: Transfers::default(), launches: Launches::default() };
    for _ in 0..STEPS {
        let images = batch();
        let ((step, transfers), launches) =
            Launches::of(|| Transfers::of(|| learner.learn_batch(&images, &labels(["c", "d"]))));
        step?;
        if transfers.read_backs >= most.transfers.read_backs {
            most = Counts { transfers, launches };
        }
    }
    Ok(most)
}

/// As many labels as a batch has images.
fn labels(names: [&str; 2]) -> Vec<&str> {
    names.into_iter().cycle().take(BATCH).collect()
}
