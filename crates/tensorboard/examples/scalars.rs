//! Writes the events of a run that was killed and resumed, and what TensorBoard must show of them:
//!
//! ```sh
//! cargo run -p rehearsal-tensorboard --example scalars DIR      # DIR/events/… and DIR/expected.json
//! python crates/tensorboard/tests/tensorboard.py DIR/events DIR/expected.json
//! ```

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use rehearsal_tensorboard::EventFile;

const BEGUN: f64 = 1_700_000_000.25;
/// Steps of the whole run, and how often it is tested.
const STEPS: u64 = 60;
const TEST_EVERY: u64 = 10;

/// For each tag: step, value, seconds.
type Shown = BTreeMap<String, Vec<(u64, f64, f64)>>;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args().nth(1).ok_or("which directory?")?;
    let events = Path::new(&directory).join("events");
    let mut shown = Shown::new();

    // Killed in the middle of a record at step 33; its last checkpoint was before step 20.
    let mut first = EventFile::create(&events, BEGUN)?;
    write_steps(&mut first, 0..33, 1.0, &mut shown)?;
    first.flush()?;
    cut_off(first.path(), 5)?;

    // Resumed, and killed again in the same second. In truth a run repeats its values; here they
    // differ, to see whose are shown.
    for values in shown.values_mut() {
        values.retain(|(step, ..)| *step < 20);
    }
    let mut second = EventFile::resume(&events, BEGUN + 40.0, 20)?;
    write_steps(&mut second, 20..45, 2.0, &mut Shown::new())?;
    drop(second);

    // Resumed from the same checkpoint, after the clock was set back, until its end.
    let mut third = EventFile::resume(&events, BEGUN, 20)?;
    write_steps(&mut third, 20..STEPS, 3.0, &mut shown)?;
    third.sync()?;

    fs::write(Path::new(&directory).join("expected.json"), serde_json::to_string(&shown)?)?;
    Ok(())
}

/// A loss at every step, two accuracies at some; both depend on which attempt it is.
fn write_steps(
    events: &mut EventFile,
    steps: std::ops::Range<u64>,
    attempt: f32,
    shown: &mut Shown,
) -> std::io::Result<()> {
    for step in steps {
        let seconds = BEGUN + step as f64;
        let mut show =
            |tag: &str, value: f32| shown.entry(tag.to_owned()).or_default().push((step, f64::from(value), seconds));
        let loss = attempt / (1.0 + step as f32);
        events.scalar("loss", step, loss, seconds)?;
        show("loss", loss);
        if step % TEST_EVERY == TEST_EVERY - 1 {
            let tested = [("accuracy/task 1", 0.9 * attempt), ("accuracy/task 2", 0.1 * attempt)];
            events.scalars(step, &tested, seconds)?;
            for (tag, value) in tested {
                show(tag, value);
            }
        }
    }
    Ok(())
}

/// What a kill leaves of a file: its last bytes are missing.
fn cut_off(path: &Path, bytes: u64) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(file.metadata()?.len().saturating_sub(bytes))
}
