//! What makes a finished run's result doubtful: it is said at the end, and stands in `result.json`.

use rehearsal_runs::Computed;

use super::{Progress, progress::HighLoss};
use crate::stream::Stream;

/// A network that learns does not have a loss this many times that of guessing: guessing costs ln K
/// for K classes, and the worst mistakes of a network that learns cost some tens.
const ABSURD: f64 = 1000.0;

/// How many standard deviations an accuracy must be above that of one who always names the same
/// class, to be no accident.
const SURE: f64 = 2.0;

/// A message for each reason to doubt.
pub(super) fn warnings(progress: &Progress, stream: &Stream) -> Vec<String> {
    let tasks: Vec<Learned> = stream
        .tasks()
        .zip(progress.matrix.rows())
        .filter_map(|(task, row)| {
            let (classes, images) = stream.tested(task);
            Some(Learned { classes, images, accuracy: *row.last()? })
        })
        .collect();
    let doubts = [
        progress.highest_loss.and_then(absurd_loss),
        nothing_learned(&tasks),
        mixed_devices(&progress.computed),
        chosen_by_timing(&progress.computed),
    ];
    doubts.into_iter().flatten().collect()
}

/// What one device computed, another does not compute again to the bit.
fn mixed_devices(computed: &[Computed]) -> Option<String> {
    let [first, others @ ..] = computed else { return None };
    let others: Vec<String> = others.iter().map(|next| format!("{next} from step {} on", next.from_step + 1)).collect();
    (!others.is_empty()).then(|| {
        format!("it was computed by {first}, then by {}: no one of them alone has these bits", others.join(", "))
    })
}

/// With autotune, what is fastest decides which kernel is used, and kernels round differently.
fn chosen_by_timing(computed: &[Computed]) -> Option<String> {
    let tuned = cfg!(feature = "autotune") && computed.iter().any(|part| part.adapter.is_some());
    tuned.then(|| "its kernels were chosen by timing them (autotune): the same run may differ in its last bits".into())
}

fn absurd_loss(HighLoss { loss, step, classes }: HighLoss) -> Option<String> {
    let guessing = (classes.max(2) as f64).ln();
    (f64::from(loss) > ABSURD * guessing).then(|| {
        format!(
            "the loss rose to {loss:.3e} at step {step}, where guessing costs {guessing:.2}: the result is not to be \
             trusted, try a smaller `lr`"
        )
    })
}

/// A task as it was tested right after it was learned.
#[derive(Clone, Copy)]
struct Learned {
    classes: usize,
    images: usize,
    accuracy: f64,
}

impl Learned {
    /// Whether it was known better than by always naming the same class of it.
    fn is_sure(self) -> bool {
        let guess = 1.0 / self.classes.max(1) as f64;
        let deviation = (guess * (1.0 - guess) / self.images.max(1) as f64).sqrt();
        self.accuracy > guess + SURE * deviation
    }
}

/// Tasks of one class tell nothing: to name it is always right.
fn nothing_learned(tasks: &[Learned]) -> Option<String> {
    let mut telling = tasks.iter().filter(|task| task.classes > 1).peekable();
    telling.peek()?;
    telling.all(|task| !task.is_sure()).then(|| {
        "no task was known surely better right after it was learned than by always naming one of its classes: it seems \
         that nothing was learned; try another `lr`, or more images or `epochs`"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_far_beyond_guessing_is_told() {
        let at = |loss: f32, classes: usize| absurd_loss(HighLoss { loss, step: 7, classes });
        assert_eq!(at(69.0, 2), None);
        assert_eq!(at(30.0, 100), None);
        let told = at(1.25e9, 2).unwrap();
        assert!(told.starts_with("the loss rose to 1.250e9 at step 7, where guessing costs 0.69"), "{told}");
        assert!(at(700.0, 1).is_some(), "a single class costs nothing, but is no reason to divide by it");
    }

    #[test]
    fn a_run_of_two_devices_is_told() {
        let by = |device: &str, adapter: Option<&str>, from_step| Computed {
            from_step,
            device: device.into(),
            backend: String::new(),
            adapter: adapter.map(str::to_owned),
            kernels: "winograd".into(),
        };
        let (gpu, cpu) = (by("wgpu", Some("some card"), 0), by("cpu", None, 12));
        assert_eq!(mixed_devices(std::slice::from_ref(&gpu)), None);
        assert_eq!(
            mixed_devices(&[gpu, cpu]).unwrap(),
            "it was computed by wgpu (some card), then by cpu (winograd) from step 13 on: no one of them alone has \
             these bits"
        );
    }

    #[test]
    fn a_network_that_learned_nothing_is_told() {
        let task = |accuracy: f64| Learned { classes: 2, images: 200, accuracy };
        let all = |accuracies: &[f64]| nothing_learned(&accuracies.iter().map(|&a| task(a)).collect::<Vec<_>>());
        assert!(all(&[0.5, 0.0, 0.5]).is_some(), "the same class, always");
        assert!(all(&[0.55, 0.0]).is_some(), "an accident");
        assert!(all(&[0.5, 0.75]).is_none());
        assert!(nothing_learned(&[Learned { classes: 1, images: 100, accuracy: 1.0 }]).is_none());
        assert!(nothing_learned(&[]).is_none());
    }
}
