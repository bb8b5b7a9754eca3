//! One inverted residual block.

use super::depthwise::Depthwise;
use super::geometry::{Geometry, Strip};
use super::pointwise::{Activation, Place, Pointwise, Product};
use super::{BlockParameters, By};
use crate::buffer::{Buffer, Shared};
use crate::convolution::Machine;
use crate::gemm::{Panel, Panels};
use crate::size;

pub(super) struct Block {
    kernel: usize,
    stride: usize,
    cin: usize,
    expand: Option<Pointwise>,
    /// Groups of the expanded channels.
    groups: Panels,
    lanes: usize,
    expanded: usize,
    /// `[kernel²][padded]`.
    weights: Buffer,
    bias: Buffer,
    project: Pointwise,
}

impl Block {
    pub(super) fn new(machine: &Machine, cin: usize, parameters: &BlockParameters<'_>) -> Self {
        let BlockParameters { kernel, stride, expand, depthwise, project } = *parameters;
        assert!(matches!(kernel, 3 | 5) && matches!(stride, 1 | 2), "a kernel of 3 or 5 and a stride of 1 or 2");
        let expand = expand.map(|folded| Pointwise::new(machine, cin, folded));
        let expanded = expand.as_ref().map_or(cin, Pointwise::cout);
        let lanes = machine.isa.lanes();
        let groups = Panels::new(expanded, lanes, machine.isa.halves());
        assert_eq!(depthwise.bias.len(), expanded, "a bias for every channel of a depthwise convolution");
        assert_eq!(
            depthwise.weights.len(),
            size::floats([kernel, kernel, expanded]),
            "weights of a depthwise convolution"
        );
        let padded = groups.padded();
        let mut weights = Buffer::new(size::floats([kernel * kernel, padded]));
        for (to, from) in weights.chunks_exact_mut(padded).zip(depthwise.weights.chunks_exact(expanded)) {
            to[..expanded].copy_from_slice(from);
        }
        let mut bias = Buffer::new(padded);
        bias[..expanded].copy_from_slice(depthwise.bias);
        let project = Pointwise::new(machine, expanded, project);
        Self { kernel, stride, cin, expand, groups, lanes, expanded, weights, bias, project }
    }

    pub(super) fn kernel(&self) -> usize {
        self.kernel
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn channels(&self) -> usize {
        self.project.cout()
    }

    /// Floats of one group of a padded strip.
    fn group_scratch(&self, geometry: &Geometry) -> usize {
        size::floats([geometry.largest(), 3 * self.lanes])
    }

    /// Floats of work memory: the depthwise output, and one group of a padded strip.
    pub(super) fn scratch(&self, geometry: &Geometry) -> usize {
        let (h, w) = geometry.output();
        size::floats([h, w, self.expanded]) + self.group_scratch(geometry)
    }

    pub(super) fn run(&self, by: By<'_>, geometry: &Geometry, from: &[f32], work: &mut [f32], to: &mut [f32]) {
        let (h, w) = geometry.output();
        let residual = (self.stride == 1 && self.cin == self.channels()).then_some(from);
        let floats = self.group_scratch(geometry);
        let groups = self.groups.count();
        if by.is_alone() {
            // Strip by strip, so that a strip is projected while it is in the cache.
            let (middle, scratch) = work.split_at_mut(geometry.strip_pixels() * self.expanded);
            for strip in (0..geometry.strips()).map(|index| geometry.strip(index)) {
                let pixels = strip.rows * w;
                let shared = Shared::new(middle);
                for group in 0..groups {
                    self.group(
                        by,
                        geometry,
                        strip,
                        self.groups.panel(group),
                        from,
                        &mut scratch[..floats],
                        (shared, 0),
                    );
                }
                let first = strip.first * w * self.channels();
                let residual = residual.map(|residual| &residual[first..]);
                self.project.run(by, middle, pixels, &mut to[first..], Activation::Linear, residual);
            }
        } else {
            let middle = &mut work[..h * w * self.expanded];
            let shared = Shared::new(middle);
            by.each(geometry.strips() * groups, floats, &mut [], |task, scratch| {
                let strip = geometry.strip(task / groups);
                let to = (shared, strip.first * w * self.expanded);
                self.group(by, geometry, strip, self.groups.panel(task % groups), from, scratch, to);
            });
            self.project.run(by, middle, h * w, to, Activation::Linear, residual);
        }
    }

    /// Expands one group of channels of a strip and convolves it, into the strip's part of the
    /// depthwise output, which begins `first` floats after `to`.
    fn group(
        &self,
        by: By<'_>,
        geometry: &Geometry,
        strip: Strip,
        panel: Panel,
        from: &[f32],
        scratch: &mut [f32],
        (to, first): (Shared, usize),
    ) {
        let width = panel.registers() * self.lanes;
        let padded = &mut scratch[..((strip.rows - 1) * self.stride + self.kernel) * geometry.pitch() * width];
        clear_border(geometry, strip, width, padded);
        let input = &from[strip.input * geometry.w * self.cin..][..strip.inputs * geometry.w * self.cin];
        let start = (strip.above * geometry.pitch() + geometry.left()) * width;
        match &self.expand {
            Some(layer) => {
                let place = Place {
                    to: padded[start..].as_mut_ptr(),
                    width,
                    columns: geometry.w,
                    skip: (geometry.pitch() - geometry.w) * width,
                    first: panel.first,
                    residual: None,
                };
                by.isa.run(Product { layer, panel, from: input, activation: Activation::Relu6, place });
            }
            None => copy_channels(geometry, strip, panel, input, self.cin, &mut padded[start..], width),
        }
        // SAFETY: the group's first channel of the strip's first pixel lies inside the output.
        let to = unsafe { to.at(first + panel.first) };
        by.isa.run(Depthwise {
            geometry,
            strip,
            from: padded,
            width,
            channels: panel.width,
            weights: self.weights.at(panel.first),
            weight_pitch: self.groups.padded(),
            bias: self.bias.at(panel.first),
            to,
            to_pitch: self.expanded,
        });
    }
}

/// Zeros around the input of a strip.
fn clear_border(geometry: &Geometry, strip: Strip, width: usize, padded: &mut [f32]) {
    let pitch = geometry.pitch() * width;
    let (left, right) = (geometry.left() * width, (geometry.left() + geometry.w) * width);
    let inside = strip.above..strip.above + strip.inputs;
    for (row, floats) in padded.chunks_exact_mut(pitch).enumerate() {
        if inside.contains(&row) {
            floats[..left].fill(0.0);
            floats[right..].fill(0.0);
        } else {
            floats.fill(0.0);
        }
    }
}

/// A group of the input's channels, if nothing is expanded.
fn copy_channels(
    geometry: &Geometry,
    strip: Strip,
    panel: Panel,
    input: &[f32],
    cin: usize,
    to: &mut [f32],
    width: usize,
) {
    for row in 0..strip.inputs {
        for x in 0..geometry.w {
            let from = &input[(row * geometry.w + x) * cin + panel.first..][..panel.width];
            let to = &mut to[row * geometry.pitch() * width + x * width..][..width];
            to[..panel.width].copy_from_slice(from);
            to[panel.width..].fill(0.0);
        }
    }
}
