//! How much memory a learner needs, estimated before it is allocated: an allocation that fails ends
//! the program, and one that the system cannot keep ends others.

use std::fs;

use super::LearnerError;
use crate::{
    config::{ConfigError, LearnerConfig},
    network::{Plan, one_image},
    sample::{ImageShape, InputShape},
    views::Views,
};

/// The longest side of an image, and the most channels: their product is a number of bytes.
const LONGEST_SIDE: usize = 1 << 15;
const MOST_CHANNELS: usize = 1 << 16;

/// Numbers of a network, in floats: what is drawn, and what is kept of each image while it trains.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Floats {
    parameters: f64,
    per_image: f64,
}

/// What a learner is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Predict, at least.
    Predict,
    /// Take steps.
    Learn,
}

/// Refuses images without pixels or beyond all measure.
pub(super) fn check_shape(shape: ImageShape) -> Result<(), LearnerError> {
    let ImageShape { height, width, channels } = shape;
    let sides = (1..=LONGEST_SIDE).contains(&height) && (1..=LONGEST_SIDE).contains(&width);
    if sides && (1..=MOST_CHANNELS).contains(&channels) { Ok(()) } else { Err(LearnerError::Shape { shape }) }
}

/// Refuses samples that do not fit the backbone: features are for those that are pre-trained, pixels for the others.
pub(super) fn check_input(config: &LearnerConfig, input: InputShape) -> Result<(), LearnerError> {
    let is_pretrained = config.network.backbone.pretrained().is_some() && config.custom.custom_backbone.is_none();
    if is_pretrained != matches!(input, InputShape::Features { .. }) {
        return Err(ConfigError::Input { backbone: config.network.backbone, is_pretrained }.into());
    }
    check_shape(input.image())
}

/// Refuses a learner with a built-in backbone that replays once in a step, if the system tells how
/// much memory this machine has and it is too little. [`Learner::new`](super::Learner::new) checks
/// this itself.
///
/// # Errors
/// See [`LearnerError::Memory`].
pub fn check_room(config: &LearnerConfig, shape: ImageShape, classes: usize) -> Result<(), LearnerError> {
    check_shape(shape)?;
    let plan = config.network.plan(shape.channels);
    check_memory(config, &plan, shape, classes, 1, Use::Learn)
}

/// Refuses a learner that needs more memory than this machine has. `draws` is how often its method replays in a step.
pub(super) fn check_memory(
    config: &LearnerConfig,
    plan: &Plan,
    shape: ImageShape,
    classes: usize,
    draws: usize,
    what: Use,
) -> Result<(), LearnerError> {
    match machine_memory() {
        Some(available) => check_against(available, bytes(config, plan, shape, classes, draws, what), config, shape),
        None => Ok(()),
    }
}

fn check_against(available: u64, needed: f64, config: &LearnerConfig, shape: ImageShape) -> Result<(), LearnerError> {
    if needed <= available as f64 {
        return Ok(());
    }
    let (width, needed, available) = (config.network.width, gigabytes(needed), gigabytes(available as f64));
    Err(LearnerError::Memory { width, shape, needed, available })
}

/// The least. While it learns there are weights and gradients, and the activations of all images of
/// a step. A virtual step and scoring come on top: a ResNet-18 took 1.6 times as much at 84, 160 and
/// 224 pixels. A frozen backbone has no gradients and keeps no activations.
fn bytes(config: &LearnerConfig, plan: &Plan, shape: ImageShape, classes: usize, draws: usize, what: Use) -> f64 {
    let Floats { parameters, per_image } = floats(plan, shape, classes);
    let views = if config.method.views == Views::Both { 2 } else { 1 };
    let replayed = config.replay.retrieved.min(config.replay.memory).saturating_mul(draws);
    let images = views * config.batch.saturating_add(replayed);
    4.0 * match what {
        Use::Predict => parameters,
        Use::Learn if config.network.freeze_backbone => parameters,
        Use::Learn => 2.0 * parameters + per_image * images as f64,
    }
}

