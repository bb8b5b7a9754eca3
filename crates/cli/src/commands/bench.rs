//! `rehearsal bench`: the workload of one balanced step, as the PyTorch yardstick measures it.

use std::{process::ExitCode, time::Instant};

use anyhow::{Context, Result};
use rehearsal::{
    Device, TensorData,
    config::PartialConfig,
    device::{DeviceIdentity, identify, is_host, read_all, upload},
    learner::{check_room, on_threads, training_device},
    losses::Denominator,
    methods::{Draw, Method, Pcr, Reduction, StepBatch},
    network::{Architecture, BackboneKind, HeadKind, Kernels, Network, Norm},
    probe::{LookAhead, Probe},
    retrieval::{LossChange, Retrieved},
    rng::{Rng, RngStream},
    sample::{Class, ImageShape, Slot, TaskId},
    views::ViewBatch,
};
use serde_json::json;

use crate::{
    args::{Bench, Benchmark, StepBench},
    printer::print,
};

const CLASSES: usize = 100;
const LR: f64 = 0.1;
/// Candidates of a draw.
const DRAW: usize = 50;
const ENGINE: &str = concat!("rehearsal ", env!("CARGO_PKG_VERSION"));

/// Measures and prints.
pub fn bench(args: &Bench) -> Result<ExitCode> {
    match &args.what {
        Benchmark::Step(args) => bench_step(args),
    }
}

/// Prints a line of JSON.
fn bench_step(args: &StepBench) -> Result<ExitCode> {
    let [width, size, threads] = [args.width, args.size, args.threads].map(usize::from);
    let settings = PartialConfig { width: Some(width), device: Some(args.device), ..PartialConfig::default() };
    check_room(&settings.learner()?, ImageShape { height: size, width: size, channels: 3 }, CLASSES)?;
    let device = args.device.open()?;
    let measured = on_threads(threads, || step(args, &device));
    let mut line = measured.context("threads cannot be started")?;
    let DeviceIdentity { backend, adapter } = identify(&device);
    line["device"] = json!(args.device);
    line["backend"] = json!(backend);
    line["adapter"] = json!(adapter);
    print(&format!("{line}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn step(args: &StepBench, device: &Device) -> serde_json::Value {
    let [width, size, threads, repeats] = [args.width, args.size, args.threads, args.repeats].map(usize::from);
    let mut workload = Workload::new(width, size, threads, device);
    let ahead = workload.look_ahead();
    let score = median_milliseconds(repeats, device, || drop(workload.score(&ahead)));
    let train = median_milliseconds(repeats, device, || workload.train());
    let step = median_milliseconds(repeats, device, || {
        let ahead = workload.look_ahead();
        drop(workload.score(&ahead));
        workload.train();
    });
    json!({ "engine": ENGINE, "width": width, "size": size, "threads": threads, "score": score, "train": train, "step": step })
}

/// Random images and labels, and a network of 100 classes.
struct Workload {
    network: Network,
    method: Pcr,
    batch: StepBatch,
    /// Two draws; on a GPU as one tensor, because a learner passes them there together.
    draws: Vec<ViewBatch>,
}

impl Workload {
    fn new(width: usize, size: usize, threads: usize, plain: &Device) -> Self {
        let method = Pcr { temperature: 0.09, denominator: Denominator::Multiset, reduction: Reduction::Mean };
        let input = ImageShape { height: size, width: size, channels: 3 };
        let architecture = Architecture {
            backbone: BackboneKind::ResNet18,
            width,
            head: HeadKind::Proxies { temperature: 0.09 },
            classes: CLASSES,
            input,
            kernels: Kernels::Winograd,
            threads,
        };
        let device = training_device(plain);
        let mut rng = Rng::new(0, RngStream::Split, &[]);
        let mut views = |count: usize, device: &Device| {
            let values: Vec<f32> = (0..count * input.bytes()).map(|_| rng.unit() as f32).collect();
            let images = upload(TensorData::new(values, [count, size, size, 3]), device);
            ViewBatch { images, labels: (0..count).map(|_| Class(rng.below(CLASSES as u64) as u16)).collect() }
        };
        let incoming = views(20, &device);
        let draw = Draw { views: views(20, &device), logits: None };
        let batch = StepBatch { incoming, draws: vec![draw], task: TaskId(0), seen: CLASSES };
        let draws =
            if is_host(plain) { vec![views(DRAW, plain), views(DRAW, plain)] } else { vec![views(2 * DRAW, plain)] };
        Self { network: Network::new(&architecture, 0, &device), method, batch, draws }
    }

    fn look_ahead(&self) -> LookAhead {
        LookAhead::new(&self.network, &self.batch.incoming, CLASSES, LR)
    }

    fn score(&self, ahead: &LookAhead) -> Vec<Retrieved> {
        let slots: Vec<Slot> = (0..DRAW).map(Slot).collect();
        let mut probe = Ready { ahead, draws: &self.draws };
        LossChange { high: 5, low: 5, candidates: DRAW }.pick(&slots, &slots, &mut probe)
    }

    fn train(&mut self) {
        if let Some(descent) = self.method.descent(&mut self.network, &self.batch) {
            self.network = self.network.clone().plain_step(&descent.gradients, LR);
        }
    }
}

/// A probe of draws that are tensors already.
struct Ready<'a> {
    ahead: &'a LookAhead,
    draws: &'a [ViewBatch],
}

impl Probe for Ready<'_> {
    fn loss_changes(&mut self, draws: &[&[Slot]]) -> Vec<Vec<f32>> {
        assert!(draws.len() == 2 && draws.iter().all(|slots| slots.len() == DRAW), "the two draws of the workload");
        let norm = if self.draws.len() == 2 { Norm::Batch } else { Norm::Batches(2) };
        let changes = self.draws.iter().map(|draw| self.ahead.loss_change(&draw.images, &draw.labels, norm));
        read_all(changes.collect()).concat().chunks(DRAW).map(<[f32]>::to_vec).collect()
    }
}

/// Waits for the device, which may still compute when the host has queued everything.
fn median_milliseconds(repeats: usize, device: &Device, mut work: impl FnMut()) -> f64 {
    let mut work = || {
        work();
        device.sync().expect("a device that took the work does it");
    };
    for _ in 0..3 {
        work();
    }
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[repeats / 2]
}
