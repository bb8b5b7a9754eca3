//! `EfficientNet`-lite0, the network that is inside the program.

mod graph;

use rehearsal_kernels::{
    Machine, Shape,
    mobile::{BlockParameters, Folded, MobileNet},
};

use rehearsal_data::{Image, ImageShape, Interpolation, Preprocessing, choice::Choice};
use rehearsal_files::sha256::sha256;
use rehearsal_onnx::{GraphWriter, Value};

use crate::{Backbone, BackboneError, BackboneName, backbone::normalized, weights::Weights};

/// Channels after the first convolution, and features.
const STEM: usize = 32;
const FEATURES: usize = 1280;
/// Height and width of the images that it was trained on.
const SIZE: usize = 224;

/// Blocks of one form: the first has the stride, the others stride 1.
struct Stage {
    blocks: usize,
    kernel: usize,
    stride: usize,
    expansion: usize,
    channels: usize,
}

#[rustfmt::skip]
const STAGES: [Stage; 7] = [
    Stage { blocks: 1, kernel: 3, stride: 1, expansion: 1, channels: 16 },
    Stage { blocks: 2, kernel: 3, stride: 2, expansion: 6, channels: 24 },
    Stage { blocks: 2, kernel: 5, stride: 2, expansion: 6, channels: 40 },
    Stage { blocks: 3, kernel: 3, stride: 2, expansion: 6, channels: 80 },
    Stage { blocks: 3, kernel: 5, stride: 1, expansion: 6, channels: 112 },
    Stage { blocks: 4, kernel: 5, stride: 2, expansion: 6, channels: 192 },
    Stage { blocks: 1, kernel: 3, stride: 1, expansion: 6, channels: 320 },
];

/// Weights and bias of one convolution.
struct Layer {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn read(from: &Weights<'_>, name: &str, shape: &[usize], channels: usize) -> Result<Self, BackboneError> {
        Ok(Self {
            weights: from.tensor(&format!("{name}.weight"), shape)?,
            bias: from.tensor(&format!("{name}.bias"), &[channels])?,
        })
    }

    fn folded(&self) -> Folded<'_> {
        Folded { weights: &self.weights, bias: &self.bias }
    }
}

struct BlockLayers {
    kernel: usize,
    stride: usize,
    expand: Option<Layer>,
    depthwise: Layer,
    project: Layer,
}

impl BlockLayers {
    fn read(from: &Weights<'_>, index: usize, cin: usize, stage: &Stage, stride: usize) -> Result<Self, BackboneError> {
        let (kernel, expanded) = (stage.kernel, cin * stage.expansion);
        let name = |part: &str| format!("blocks.{index}.{part}");
        let expand = || Layer::read(from, &name("expand"), &[cin, expanded], expanded);
        Ok(Self {
            kernel,
            stride,
            expand: if expanded == cin { None } else { Some(expand()?) },
            depthwise: Layer::read(from, &name("depthwise"), &[kernel, kernel, expanded], expanded)?,
            project: Layer::read(from, &name("project"), &[expanded, stage.channels], stage.channels)?,
        })
    }

    /// Whether input and output have the same shape.
    fn is_residual(&self) -> bool {
        let expanded = self.depthwise.bias.len();
        let cin = self.expand.as_ref().map_or(expanded, |expand| expand.weights.len() / expanded);
        self.stride == 1 && cin == self.project.bias.len()
    }

    fn parameters(&self) -> BlockParameters<'_> {
        BlockParameters {
            kernel: self.kernel,
            stride: self.stride,
            expand: self.expand.as_ref().map(Layer::folded),
            depthwise: self.depthwise.folded(),
            project: self.project.folded(),
        }
    }
}

/// All layers, as they are in the file.
struct Layers {
    stem: Layer,
    blocks: Vec<BlockLayers>,
    head: Layer,
}

impl Layers {
    fn read(bytes: &[u8]) -> Result<Self, BackboneError> {
        let weights = Weights::new(bytes)?;
        let stem = Layer::read(&weights, "stem", &[3, 3, 3, STEM], STEM)?;
        let (mut blocks, mut channels) = (Vec::new(), STEM);
        for stage in &STAGES {
            for repeat in 0..stage.blocks {
                let stride = if repeat == 0 { stage.stride } else { 1 };
                blocks.push(BlockLayers::read(&weights, blocks.len(), channels, stage, stride)?);
                channels = stage.channels;
            }
        }
        let head = Layer::read(&weights, "head", &[channels, FEATURES], FEATURES)?;
        Ok(Self { stem, blocks, head })
    }
}

/// The network, ready to compute.
pub struct EfficientNetLite0 {
    machine: Machine,
    network: MobileNet,
    sha256: String,
    /// The file of weights, if it is inside the program: an export reads it again.
    file: Option<&'static [u8]>,
}

impl EfficientNetLite0 {
    /// With the weights that are inside the program.
    ///
    /// # Errors
    /// Never, unless the program itself is damaged.
    pub fn new(machine: Machine) -> Result<Self, BackboneError> {
        let file = rehearsal_efficientnet_lite0::WEIGHTS;
        Ok(Self { file: Some(file), ..Self::from_safetensors(machine, file)? })
    }

    /// With weights of the same form. It does not keep the file, so it cannot be exported.
    ///
    /// # Errors
    /// The file is damaged, or of another network.
    pub fn from_safetensors(machine: Machine, bytes: &[u8]) -> Result<Self, BackboneError> {
        let Layers { stem, blocks, head } = Layers::read(bytes)?;
        let parameters: Vec<BlockParameters<'_>> = blocks.iter().map(BlockLayers::parameters).collect();
        let network = MobileNet::new(&machine, stem.folded(), &parameters, head.folded());
        Ok(Self { machine, network, sha256: sha256(bytes), file: None })
    }

    /// Features of an image.
    pub const fn features() -> usize {
        FEATURES
    }

    /// The features `[n, 1280]` of normalised images `[n, size, size, 3]`.
    ///
    /// # Panics
    /// If `images` has another length.
    pub fn run(&self, images: &[f32], n: usize, size: usize) -> Vec<f32> {
        let mut features = vec![0.0; n * FEATURES];
        self.network.run(&self.machine, images, Shape { n, h: size, w: size, c: 3 }, &mut features);
        features
    }
}

impl Backbone for EfficientNetLite0 {
    fn name(&self) -> &'static str {
        BackboneName::EfficientNetLite0.name()
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn preprocessing(&self) -> Preprocessing {
        Preprocessing {
            shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
            crop: 0.875,
            interpolation: Interpolation::Bicubic,
            mean: [127.0; 3],
            std: [128.0; 3],
        }
    }

    fn dimensions(&self) -> usize {
        FEATURES
    }

    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        let values = normalized(&self.preprocessing(), images);
        Ok(if images.is_empty() { Vec::new() } else { self.run(&values, images.len(), SIZE) })
    }

    fn onnx(&self, graph: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        let file = self.file.ok_or_else(|| BackboneError::NoGraph(self.name().into()))?;
        Ok(graph::write(graph, image, &Layers::read(file)?))
    }
}
