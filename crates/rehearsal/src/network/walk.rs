//! Walks over a module's tensors: what gradients, optimizer and files need, by Burn's visitors.
//!
//! The order of a walk is that of the module's fields; names are the fields', joined by dots.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{self, Tensor, TensorData},
};

use super::{
    running::CONTAINER as RUNNING,
    state::{Array, State, StateError},
};
use crate::device::{read, upload};

/// The flat gradient of every parameter. One that the loss does not depend on gets zeros.
pub(super) fn gradients(module: &impl Module, by_tensor: &mut tensor::Gradients) -> Vec<Tensor<1>> {
    let mut walk = Collect { by_tensor, place: Place::default(), gradients: Vec::new() };
    module.visit(&mut walk);
    walk.gradients
}

/// Every parameter with its name, flat, without autodiff.
pub(super) fn parameters(module: &impl Module) -> Vec<(String, Tensor<1>)> {
    let mut walk = Parameters { place: Place::default(), parameters: Vec::new() };
    module.visit(&mut walk);
    walk.parameters
}

/// The module with other values of its parameters: `map` gets each of them flat, without autodiff.
pub(super) fn map_parameters<M: Module>(module: M, map: &mut dyn FnMut(Tensor<1>) -> Tensor<1>) -> M {
    module.map(&mut Map { place: Place::default(), map })
}

/// Every parameter and running statistic.
pub(super) fn state(module: &impl Module) -> State {
    save(module, Which::All)
}

/// Every running statistic.
pub(super) fn running(module: &impl Module) -> State {
    save(module, Which::Running)
}

/// The module with every parameter and running statistic from `state`.
pub(super) fn load<M: Module>(module: M, state: &State) -> Result<M, StateError> {
    replace(module, state, Which::All)
}

/// The module with every running statistic from `state`.
pub(super) fn load_running<M: Module>(module: M, state: &State) -> Result<M, StateError> {
    replace(module, state, Which::Running)
}

/// What of a module is saved or loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Running,
}

fn save(module: &impl Module, which: Which) -> State {
    let mut walk = Save { place: Place::default(), which, state: State::default() };
    module.visit(&mut walk);
    walk.state
}

fn replace<M: Module>(module: M, state: &State, which: Which) -> Result<M, StateError> {
    let mut walk = Load { place: Place::default(), which, state, error: None };
    let loaded = module.map(&mut walk);
    walk.error.map_or(Ok(loaded), Err)
}

/// Where a walk is.
#[derive(Default)]
struct Place {
    path: Vec<String>,
    running: bool,
}

impl Place {
    fn enter(&mut self, name: &str, container: &str) {
        match container {
            RUNNING => self.running = true,
            // Which variant of an enum it is has no part in the name.
            variant if variant.starts_with("Enum:") => {}
            _ => self.path.push(name.to_owned()),
        }
    }

    fn exit(&mut self, container: &str) {
        match container {
            RUNNING => self.running = false,
            variant if variant.starts_with("Enum:") => {}
            _ => drop(self.path.pop()),
        }
    }

    fn name(&self) -> String {
        self.path.join(".")
    }

    fn is_in(&self, which: Which) -> bool {
        which == Which::All || self.running
    }
}

/// The way in and out of modules, which is the same for every walk.
macro_rules! keeps_place {
    () => {
        fn enter_module(&mut self, name: &str, container: &str) {
            self.place.enter(name, container);
        }
        fn exit_module(&mut self, _: &str, container: &str) {
            self.place.exit(container);
        }
    };
}

struct Collect<'a> {
    by_tensor: &'a mut tensor::Gradients,
    place: Place,
    gradients: Vec<Tensor<1>>,
}

impl ModuleVisitor for Collect<'_> {
    keeps_place!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if self.place.running {
            return;
        }
        let value = parameter.val();
        let size = value.shape().num_elements();
        self.gradients.push(match value.grad_remove(self.by_tensor) {
            Some(gradient) => gradient.reshape([size]),
            None => Tensor::zeros([size], &value.device().without_autodiff()),
        });
    }
}

struct Parameters {
    place: Place,
    parameters: Vec<(String, Tensor<1>)>,
}

impl ModuleVisitor for Parameters {
    keeps_place!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if !self.place.running {
            let value = parameter.val().without_autodiff();
            let size = value.shape().num_elements();
            self.parameters.push((self.place.name(), value.reshape([size])));
        }
    }
}

struct Map<'a> {
    place: Place,
    map: &'a mut dyn FnMut(Tensor<1>) -> Tensor<1>,
}

impl ModuleMapper for Map<'_> {
    keeps_place!();

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.place.running {
            return parameter;
        }
        replaced(parameter, |value| {
            let dims = value.dims();
            (self.map)(value.reshape([dims.iter().product::<usize>()])).reshape(dims)
        })
    }
}

/// A parameter with another value, as trainable as it was.
fn replaced<const D: usize>(parameter: Param<Tensor<D>>, by: impl FnOnce(Tensor<D>) -> Tensor<D>) -> Param<Tensor<D>> {
    let (id, value, mapper) = parameter.consume();
    let (autodiff, trainable) = (value.is_autodiff(), value.is_require_grad());
    let value = by(value.without_autodiff());
    let value = if autodiff { Tensor::from_inner(value) } else { value };
    Param::from_mapped_value(id, if trainable { value.require_grad() } else { value }, mapper)
}

struct Save {
    place: Place,
    which: Which,
    state: State,
}

impl ModuleVisitor for Save {
    keeps_place!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if !self.place.is_in(self.which) {
            return;
        }
        let value = parameter.val();
        let shape = value.dims().to_vec();
        let values = read(value);
        self.state.0.insert(self.place.name(), Array { shape, values });
    }
}

struct Load<'a> {
    place: Place,
    which: Which,
    state: &'a State,
    error: Option<StateError>,
}

impl ModuleMapper for Load<'_> {
    keeps_place!();

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !self.place.is_in(self.which) {
            return parameter;
        }
        let dims = parameter.dims();
        match self.state.array(&self.place.name(), &dims) {
            Ok(array) => replaced(parameter, |old| upload(TensorData::new(array.values.clone(), dims), &old.device())),
            Err(error) => {
                self.error.get_or_insert(error);
                parameter
            }
        }
    }
}
