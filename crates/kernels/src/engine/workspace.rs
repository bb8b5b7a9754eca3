//! The memory of a forward pass, and unused memory that is kept for the next pass.
//!
//! A pass with a tape keeps every convolution's output and every activation. A pass without one
//! needs two convolution outputs and three activations, and reuses them for one stage after another.

use crate::architecture::{Architecture, Block, Layer};
use crate::image::{Image, Layout, Shape};
use std::sync::{Mutex, PoisonError};

/// Images of one pass. `outputs` are the outputs of convolutions (before the norm), `activations` the
/// outputs of `ReLU` (bordered).
pub(crate) struct Workspace {
    pub batch: usize,
    pub taped: bool,
    pub input: Image,
    outputs: Vec<Image>,
    activations: Vec<Image>,
    output_of: Vec<Place>,
    activation_of: Vec<Place>,
}

/// An image, and its layout there.
#[derive(Clone, Copy)]
struct Place {
    image: usize,
    layout: Layout,
}

/// The activation written by the stem.
pub(crate) const STEM: usize = 0;

/// The activation in the middle of block `b`.
pub(crate) fn middle(b: usize) -> usize {
    1 + 2 * b
}

/// The activation at the end of block `b`.
pub(crate) fn end(b: usize) -> usize {
    2 + 2 * b
}

/// The activation that block `b` reads.
pub(crate) fn before(b: usize) -> usize {
    2 * b
}

impl Workspace {
    fn new(architecture: Architecture, layers: &[Layer], blocks: &[Block], batch: usize, taped: bool) -> Self {
        let of = |layer: usize| Shape { n: batch, ..layers[layer].output };
        let mut outputs = Plan { taped, rooms: Vec::new() };
        let mut activations = Plan { taped, rooms: Vec::new() };
        let stem = outputs.place(Layout::plain(of(0)), 0);
        let mut output_of = vec![stem; layers.len()];
        let mut activation_of = vec![activations.place(Layout::bordered(of(0)), 0)];
        for (b, block) in blocks.iter().enumerate() {
            let shape = of(block.second);
            output_of[block.first] = outputs.place(Layout::plain(shape), 0);
            output_of[block.second] = outputs.place(Layout::plain(shape), 0);
            if let Some(shortcut) = block.shortcut {
                output_of[shortcut] = outputs.place(Layout::plain(shape), 1);
            }
            // In the order of `middle` and `end`.
            activation_of.push(activations.place(Layout::bordered(shape), 1));
            activation_of.push(activations.place(Layout::bordered(shape), if b % 2 == 0 { 2 } else { 0 }));
        }
        let input = Image::new(Layout::bordered(architecture.input(batch)));
        let (outputs, activations) = (outputs.images(), activations.images());
        Self { batch, taped, input, outputs, activations, output_of, activation_of }
    }

    pub(crate) fn output(&self, layer: usize) -> &Image {
        &self.outputs[self.output_of[layer].image]
    }

    pub(crate) fn activation(&self, which: usize) -> &Image {
        &self.activations[self.activation_of[which].image]
    }

    /// An activation to read and a convolution's output to write.
    pub(crate) fn convolve(&mut self, from: Option<usize>, layer: usize) -> (&Image, &mut Image) {
        let input = from.map_or(&self.input, |which| &self.activations[self.activation_of[which].image]);
        let Place { image, layout } = self.output_of[layer];
        self.outputs[image].lay_out(layout);
        (input, &mut self.outputs[image])
    }

    /// The activation to write, and its inputs: all outputs by layer, and maybe another activation.
    pub(crate) fn activate(&mut self, to: usize, residual: Option<usize>) -> (Outputs<'_>, Option<&Image>, &mut Image) {
        let outputs = Outputs { images: &self.outputs, of: &self.output_of };
        let Place { image: to, layout } = self.activation_of[to];
        self.activations[to].lay_out(layout);
        match residual {
            None => (outputs, None, &mut self.activations[to]),
            Some(residual) => {
                let both = [to, self.activation_of[residual].image];
                let [to, residual] = self.activations.get_disjoint_mut(both).expect("two activations");
                (outputs, Some(residual), to)
            }
        }
    }
}

