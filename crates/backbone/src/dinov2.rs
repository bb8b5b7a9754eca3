//! `DINOv2`'s small network: ViT-S/14 with `LayerScale`, without registers.

use std::path::Path;

use rehearsal_data::{Image, ImageShape, Interpolation, Preprocessing, choice::Choice};
use rehearsal_files::sha256::sha256;
use rehearsal_kernels::{
    Machine, Shape,
    transformer::{BlockParameters, NormParameters, VisionTransformer},
};

use crate::{
    Backbone, BackboneError, BackboneName,
    backbone::{IMAGENET_MEAN, IMAGENET_STD, file_sha256, normalized},
    folding::Layer,
    positions::interpolated,
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

/// The network, ready to compute.
pub struct DinoV2Small {
    machine: Machine,
    network: VisionTransformer,
    class_token: Vec<f32>,
    /// Of the class token, then of 37×37 patches.
    positions: Vec<f32>,
    sha256: String,
}

impl DinoV2Small {
    /// With the weights of a safetensors file, under `DINOv2`'s names.
    ///
    /// # Errors
    /// The file is damaged, or of another network.
    pub fn from_safetensors(machine: Machine, bytes: &[u8]) -> Result<Self, BackboneError> {
        Self::new(machine, &Weights::new(bytes)?, sha256(bytes))
    }

    /// With the weights of a file of `torch.save`, under `DINOv2`'s names.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or of another network.
    pub fn from_checkpoint(machine: Machine, path: &Path) -> Result<Self, BackboneError> {
        Self::new(machine, &Weights::from_checkpoint(path)?, file_sha256(path)?)
    }

    pub(crate) fn new(machine: Machine, from: &Weights<'_>, sha256: String) -> Result<Self, BackboneError> {
        let class_token = from.tensor("cls_token", &[1, 1, WIDTH])?;
        let positions = from.tensor("pos_embed", &[1, 1 + SIDE * SIDE, WIDTH])?;
        let patches = Layer::patches(from, "patch_embed.proj", [WIDTH, 3, PATCH])?;
        let blocks = (0..BLOCKS).map(|index| Block::read(from, index)).collect::<Result<Vec<_>, _>>()?;
        let norm = Norm::read(from, "norm")?;
        let parameters: Vec<BlockParameters<'_>> = blocks.iter().map(Block::parameters).collect();
        let network = VisionTransformer::new(&machine, PATCH, HEADS, patches.folded(), &parameters, norm.parameters());
        Ok(Self { machine, network, class_token, positions, sha256 })
    }

    /// What the tokens of an image of `grid` patches begin with.
    fn start(&self, grid: (usize, usize)) -> Vec<f32> {
        let (of_class, of_patches) = self.positions.split_at(WIDTH);
        let mut start: Vec<f32> =
            self.class_token.iter().zip(of_class).map(|(token, position)| token + position).collect();
        start.extend(interpolated(of_patches, SIDE, WIDTH, grid));
        start
    }

    /// The features `[n, 384]` of normalised images `[n, size, size, 3]`.
    ///
    /// # Panics
    /// If `images` has another length, or `size` is below 14.
    pub fn run(&self, images: &[f32], n: usize, size: usize) -> Vec<f32> {
        let mut features = vec![0.0; n * WIDTH];
        let start = self.start((size / PATCH, size / PATCH));
        self.network.run(&self.machine, images, Shape { n, h: size, w: size, c: 3 }, &start, &mut features);
        features
    }
}

impl Backbone for DinoV2Small {
    fn name(&self) -> &'static str {
        BackboneName::DinoV2Small.name()
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn preprocessing(&self) -> Preprocessing {
        Preprocessing {
            shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
            crop: 0.875,
            interpolation: Interpolation::Bicubic,
            mean: IMAGENET_MEAN,
            std: IMAGENET_STD,
        }
    }

    fn dimensions(&self) -> usize {
        WIDTH
    }

    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        let values = normalized(&self.preprocessing(), images);
        Ok(if images.is_empty() { Vec::new() } else { self.run(&values, images.len(), SIZE) })
    }
}
