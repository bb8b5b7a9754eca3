//! ResNet-18 as torchvision has it.

use std::path::Path;

use rehearsal_data::{Image, ImageShape, Interpolation, Preprocessing, choice::Choice};
use rehearsal_files::sha256::sha256;
use rehearsal_kernels::{
    Machine, Shape,
    residual::{BasicBlock, ResidualNet},
};

use crate::{
    Backbone, BackboneError, BackboneName,
    backbone::{IMAGENET_MEAN, IMAGENET_STD, file_sha256, normalized},
    folding::Layer,
    weights::Weights,
};

/// Channels after the first convolution, and of each stage.
const STEM: usize = 64;
const STAGES: [usize; 4] = [64, 128, 256, 512];
const BLOCKS: usize = 2;
const FEATURES: usize = 512;
const EPSILON: f64 = 1e-5;
/// Height and width of the images that it was trained on.
const SIZE: usize = 224;

struct Block {
    stride: usize,
    first: Layer,
    second: Layer,
    shortcut: Option<Layer>,
}

impl Block {
    fn read(from: &Weights<'_>, name: &str, stride: usize, cin: usize, cout: usize) -> Result<Self, BackboneError> {
        let layer = |conv: &str, norm: &str, sizes| {
            let names = [conv, norm].map(|part| format!("{name}.{part}"));
            Layer::convolution(from, names.each_ref().map(String::as_str), sizes, EPSILON)
        };
        let shortcut = || layer("downsample.0", "downsample.1", [cout, cin, 1]);
        Ok(Self {
            stride,
            first: layer("conv1", "bn1", [cout, cin, 3])?,
            second: layer("conv2", "bn2", [cout, cout, 3])?,
            shortcut: if stride == 1 && cin == cout { None } else { Some(shortcut()?) },
        })
    }

    fn parameters(&self) -> BasicBlock<'_> {
        BasicBlock {
            stride: self.stride,
            first: self.first.folded(),
            second: self.second.folded(),
            shortcut: self.shortcut.as_ref().map(Layer::folded),
        }
    }
}

/// The network, ready to compute.
pub struct ResNet18 {
    machine: Machine,
    network: ResidualNet,
    sha256: String,
}

impl ResNet18 {
    /// With the weights of a safetensors file, under torchvision's names.
    ///
    /// # Errors
    /// The file is damaged, or of another network.
    pub fn from_safetensors(machine: Machine, bytes: &[u8]) -> Result<Self, BackboneError> {
        Self::new(machine, &Weights::new(bytes)?, sha256(bytes))
    }

    /// With the weights of a file of `torch.save`, under torchvision's names.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or of another network.
    pub fn from_checkpoint(machine: Machine, path: &Path) -> Result<Self, BackboneError> {
        Self::new(machine, &Weights::from_checkpoint(path)?, file_sha256(path)?)
    }

    pub(crate) fn new(machine: Machine, from: &Weights<'_>, sha256: String) -> Result<Self, BackboneError> {
        let stem = Layer::convolution(from, ["conv1", "bn1"], [STEM, 3, 7], EPSILON)?;
        let (mut blocks, mut cin) = (Vec::new(), STEM);
        for (stage, cout) in STAGES.into_iter().enumerate() {
            for index in 0..BLOCKS {
                let stride = if stage > 0 && index == 0 { 2 } else { 1 };
                blocks.push(Block::read(from, &format!("layer{}.{index}", stage + 1), stride, cin, cout)?);
                cin = cout;
            }
        }
        let parameters: Vec<BasicBlock<'_>> = blocks.iter().map(Block::parameters).collect();
        let network = ResidualNet::new(&machine, stem.folded(), &parameters);
        Ok(Self { machine, network, sha256 })
    }

    /// The features `[n, 512]` of normalised images `[n, size, size, 3]`.
    ///
    /// # Panics
    /// If `images` has another length.
    pub fn run(&self, images: &[f32], n: usize, size: usize) -> Vec<f32> {
        let mut features = vec![0.0; n * FEATURES];
        self.network.run(&self.machine, images, Shape { n, h: size, w: size, c: 3 }, &mut features);
        features
    }
}

impl Backbone for ResNet18 {
    fn name(&self) -> &'static str {
        BackboneName::ResNet18.name()
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn preprocessing(&self) -> Preprocessing {
        Preprocessing {
            shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
            crop: 0.875,
            interpolation: Interpolation::Bilinear,
            mean: IMAGENET_MEAN,
            std: IMAGENET_STD,
        }
    }

    fn dimensions(&self) -> usize {
        FEATURES
    }

    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        let values = normalized(&self.preprocessing(), images);
        Ok(if images.is_empty() { Vec::new() } else { self.run(&values, images.len(), SIZE) })
    }
}
