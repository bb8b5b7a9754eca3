//! What this machine has of the devices that this program was built for: Burn's side of it.

use burn::{
    backend::{Backend, Dispatch},
    tensor::Device,
};

use super::{DeviceError, DeviceIdentity, DeviceKind, DeviceName};

/// Opens a device that this program was built for.
pub(super) fn open(name: DeviceName) -> Result<Device, DeviceError> {
    let devices = devices(name.kind);
    let (kind, count) = (name.kind, devices.len());
    let found = devices.into_iter().nth(name.index);
    let device =
        found.ok_or(if count == 0 { DeviceError::NoneFound { kind } } else { DeviceError::TooFew { name, count } })?;
    #[cfg(feature = "wgpu")]
    gpu::start(&device).map_err(|why| DeviceError::Unusable { name, why })?;
    Ok(device)
}

/// All devices of a kind, the strongest first. Burn's lists ask each driver whether it is there
/// before they ask it for anything else.
fn devices(kind: DeviceKind) -> Vec<Device> {
    match kind {
        DeviceKind::Cpu => vec![Device::flex()],
        #[cfg(feature = "wgpu")]
        DeviceKind::Wgpu => gpu::strongest_first(burn::tensor::DeviceType::Wgpu),
        #[cfg(feature = "vulkan")]
        DeviceKind::Vulkan => gpu::strongest_first(burn::tensor::DeviceType::Vulkan),
        #[cfg(feature = "metal")]
        DeviceKind::Metal => gpu::strongest_first(burn::tensor::DeviceType::Metal),
        #[cfg(feature = "cuda")]
        DeviceKind::Cuda => Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec(),
        #[cfg(feature = "rocm")]
        DeviceKind::Rocm => Device::enumerate(burn::tensor::DeviceType::Rocm).into_vec(),
        #[allow(unreachable_patterns, reason = "with every feature there is no other kind")]
        _ => Vec::new(),
    }
}

/// What computes there.
pub(super) fn identify(device: &Device) -> DeviceIdentity {
    let device = device.clone().without_autodiff();
    let name = Dispatch::name(device.as_dispatch());
    let backend = name.strip_prefix("dispatch<").and_then(|name| name.strip_suffix('>')).unwrap_or(&name).to_owned();
    #[cfg(any(feature = "wgpu", feature = "cuda", feature = "rocm"))]
    let adapter = device.identity().map(|identity| identity.name);
    #[cfg(not(any(feature = "wgpu", feature = "cuda", feature = "rocm")))]
    let adapter = None;
    DeviceIdentity { backend, adapter }
}

/// Of GPUs by way of wgpu.
#[cfg(feature = "wgpu")]
mod gpu {
    use burn::{
        backend::{
            AutoGraphicsApi, CubeDevice, DispatchDevice, WgpuDevice, WgpuDeviceKind,
            wgpu::{RuntimeOptions, WgpuInitError, try_init_setup},
        },
        tensor::{Device, DeviceType},
    };

    /// Cards before what is built into a processor, and software last; otherwise as the system lists them.
    pub(super) fn strongest_first(of: DeviceType) -> Vec<Device> {
        let mut devices = Device::enumerate(of).into_vec();
        devices.sort_by_key(|device| match of_wgpu(device).map(|device| &device.kind) {
            Some(WgpuDeviceKind::DiscreteGpu(_)) => 0,
            Some(WgpuDeviceKind::IntegratedGpu(_)) => 1,
            Some(WgpuDeviceKind::Cpu) => 3,
            _ => 2,
        });
        devices
    }

    /// Makes a device ready. Left to itself, Burn opens it with the first tensor, and panics where it cannot.
    pub(super) fn start(device: &Device) -> Result<(), String> {
        let Some(device) = of_wgpu(device) else { return Ok(()) };
        let options = RuntimeOptions::try_default().map_err(|error| error.to_string())?;
        match try_init_setup::<AutoGraphicsApi>(device, options) {
            // Another learner of this process has opened it: it stays open.
            Ok(_) | Err(WgpuInitError::Registration { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn of_wgpu(device: &Device) -> Option<&WgpuDevice> {
        match device.as_dispatch() {
            DispatchDevice::Cube(CubeDevice::Wgpu(device)) => Some(device),
            _ => None,
        }
    }
}