/// Convolution outputs by layer.
#[derive(Clone, Copy)]
pub(crate) struct Outputs<'a> {
    images: &'a [Image],
    of: &'a [Place],
}

impl<'a> Outputs<'a> {
    pub(crate) fn get(self, layer: usize) -> &'a Image {
        &self.images[self.of[layer].image]
    }
}

/// Images to allocate; without a tape, images of one role share memory that is large enough for each.
struct Plan {
    taped: bool,
    rooms: Vec<Room>,
}

struct Room {
    role: usize,
    layout: Layout,
    floats: usize,
}

impl Plan {
    fn place(&mut self, layout: Layout, role: usize) -> Place {
        let shared = self.rooms.iter().position(|room| !self.taped && room.role == role);
        let image = shared.unwrap_or_else(|| {
            self.rooms.push(Room { role, layout, floats: 0 });
            self.rooms.len() - 1
        });
        let room = &mut self.rooms[image];
        room.floats = room.floats.max(layout.len());
        Place { image, layout }
    }

    fn images(self) -> Vec<Image> {
        self.rooms.into_iter().map(|room| Image::with_room(room.layout, room.floats)).collect()
    }
}

/// Unused workspaces, kept for reuse.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Vec<Workspace>>);

/// How many unused workspaces are kept; the oldest are freed first. A step needs two tapes and one pass
/// without.
const KEPT: usize = 3;

impl Shelf {
    pub(crate) fn take(
        &self,
        architecture: Architecture,
        layers: &[Layer],
        blocks: &[Block],
        batch: usize,
        taped: bool,
    ) -> Workspace {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = free.iter().rposition(|w| w.batch == batch && w.taped == taped) {
            return free.remove(found);
        }
        // Passes without a tape are the large ones. While the replay memory fills, each is larger
        // than the one before.
        free.retain(|w| w.taped || taped);
        Workspace::new(architecture, layers, blocks, batch, taped)
    }

    pub(crate) fn put(&self, workspace: Workspace) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(workspace);
        if free.len() > KEPT {
            free.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCHITECTURE: Architecture = Architecture { width: 4, channels: 1, image_height: 8, image_width: 8 };

    #[test]
    fn workspaces_are_used_again_but_one_without_a_tape_is_enough() {
        let (layers, blocks) = ARCHITECTURE.layers();
        let shelf = Shelf::default();
        let take = |batch, taped| shelf.take(ARCHITECTURE, &layers, &blocks, batch, taped);
        let free = || -> Vec<(usize, bool)> {
            let free = shelf.0.lock().unwrap_or_else(PoisonError::into_inner);
            free.iter().map(|kept| (kept.batch, kept.taped)).collect()
        };
        for kind in [(2, true), (3, false)] {
            shelf.put(take(kind.0, kind.1));
        }
        assert_eq!(free(), [(2, true), (3, false)]);
        shelf.put(take(2, true));
        assert_eq!(free(), [(3, false), (2, true)], "the same workspace again");
        shelf.put(take(5, false));
        assert_eq!(free(), [(2, true), (5, false)]);
    }

    #[test]
    fn without_a_tape_five_images_are_enough() {
        let (layers, blocks) = ARCHITECTURE.layers();
        let workspace = |taped| Workspace::new(ARCHITECTURE, &layers, &blocks, 2, taped);
        let (with, without) = (workspace(true), workspace(false));
        assert_eq!((with.outputs.len(), with.activations.len()), (layers.len(), 1 + 2 * blocks.len()));
        assert_eq!((without.outputs.len(), without.activations.len()), (2, 3));
    }
}
