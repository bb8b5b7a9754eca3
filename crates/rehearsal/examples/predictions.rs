//! Models of several kinds and what they predict on 1,000 images, for a reader in another language
//! to compare: `crates/rehearsal/tests/read_model.py` does that with `scripts/read_model.py`.
//!
//!     cargo run --release -p rehearsal --example predictions -- DIR

use std::{error::Error, fs, path::Path};

use rehearsal::{
    Learner,
    config::PartialConfig,
    datasets::{Dataset, Request, Split},
    experiment::{Experiment, Outcome},
    learner::{Prediction, Recalibration},
    sample::Image,
};

const KINDS: [(&str, &str); 4] = [
    ("pcr", "width = 4"),
    ("cls-er", "method = 'cls-er'\nwidth = 4"),
    ("tiny", "method = 'er-ace'\nhead = 'cosine'\nbackbone = 'tiny'\nwidth = 8"),
    ("pixels", "method = 'er'\nbackbone = 'pixels'\nlr = 0.01"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("say where to write")?;
    let directory = Path::new(&directory);
    fs::create_dir_all(directory)?;
    let source = Dataset::Embedded.open(&Request::default())?;
    let images: Result<Vec<Image>, _> = (0..1000).map(|index| source.image(Split::Test, index)).collect();
    let images = images?;
    fs::write(directory.join("images.npy"), npy(&images, [1000, 28, 28, 1]))?;
    let write = |name: &str, learner: &Learner| -> Result<(), Box<dyn Error>> {
        learner.save(directory.join(format!("{name}.safetensors")))?;
        let line = |prediction: Prediction| {
            serde_json::json!({ "class": *prediction.class, "probability": prediction.probability }).to_string() + "\n"
        };
        let lines: String = learner.predict(&images)?.into_iter().map(line).collect();
        Ok(fs::write(directory.join(format!("{name}.jsonl")), lines)?)
    };
    for (name, settings) in KINDS {
        // Eight of ten classes: the head has rows that must not be predicted.
        let settings = format!("{settings}\ntask-classes = {TASKS}\ntrain-per-class = 60\ntest-per-class = 5");
        let outcome = Experiment::new(&PartialConfig::parse(&settings)?, None)?.run(&mut ())?;
        let Outcome::Finished(_, learner) = outcome else { return Err("stopped".into()) };
        write(name, &learner)?;
        let mut learner = *learner;
        if let Recalibration::Done { .. } = learner.recalibrate() {
            write(&format!("{name}-recalibrated"), &learner)?;
        }
    }
    Ok(())
}

const TASKS: &str = "[['t-shirt', 'trouser'], ['bag', 'ankle boot', 'coat'], ['dress', 'sandal', 'sneaker']]";

/// numpy's format, version 1.0, of bytes.
fn npy(images: &[Image], shape: [usize; 4]) -> Vec<u8> {
    let [n, h, w, c] = shape;
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({n}, {h}, {w}, {c}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    for image in images {
        bytes.extend_from_slice(image);
    }
    bytes
}
