//! A retrieval of your own, outside the crate: replay the samples that the network's features place farthest from the new ones.
//!
//!     cargo run --release -p rehearsal --example custom_retrieval

use rehearsal::{
    chance::Chance,
    config::Said,
    experiment::parts,
    learner::{Learner, Stage},
    memory::Memory,
    probe::Probe,
    retrieval::Retrieval,
    sample::Slot,
    stream::Stream,
};

struct Farthest {
    count: usize,
    candidates: usize,
}

impl Retrieval for Farthest {
    fn retrieve(&mut self, memory: &Memory, probe: &mut dyn Probe, chance: &mut Chance) -> Vec<Slot> {
        let new = probe.incoming_features();
        let candidates = memory.draw(self.candidates, chance);
        let distance = |row: &[f32]| -> f32 {
            let to = |other: &Vec<f32>| row.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
            new.iter().map(to).fold(f32::INFINITY, f32::min)
        };
        let mut ranked: Vec<(f32, Slot)> =
            probe.features(&candidates).iter().map(|row| distance(row)).zip(candidates).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().take(self.count).map(|(_, slot)| slot).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Said::parse("method = 'er'\nbackbone = 'tiny'\nwidth = 16\ntrain-per-class = 100")?.resolve()?;
    let stream = Stream::new(config.dataset.open(&config.request())?, &config.plan())?;
    let (mut parts, settings) = parts(&config, &stream);
    parts.retrieval = Box::new(Farthest { count: config.retrieved, candidates: config.candidates });
    let mut learner = Learner::new(parts, settings);
    for task in stream.tasks() {
        let (epoch, seen) = (stream.epoch(task, 0), stream.seen(task));
        for number in 0..stream.batches(task) {
            learner.step(&epoch.batch(number)?, Stage { task, seen, offered: true });
        }
        let test = stream.test(task)?;
        let right =
            learner.predict(&test, seen).into_iter().zip(&test).filter(|(class, sample)| *class == sample.label);
        println!("task {}: {} of {} right just after learning it", task.0 + 1, right.count(), test.len());
    }
    Ok(())
}
