//! Why a device cannot be had.

use thiserror::Error;

use super::{DeviceKind, DeviceName};

/// Why a device cannot be had.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DeviceError {
    /// No device has that name.
    #[error("there is no device `{0}`: this program was built for {built}", built = DeviceKind::built_names())]
    Unknown(String),
    /// A number that is not one.
    #[error("`{text}` is not a device: write {kind}, or {kind}:1 for the second of several")]
    Index { text: String, kind: DeviceKind },
    /// A number of the processor.
    #[error("`{0}` is not a device: the CPU has no index, write cpu")]
    OneProcessor(String),
    /// The program cannot.
    #[error("this program was built without {0}")]
    NotBuilt(DeviceKind),
    /// The machine has none.
    #[error("there is no {kind} device on this machine: {}", wanted(*kind))]
    NoneFound { kind: DeviceKind },
    /// The machine has fewer.
    #[error(
        "there is no device {name}: this machine has {}",
        if *count == 1 { format!("only {}", name.kind) } else { format!("{0}:0 to {0}:{1}", name.kind, count - 1) }
    )]
    TooFew { name: DeviceName, count: usize },
    /// It is there, but does not work.
    #[error("the device {name} cannot be used: {why}")]
    Unusable { name: DeviceName, why: String },
}

/// What a kind of device needs.
fn wanted(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "it has a processor",
        DeviceKind::Wgpu => "no graphics card with a driver for Vulkan, Metal, DirectX 12 or OpenGL was found",
        DeviceKind::Vulkan => "no graphics card with a driver for Vulkan was found",
        DeviceKind::Metal => "no graphics card that Metal knows was found",
        DeviceKind::Cuda => "no NVIDIA card with its driver was found",
        DeviceKind::Rocm => "no AMD card with ROCm was found",
    }
}
