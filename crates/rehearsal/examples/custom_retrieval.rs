//! A custom retrieval, outside the crate, in a whole experiment: replay the samples that the
//! network's features place farthest from the new ones.
//!
//!     cargo run --release -p rehearsal --example custom_retrieval

use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, Outcome},
    learner::Parts,
    memory::Memory,
    probe::Probe,
    retrieval::{Retrieval, Retrieved},
    rng::Rng,
    sample::Slot,
};

struct Farthest {
    candidates: usize,
}

impl Retrieval for Farthest {
    fn retrieve(&self, count: usize, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        let new = probe.incoming_features();
        let candidates = memory.draw(self.candidates, rng);
        let distance = |row: &[f32]| -> f32 {
            let to = |other: &Vec<f32>| row.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
            new.iter().map(to).fold(f32::INFINITY, f32::min)
        };
        let mut ranked: Vec<(f32, Slot)> =
            probe.features(&candidates).iter().map(|row| distance(row)).zip(candidates).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().take(count).map(|(_, slot)| slot.into()).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = PartialConfig::parse("method = 'er'\nbackbone = 'tiny'\nwidth = 16\ntrain-per-class = 100")?;
    let config = settings.resolve()?;
    let source = config.dataset.open(&config.request())?;
    let parts = Parts::new().retrieval("farthest", Farthest { candidates: 50 });
    if let Outcome::Finished(record, learner) = Experiment::with_parts(&settings, source, parts)?.run(&mut ())? {
        println!("accuracy {:.1} %", 100.0 * record.accuracy.unwrap_or(0.0));
        println!("the learner remembers {} images", learner.memory().len());
    }
    Ok(())
}
