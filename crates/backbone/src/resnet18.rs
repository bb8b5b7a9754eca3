//! ResNet-18 as torchvision has it.

use rehearsal_data::{ImageShape, Interpolation, Preprocessing};
use rehearsal_kernels::{
    Machine, Shape,
    residual::{BasicBlock, ResidualNet},
};
use rehearsal_onnx::{GraphWriter, Value, ints};

use crate::{
    BackboneError,
    backbone::{IMAGENET_MEAN, IMAGENET_STD},
    export::layers::{Window, convolution, pooled},
    folding::Layer,
    published::{self, Network},
    weights::Weights,
};

/// Channels after the first convolution, and of each stage.
const STEM: usize = 64;
const STAGES: [usize; 4] = [64, 128, 256, 512];
const BLOCKS: usize = 2;
const EPSILON: f64 = 1e-5;
/// Height and width of the images that it was trained on.
const SIZE: usize = 224;

pub(crate) const PREPROCESSING: Preprocessing = Preprocessing {
    shape: ImageShape { height: SIZE, width: SIZE, channels: 3 },
    crop: 0.875,
    interpolation: Interpolation::Bilinear,
    mean: IMAGENET_MEAN,
    std: IMAGENET_STD,
};

struct Block {
    name: String,
    stride: usize,
    first: Layer,
    second: Layer,
    shortcut: Option<Layer>,
}

impl Block {
    fn read(from: &Weights<'_>, name: String, stride: usize, cin: usize, cout: usize) -> Result<Self, BackboneError> {
        let layer = |conv: &str, norm: &str, sizes| {
            let names = [conv, norm].map(|part| format!("{name}.{part}"));
            Layer::convolution(from, names.each_ref().map(String::as_str), sizes, EPSILON)
        };
        let shortcut = || layer("downsample.0", "downsample.1", [cout, cin, 1]);
        let (first, second) = (layer("conv1", "bn1", [cout, cin, 3])?, layer("conv2", "bn2", [cout, cout, 3])?);
        let shortcut = if stride == 1 && cin == cout { None } else { Some(shortcut()?) };
        Ok(Self { name, stride, first, second, shortcut })
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

/// All layers, norms folded into them.
pub(crate) struct Layers {
    stem: Layer,
    blocks: Vec<Block>,
}

impl Layers {
    pub fn read(from: &Weights<'_>) -> Result<Self, BackboneError> {
        let stem = Layer::convolution(from, ["conv1", "bn1"], [STEM, 3, 7], EPSILON)?;
        let (mut blocks, mut cin) = (Vec::new(), STEM);
        for (stage, cout) in STAGES.into_iter().enumerate() {
            for index in 0..BLOCKS {
                let stride = if stage > 0 && index == 0 { 2 } else { 1 };
                blocks.push(Block::read(from, format!("layer{}.{index}", stage + 1), stride, cin, cout)?);
                cin = cout;
            }
        }
        Ok(Self { stem, blocks })
    }
}

impl published::Layers for Layers {
    fn network(&self, machine: &Machine) -> Box<dyn Network> {
        let blocks: Vec<BasicBlock<'_>> = self.blocks.iter().map(Block::parameters).collect();
        Box::new(ResidualNet::new(machine, self.stem.folded(), &blocks))
    }

    fn write(&self, graph: &mut GraphWriter, image: &Value) -> Value {
        let window = |kernel, stride| Window { kernel, stride, pads: [kernel / 2; 2], is_depthwise: false };
        let mut x = convolution(graph, "backbone.conv1", &self.stem, window(7, 2), image);
        x = graph.node("backbone.relu", "Relu", &[&x], Vec::new());
        let pool = vec![ints("kernel_shape", &[3, 3]), ints("strides", &[2, 2]), ints("pads", &[1; 4])];
        x = graph.node("backbone.maxpool", "MaxPool", &[&x], pool);
        for block in &self.blocks {
            let name = |part: &str| format!("backbone.{}.{part}", block.name);
            let inner = convolution(graph, &name("conv1"), &block.first, window(3, block.stride), &x);
            let inner = graph.node(&name("relu1"), "Relu", &[&inner], Vec::new());
            let inner = convolution(graph, &name("conv2"), &block.second, window(3, 1), &inner);
            let around = match &block.shortcut {
                Some(shortcut) => convolution(graph, &name("downsample"), shortcut, window(1, block.stride), &x),
                None => x,
            };
            let sum = graph.node(&name("sum"), "Add", &[&inner, &around], Vec::new());
            x = graph.node(&name("relu2"), "Relu", &[&sum], Vec::new());
        }
        pooled(graph, &x)
    }
}

impl Network for ResidualNet {
    fn run(&self, machine: &Machine, images: &[f32], shape: Shape, features: &mut [f32]) {
        Self::run(self, machine, images, shape, features);
    }
}
