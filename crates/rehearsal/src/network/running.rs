//! A running statistic of a norm layer: part of a network's state, but not a parameter.

use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param, ParamId,
    },
    tensor::{Device, Tensor},
};

/// What [`Running`] calls its container while it is visited, so that a visitor can tell it from a parameter.
pub(super) const CONTAINER: &str = "Running";

/// A vector that training passes move and gradients do not. A custom backbone keeps its running mean
/// and variance in this type: then they are saved and loaded with the network, and neither the
/// optimizer nor the average of two networks touches them.
#[derive(Clone, Debug)]
pub struct Running {
    id: ParamId,
    value: Tensor<1>,
}

impl Running {
    /// A statistic that begins as `value`.
    pub fn new(value: Tensor<1>) -> Self {
        Self { id: ParamId::new(), value: value.without_autodiff() }
    }

    /// As it is now, without autodiff.
    pub fn value(&self) -> &Tensor<1> {
        &self.value
    }

    /// Replaces it.
    pub fn set(&mut self, value: Tensor<1>) {
        self.value = value.without_autodiff();
    }
}

/// The statistic where `x` is: with autodiff if `x` has it.
pub(super) fn onto<const D: usize>(statistic: &Running, x: &Tensor<D>) -> Tensor<1> {
    let value = statistic.value().clone();
    if x.is_autodiff() { Tensor::from_inner(value) } else { value }
}

impl Module for Running {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.enter_module("value", CONTAINER);
        visitor.visit_float(&Param::initialized(self.id, self.value.clone()));
        visitor.exit_module("value", CONTAINER);
    }

    fn map<M: ModuleMapper>(mut self, mapper: &mut M) -> Self {
        mapper.enter_module("value", CONTAINER);
        let (_, value, _) = mapper.map_float(Param::initialized(self.id, self.value.clone())).consume();
        mapper.exit_module("value", CONTAINER);
        self.set(value);
        self
    }

    fn to_device(mut self, device: &Device) -> Self {
        self.value = self.value.to_device(&device.clone().without_autodiff());
        self
    }

    fn fork(self, device: &Device) -> Self {
        self.to_device(device)
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        self.value.collect_devices(devices)
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.clone()
    }

    /// It stays without autodiff: nothing is differentiated with respect to it.
    fn train(self) -> Self {
        self
    }
}

impl ModuleDisplayDefault for Running {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"running statistic".to_owned()).optional()
    }
}

impl ModuleDisplay for Running {}