/// How many numbers a network is made of, at least: of a custom backbone nothing is known.
pub(super) fn parameters(config: &LearnerConfig, shape: ImageShape, classes: usize) -> f64 {
    let plan = || config.network.plan(shape.channels);
    if config.custom.custom_backbone.is_some() { 0.0 } else { floats(&plan(), shape, classes).parameters }
}

fn floats(plan: &Plan, shape: ImageShape, classes: usize) -> Floats {
    let input = one_image(shape);
    let head = plan.features(input) as f64 * classes as f64;
    let product = |factors: &[usize]| factors.iter().map(|&factor| factor as f64).product::<f64>();
    plan.shaped(input).0.iter().fold(Floats { parameters: head, per_image: 0.0 }, |total, layer| {
        let (conv, output) = (layer.conv, layer.output);
        // A convolution, its norm, and the outputs of both.
        Floats {
            parameters: total.parameters
                + product(&[conv.kernel, conv.kernel, conv.cin, conv.cout])
                + product(&[2, conv.cout]),
            per_image: total.per_image + product(&[2, output.h, output.w, output.c]),
        }
    })
}

/// The memory of this machine, or what this process may use of it, in bytes, if the system tells (Linux).
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let all = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let limit = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit = limit.iter().find_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
    Some(limit.map_or(all, |limit| all.min(limit)))
}

/// In words of one decimal.
fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PartialConfig;

    fn needed(settings: &str, size: usize, what: Use) -> f64 {
        let config = PartialConfig::parse(settings).unwrap().learner().unwrap();
        let plan = config.network.plan(3);
        bytes(&config, &plan, ImageShape { height: size, width: size, channels: 3 }, 100, 1, what)
    }

    /// V14: 1,109,140 and 11,220,032 parameters with proxies for 100 classes.
    #[test]
    fn parameters_are_counted() {
        for (width, exact) in [(20, 1_109_140.0), (64, 11_220_032.0)] {
            let counted = needed(&format!("width = {width}"), 32, Use::Predict) / 4.0;
            assert!((counted - exact).abs() < 0.5, "{counted}, not {exact}");
        }
    }

    #[test]
    fn what_grows_is_counted() {
        let learn = |settings: &str, size: usize| needed(settings, size, Use::Learn) / 1e9;
        assert!(learn("", 32) < 0.2, "{}", learn("", 32));
        assert!((40.0..80.0).contains(&learn("", 1024)), "{}", learn("", 1024));
        assert!(learn("width = 4096", 32) > 300.0);
        assert!(learn("batch = 1000000", 32) > 1000.0);
        assert!(learn("backbone = 'tiny'", 32) < learn("", 32));
        assert!(needed("backbone = 'pixels'", 32, Use::Predict) >= 4.0 * 3072.0 * 100.0);
        assert!(needed("", 32, Use::Predict) < needed("", 32, Use::Learn));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_estimate() {
        let config = PartialConfig::parse("width = 64").unwrap().learner().unwrap();
        let shape = ImageShape { height: 84, width: 84, channels: 3 };
        assert!(check_against(1 << 33, 8e9, &config, shape).is_ok());
        assert_eq!(
            check_against(8_000_000_000, 9.04e9, &config, shape).unwrap_err().to_string(),
            "a network of width 64 on images of 84×84 needs at least 9.0 GB of memory, and this machine has 8.0 GB: \
             choose a smaller `width`, `size`, `batch` or `retrieved`"
        );
    }

    #[test]
    fn images_have_pixels_and_an_end() {
        let check = |height, width, channels| check_shape(ImageShape { height, width, channels }).is_ok();
        assert!(check(1, 1, 1) && check(32_768, 1, 3) && check(28, 28, 1));
        assert!(!check(0, 28, 3) && !check(28, 28, 0) && !check(usize::MAX, 2, 3) && !check(28, 1 << 32, 1 << 32));
    }
}
