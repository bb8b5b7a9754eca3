//! A 1×1 convolution: a matrix product with a bias, an activation and maybe a residual.

use super::{By, Folded};
use crate::buffer::{Buffer, Shared};
use crate::convolution::Machine;
use crate::functions::gelu;
use crate::gemm::{Block, Panel, Panels, row_blocks, with_panel};
use crate::isa::Kernel;
use crate::simd::Simd;
use crate::size;

/// The largest number of pixels of one task.
const PIXELS: usize = 192;

/// The activation of a sum before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// Nothing.
    Linear,
    /// `ReLU6`: limited to 0 … 6.
    Relu6,
    /// GELU: `x · Φ(x)`.
    Gelu,
}

/// Weights and bias, panel by panel: `[depth][panel]` and `[panel]`.
pub(crate) struct Packed {
    pub panels: Panels,
    pub channels: usize,
    pub weights: Buffer,
    pub bias: Buffer,
}

impl Packed {
    /// Packs weights `[depth, channels]`.
    pub(crate) fn new(machine: &Machine, depth: usize, folded: Folded<'_>) -> Self {
        let channels = folded.bias.len();
        assert!(depth > 0 && channels > 0, "at least one channel in and out");
        assert_eq!(folded.weights.len(), size::floats([depth, channels]), "weights of a convolution");
        let lanes = machine.isa.lanes();
        let panels = Panels::new(channels, lanes, machine.isa.halves());
        let mut weights = Buffer::new(size::floats([depth, panels.padded()]));
        let mut bias = Buffer::new(panels.padded());
        bias[..channels].copy_from_slice(folded.bias);
        for panel in (0..panels.count()).map(|index| panels.panel(index)) {
            let width = panel.registers() * lanes;
            for (k, row) in weights[panel.packed_at(depth)..][..depth * width].chunks_exact_mut(width).enumerate() {
                row[..panel.width].copy_from_slice(&folded.weights[k * channels + panel.first..][..panel.width]);
            }
        }
        Self { panels, channels, weights, bias }
    }
}

pub(crate) struct Pointwise {
    cin: usize,
    packed: Packed,
}

impl Pointwise {
    pub(crate) fn new(machine: &Machine, cin: usize, folded: Folded<'_>) -> Self {
        Self { cin, packed: Packed::new(machine, cin, folded) }
    }

    pub(crate) fn cout(&self) -> usize {
        self.packed.channels
    }

    /// `to[p] = activation(bias + from[p] · weights) (+ residual[p])` for `pixels` pixels.
    pub(crate) fn run(
        &self,
        by: By<'_>,
        from: &[f32],
        pixels: usize,
        to: &mut [f32],
        activation: Activation,
        residual: Option<&[f32]>,
    ) {
        let to = &mut to[..pixels * self.cout()];
        assert!(residual.is_none_or(|residual| residual.len() >= to.len()), "a residual of the output's shape");
        let (from, to) = (&from[..pixels * self.cin], Shared::new(to));
        let chunks = pixels.div_ceil(PIXELS);
        let each = pixels.div_ceil(chunks).next_multiple_of(12);
        let panels = self.packed.panels.count();
        by.each(pixels.div_ceil(each) * panels, 0, &mut [], |task, _| {
            let first = task / panels * each;
            let count = each.min(pixels - first);
            let residual = residual.map(|residual| residual[first * self.cout()..].as_ptr());
            // SAFETY: pixel `first` lies inside the output.
            let to = unsafe { to.at(first * self.cout()) };
            let product = Product {
                layer: self,
                panel: self.packed.panels.panel(task % panels),
                from: &from[first * self.cin..][..count * self.cin],
                activation,
                place: Place { to, width: self.cout(), columns: usize::MAX, skip: 0, first: 0, residual },
            };
            by.isa.run(product);
        });
    }
}

/// The destination of a product: rows of `columns` pixels of `width` floats, `skip` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub to: *mut f32,
    pub width: usize,
    pub columns: usize,
    pub skip: usize,
    /// The first channel of a pixel.
    pub first: usize,
    /// Added after the activation; it has the layout of the output.
    pub residual: Option<*const f32>,
}

/// Iterates over the pixels of a place.
struct Cursor {
    at: usize,
    column: usize,
}

impl Place {
    #[inline(always)]
    fn next(&self, cursor: &mut Cursor) -> usize {
        let at = cursor.at;
        cursor.column += 1;
        cursor.at += self.width;
        if cursor.column == self.columns {
            cursor.column = 0;
            cursor.at += self.skip;
        }
        at
    }

    /// Stores `count` lanes: channels `channel ..` of the pixel at `at`.
    ///
    /// # Safety
    /// The pixel and the channels must be those of the task.
    #[inline(always)]
    unsafe fn put<S: Simd>(&self, simd: S, at: usize, channel: usize, count: usize, value: S::V) {
        let at = at + channel - self.first;
        // SAFETY: the caller guarantees the pixel; a residual has the layout of the output.
        unsafe {
            let value = match self.residual {
                Some(residual) => simd.add(value, simd.load_first(residual.add(at), count)),
                None => value,
            };
            simd.store_first(self.to.add(at), value, count);
        }
    }
}

/// One panel of the product of some pixels.
pub(crate) struct Product<'a> {
    pub layer: &'a Pointwise,
    pub panel: Panel,
    pub from: &'a [f32],
    pub activation: Activation,
    pub place: Place,
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        with_panel!(self.panel, self.panel::<S>(simd));
    }
}

impl Product<'_> {
    #[inline(always)]
    fn panel<S: Simd, const NV: usize, const HALF: bool>(&self, simd: S) {
        let (layer, panel) = (self.layer, self.panel);
        let weights = layer.packed.weights.at(panel.packed_at(layer.cin));
        let bias = layer.packed.bias.at(panel.first);
        let width = panel.registers() * S::LANES;
        let (low, high) = (simd.zero(), simd.splat(6.0));
        let mut cursor = Cursor { at: 0, column: 0 };
        row_blocks!(S, NV, HALF, self.from.len() / layer.cin, i, MR => {
            let mut left = [std::ptr::null(); MR];
            for r in 0..MR {
                left[r] = self.from[(i + r) * layer.cin..].as_ptr();
            }
            // SAFETY: bias and weights were packed for this panel, rows of `cin` floats are read.
            let totals = unsafe {
                let mut totals = Block::<S, MR, NV, HALF>::of(simd, bias);
                totals.accumulate(simd, left, 1, weights, width, layer.cin);
                totals
            };
            for r in 0..MR {
                let at = self.place.next(&mut cursor);
                for j in 0..Block::<S, MR, NV, HALF>::REGISTERS {
                    let value = totals.get(simd, r, j);
                    let value = match self.activation {
                        Activation::Linear => value,
                        Activation::Relu6 => simd.min(simd.max(value, low), high),
                        Activation::Gelu => gelu(simd, value),
                    };
                    let done = j * S::LANES;
                    // SAFETY: a pixel and channels of this task.
                    unsafe { self.place.put(simd, at, panel.first + done, panel.width - done, value) };
                }
            }
        });
    }
}
