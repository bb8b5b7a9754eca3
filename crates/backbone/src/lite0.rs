//! `EfficientNet`-lite0, the network that is inside the program.

mod graph;

use rehearsal_data::{ImageShape, Interpolation, Preprocessing};
use rehearsal_kernels::{
    Machine, Shape,
    mobile::{BlockParameters, MobileNet},
};
use rehearsal_onnx::{GraphWriter, Value};

use crate::{
    BackboneError,
    folding::Layer,
    published::{self, Network},
    weights::Weights,
};

/// Channels after the first convolution, and features.
const STEM: usize = 32;
const FEATURES: usize = 1280;
/// Height and width of the images that it was trained on.
const SIZE: usize = 224;

pub(crate) const PREPROCESSING: Preprocessing = Preprocessing {
    shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
    crop: 0.875,
    interpolation: Interpolation::Bicubic,
    mean: [127.0; 3],
    std: [128.0; 3],
};

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
        let expand = || Layer::stored(from, &name("expand"), &[cin, expanded], expanded);
        Ok(Self {
            kernel,
            stride,
            expand: if expanded == cin { None } else { Some(expand()?) },
            depthwise: Layer::stored(from, &name("depthwise"), &[kernel, kernel, expanded], expanded)?,
            project: Layer::stored(from, &name("project"), &[expanded, stage.channels], stage.channels)?,
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
pub(crate) struct Layers {
    stem: Layer,
    blocks: Vec<BlockLayers>,
    head: Layer,
}

impl Layers {
    pub fn read(weights: &Weights<'_>) -> Result<Self, BackboneError> {
        let stem = Layer::stored(weights, "stem", &[3, 3, 3, STEM], STEM)?;
        let (mut blocks, mut channels) = (Vec::new(), STEM);
        for stage in &STAGES {
            for repeat in 0..stage.blocks {
                let stride = if repeat == 0 { stage.stride } else { 1 };
                blocks.push(BlockLayers::read(weights, blocks.len(), channels, stage, stride)?);
                channels = stage.channels;
            }
        }
        let head = Layer::stored(weights, "head", &[channels, FEATURES], FEATURES)?;
        Ok(Self { stem, blocks, head })
    }
}

impl published::Layers for Layers {
    fn network(&self, machine: &Machine) -> Box<dyn Network> {
        let blocks: Vec<BlockParameters<'_>> = self.blocks.iter().map(BlockLayers::parameters).collect();
        Box::new(MobileNet::new(machine, self.stem.folded(), &blocks, self.head.folded()))
    }

    fn write(&self, graph: &mut GraphWriter, image: &Value) -> Value {
        graph::write(graph, image, self)
    }
}

impl Network for MobileNet {
    fn run(&self, machine: &Machine, images: &[f32], shape: Shape, features: &mut [f32]) {
        Self::run(self, machine, images, shape, features);
    }
}
