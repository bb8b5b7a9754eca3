//! Where tensors live and what computes: the processor, or a GPU through one of Burn's backends.
//!
//! A device has a name, such as `cpu`, `wgpu` or `cuda:1`. Every name can be read by every build,
//! because files of runs have them; a device can be opened only by a program that was built for it,
//! on a machine that has it; otherwise that is an error, never a panic. Burn's default device, which
//! changes with features and environment, is never asked for. See `docs/gpu.md`.

mod error;
mod found;
mod transfer;

use std::{fmt, str::FromStr};

use burn::tensor::Device;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use error::DeviceError;
pub(crate) use transfer::add_read_backs;
pub use transfer::{count_read_backs, read, read_all, read_one, upload};

/// What a device is reached through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor, by Burn's `flex` and our own kernels.
    Cpu,
    /// Any GPU, by the graphics API that the system has, with shaders in WGSL unless `vulkan` or
    /// `metal` is built in as well.
    Wgpu,
    /// A GPU by Vulkan, with shaders in SPIR-V.
    Vulkan,
    /// Apple's, with shaders in MSL.
    Metal,
    /// NVIDIA's.
    Cuda,
    /// AMD's.
    Rocm,
}

impl DeviceKind {
    /// Every kind, in the order of documentation.
    pub const ALL: [Self; 6] = [Self::Cpu, Self::Wgpu, Self::Vulkan, Self::Metal, Self::Cuda, Self::Rocm];

    /// Its name on the command line and in files; the cargo feature that builds it is called the same.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
        }
    }

    /// Whether this program was built for it.
    pub fn is_built(self) -> bool {
        match self {
            Self::Cpu => true,
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Metal => cfg!(feature = "metal"),
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Rocm => cfg!(feature = "rocm"),
        }
    }

    /// Those that this program was built for, as a user names them: `cpu, wgpu or wgpu:N`.
    pub fn built_names() -> String {
        let mut names: Vec<String> = vec![Self::Cpu.name().to_owned()];
        for kind in Self::ALL.into_iter().skip(1).filter(|kind| kind.is_built()) {
            names.extend([kind.name().to_owned(), format!("{}:N", kind.name())]);
        }
        match names.split_last() {
            Some((last, others @ [_, ..])) => format!("{} or {last}", others.join(", ")),
            _ => names.concat(),
        }
    }
}

/// A device as a user names it: `cpu`, `wgpu`, `cuda:1`. Without a number it is the first of its
/// kind; of several GPUs those on a card come before those in a processor and before software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceName {
    /// What it is reached through.
    pub kind: DeviceKind,
    /// Which of that kind, from 0.
    pub index: usize,
}

/// What a device turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// The part of Burn that computes, such as `flex` or `cubecl<wgpu<wgsl>>`.
    pub backend: String,
    /// What the GPU calls itself; none for the processor.
    pub adapter: Option<String>,
}

impl DeviceName {
    /// The processor.
    pub const CPU: Self = Self { kind: DeviceKind::Cpu, index: 0 };

    /// Whether this program was built for it. Whether this machine has it, [`DeviceName::open`] finds out.
    ///
    /// # Errors
    /// It was not.
    pub fn check(self) -> Result<(), DeviceError> {
        if self.kind.is_built() { Ok(()) } else { Err(DeviceError::NotBuilt(self.kind)) }
    }

    /// The device, ready for tensors, without autodiff.
    ///
    /// # Errors
    /// This program was not built for it, or this machine has no such device, or it cannot be used.
    pub fn open(self) -> Result<Device, DeviceError> {
        self.check()?;
        found::open(self)
    }
}

/// Whether tensors on this device are in the host's own memory: then reading them costs nothing, and
/// what the host adds up is added up as it always was.
pub fn is_host(device: &Device) -> bool {
    *device == Device::flex()
}

/// What computes on an open device.
pub fn identify(device: &Device) -> DeviceIdentity {
    found::identify(device)
}

impl FromStr for DeviceName {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let (name, index) = text.split_once(':').map_or((text, None), |(name, index)| (name, Some(index)));
        let kind = DeviceKind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| DeviceError::Unknown(text.to_owned()))?;
        let index = match (kind, index) {
            (_, None) => 0,
            (DeviceKind::Cpu, Some(_)) => return Err(DeviceError::OneProcessor(text.to_owned())),
            // Burn counts devices in 16 bits.
            (_, Some(digits)) => match digits.parse::<u16>() {
                Ok(index) if digits.bytes().all(|byte| byte.is_ascii_digit()) => usize::from(index),
                _ => return Err(DeviceError::Index { text: text.to_owned(), kind }),
            },
        };
        Ok(Self { kind, index })
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.index {
            0 => f.pad(self.kind.name()),
            index => f.pad(&format!("{}:{index}", self.kind.name())),
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for DeviceName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_kind_and_a_number() {
        let name = |text: &str| text.parse::<DeviceName>().unwrap();
        assert_eq!(name("cpu"), DeviceName::CPU);
        assert_eq!(name("wgpu"), DeviceName { kind: DeviceKind::Wgpu, index: 0 });
        assert_eq!(name("cuda:1"), DeviceName { kind: DeviceKind::Cuda, index: 1 });
        for text in ["cpu", "wgpu", "vulkan:2", "metal", "cuda:1", "rocm:65535"] {
            assert_eq!(name(text).to_string(), text);
        }
        assert_eq!(name("rocm:0").to_string(), "rocm", "one name for one device");
    }

    #[test]
    fn a_name_that_is_not_a_device_is_refused() {
        let error = |text: &str| text.parse::<DeviceName>().unwrap_err().to_string();
        assert!(
            error("gpu").starts_with("there is no device `gpu`: this program was built for cpu"),
            "{}",
            error("gpu")
        );
        assert_eq!(error("cpu:1"), "`cpu:1` is not a device: the CPU has no index, write cpu");
        for text in ["wgpu:", "wgpu:x", "wgpu:-1", "wgpu:+1", "wgpu:65536", "wgpu:1:2"] {
            assert_eq!(
                error(text),
                format!("`{text}` is not a device: write wgpu, or wgpu:1 for the second of several")
            );
        }
    }

    #[test]
    fn what_was_not_built_is_refused() {
        assert_eq!(DeviceName::CPU.check(), Ok(()));
        for kind in DeviceKind::ALL.into_iter().filter(|kind| !kind.is_built()) {
            assert_eq!(DeviceName { kind, index: 0 }.open().unwrap_err(), DeviceError::NotBuilt(kind));
            assert!(!DeviceKind::built_names().contains(kind.name()));
        }
    }

    #[test]
    fn the_processor_is_always_there() {
        let device = DeviceName::CPU.open().unwrap();
        assert!(is_host(&device) && is_host(&device.clone().autodiff()));
        assert_eq!(identify(&device), DeviceIdentity { backend: "flex".into(), adapter: None });
    }
}
