#!/usr/bin/env python3
"""Milliseconds per image of EfficientNet-lite0 in onnxruntime, with the weights that are inside the program: the rival of
`cargo run --release -p rehearsal-backbone --features onnx --example speed -- THREADS`. Run both in turns on an idle machine.

    pip install numpy onnx onnxruntime safetensors
    python scripts/time_lite0.py
"""

import time
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

WEIGHTS = Path(__file__).parent.parent / "crates/efficientnet-lite0/efficientnet-lite0.safetensors"
# Blocks, kernel, stride, channels of each stage.
STAGES = [(1, 3, 1, 16), (2, 3, 2, 24), (2, 5, 2, 40), (3, 3, 2, 80), (3, 5, 1, 112), (4, 5, 2, 192), (1, 3, 1, 320)]


class Graph:
    def __init__(self, weights):
        self.weights = {name: value.astype("f4") for name, value in weights.items()}
        self.nodes, self.size = [], 224
        limits = [("low", 0), ("high", 6)]
        self.constants = [numpy_helper.from_array(np.array(value, "f4"), name) for name, value in limits]

    def convolution(self, x, name, weight, kernel=1, stride=1, groups=1, relu=True):
        """TensorFlow's padding: what is odd of it is at the end."""
        small = -(-self.size // stride)
        padding = max((small - 1) * stride + kernel - self.size, 0)
        before, after, self.size = padding // 2, padding - padding // 2, small
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"{name}.weight"))
        self.constants.append(numpy_helper.from_array(self.weights[f"{name}.bias"], f"{name}.bias"))
        self.nodes.append(helper.make_node(
            "Conv", [x, f"{name}.weight", f"{name}.bias"], [name], strides=[stride] * 2, group=groups,
            pads=[before, before, after, after], kernel_shape=[kernel] * 2))
        if relu:
            self.nodes.append(helper.make_node("Clip", [name, "low", "high"], [f"{name}.relu"]))
        return f"{name}.relu" if relu else name

    def pointwise(self, x, name, relu=True):
        return self.convolution(x, name, self.weights[f"{name}.weight"].T[:, :, None, None], relu=relu)

    def block(self, x, index, kernel, stride, is_residual):
        y, name = x, f"blocks.{index}"
        if f"{name}.expand.weight" in self.weights:
            y = self.pointwise(y, f"{name}.expand")
        depthwise = self.weights[f"{name}.depthwise.weight"]
        weight = depthwise.transpose(2, 0, 1)[:, None]
        y = self.convolution(y, f"{name}.depthwise", weight, kernel, stride, depthwise.shape[2])
        y = self.pointwise(y, f"{name}.project", relu=False)
        if is_residual:
            self.nodes.append(helper.make_node("Add", [y, x], [f"{name}.sum"]))
        return f"{name}.sum" if is_residual else y


def model(weights):
    """The trunk with these weights, as an ONNX model."""
    graph = Graph(weights)
    x = graph.convolution("x", "stem", graph.weights["stem.weight"].transpose(3, 2, 0, 1), 3, 2)
    index, channels = 0, 32
    for blocks, kernel, stride, width in STAGES:
        for repeat in range(blocks):
            step = stride if repeat == 0 else 1
            x = graph.block(x, index, kernel, step, step == 1 and channels == width)
            index, channels = index + 1, width
    x = graph.pointwise(x, "head")
    graph.nodes.append(helper.make_node("GlobalAveragePool", [x], ["pooled"]))
    graph.nodes.append(helper.make_node("Flatten", ["pooled"], ["features"]))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 224, 224])]
    outputs = [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 1280])]
    made = helper.make_graph(graph.nodes, "lite0", inputs, outputs, graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def main():
    file = model(load_file(WEIGHTS)).SerializeToString()
    images = np.random.default_rng(0).normal(size=(16, 3, 224, 224)).astype("f4")
    for threads in (1, 2):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        for batch in (1, 16):
            best = float("inf")
            for _ in range(30):
                start = time.perf_counter()
                session.run(None, {"x": images[:batch]})
                best = min(best, time.perf_counter() - start)
            print(f"onnxruntime, {threads} threads, batch {batch}: {1e3 * best / batch:.2f} ms per image")


if __name__ == "__main__":
    main()
