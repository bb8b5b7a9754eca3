//! `DINOv2`'s small network: ViT-S/14 with `LayerScale`, without registers.

mod graph;

use rehearsal_data::{ImageShape, Interpolation, Preprocessing};
use rehearsal_kernels::{
    Machine, Shape,
    transformer::{BlockParameters, NormParameters, VisionTransformer},
};
use rehearsal_onnx::{GraphWriter, Value};

use crate::{
    BackboneError,
    backbone::{IMAGENET_MEAN, IMAGENET_STD},
    folding::Layer,
    positions::interpolated,
    published::{self, Network},
    weights::Weights,
};

const PATCH: usize = 14;
const WIDTH: usize = 384;
const HEADS: usize = 6;
const BLOCKS: usize = 12;
const HIDDEN: usize = 4 * WIDTH;
const EPSILON: f32 = 1e-6;
/// Patches along a side of the images that it was trained on: 518 pixels.
const SIDE: usize = 37;
/// Height and width of the images that it reads here.
const SIZE: usize = 224;

pub(crate) const PREPROCESSING: Preprocessing = Preprocessing {
    shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
    crop: 0.875,
    interpolation: Interpolation::Bicubic,
    mean: IMAGENET_MEAN,
    std: IMAGENET_STD,
};

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    fn read(from: &Weights<'_>, name: &str) -> Result<Self, BackboneError> {
        let part = |part: &str| from.tensor(&format!("{name}.{part}"), &[WIDTH]);
        Ok(Self { weight: part("weight")?, bias: part("bias")? })
    }

    fn parameters(&self) -> NormParameters<'_> {
        NormParameters { weight: &self.weight, bias: &self.bias, epsilon: EPSILON }
    }
}

struct Block {
    norm1: Norm,
    qkv: Layer,
    project: Layer,
    norm2: Norm,
    expand: Layer,
    contract: Layer,
}

impl Block {
    fn read(from: &Weights<'_>, index: usize) -> Result<Self, BackboneError> {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let scale = |part: &str| from.tensor(&name(part), &[WIDTH]);
        let layer =
            |part: &str, sizes: [usize; 2], scale: Option<&[f32]>| Layer::linear(from, &name(part), sizes, scale);
        Ok(Self {
            norm1: Norm::read(from, &name("norm1"))?,
            qkv: layer("attn.qkv", [3 * WIDTH, WIDTH], None)?,
            project: layer("attn.proj", [WIDTH, WIDTH], Some(&scale("ls1.gamma")?))?,
            norm2: Norm::read(from, &name("norm2"))?,
            expand: layer("mlp.fc1", [HIDDEN, WIDTH], None)?,
            contract: layer("mlp.fc2", [WIDTH, HIDDEN], Some(&scale("ls2.gamma")?))?,
        })
    }

    fn parameters(&self) -> BlockParameters<'_> {
        BlockParameters {
            norm1: self.norm1.parameters(),
            qkv: self.qkv.folded(),
            project: self.project.folded(),
            norm2: self.norm2.parameters(),
            expand: self.expand.folded(),
            contract: self.contract.folded(),
        }
    }
}

/// All layers.
pub(crate) struct Layers {
    class_token: Vec<f32>,
    /// Of the class token, then of 37×37 patches.
    positions: Vec<f32>,
    patches: Layer,
    blocks: Vec<Block>,
    norm: Norm,
}

impl Layers {
    pub fn read(from: &Weights<'_>) -> Result<Self, BackboneError> {
        Ok(Self {
            class_token: from.tensor("cls_token", &[1, 1, WIDTH])?,
            positions: from.tensor("pos_embed", &[1, 1 + SIDE * SIDE, WIDTH])?,
            patches: Layer::patches(from, "patch_embed.proj", [WIDTH, 3, PATCH])?,
            blocks: (0..BLOCKS).map(|index| Block::read(from, index)).collect::<Result<_, _>>()?,
            norm: Norm::read(from, "norm")?,
        })
    }
}

impl published::Layers for Layers {
    fn network(&self, machine: &Machine) -> Box<dyn Network> {
        let blocks: Vec<BlockParameters<'_>> = self.blocks.iter().map(Block::parameters).collect();
        let (patches, norm) = (self.patches.folded(), self.norm.parameters());
        let transformer = VisionTransformer::new(machine, PATCH, HEADS, patches, &blocks, norm);
        let (class_token, positions) = (self.class_token.clone(), self.positions.clone());
        Box::new(Ready { transformer, class_token, positions })
    }

    fn write(&self, graph: &mut GraphWriter, image: &Value) -> Value {
        graph::write(graph, image, self)
    }
}

/// The network, ready to compute.
struct Ready {
    transformer: VisionTransformer,
    class_token: Vec<f32>,
    positions: Vec<f32>,
}

impl Network for Ready {
    fn run(&self, machine: &Machine, images: &[f32], shape: Shape, features: &mut [f32]) {
        let start = start(&self.class_token, &self.positions, (shape.h / PATCH, shape.w / PATCH));
        self.transformer.run(machine, images, shape, &start, features);
    }
}

/// What the tokens of an image of `grid` patches begin with: of the class token, then of the patches.
fn start(class_token: &[f32], positions: &[f32], grid: (usize, usize)) -> Vec<f32> {
    let (of_class, of_patches) = positions.split_at(WIDTH);
    let mut start: Vec<f32> = class_token.iter().zip(of_class).map(|(token, position)| token + position).collect();
    start.extend(interpolated(of_patches, SIDE, WIDTH, grid));
    start
}
