"""Makes the small networks that the tests of `--backbone FILE.onnx` read: good ones and hostile ones.

    python make_onnx.py               # onnx, onnxruntime, numpy
"""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx")
FEATURES = 4


def weights() -> np.ndarray:
    count = FEATURES * 3 * 3 * 3
    return ((np.arange(count) * 7919 % 1013) / 1013 - 0.5).astype(np.float32).reshape(FEATURES, 3, 3, 3)


def float_value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def network(shape, output, nodes, initializers=None):
    initializers = [numpy_helper.from_array(weights(), "w")] if initializers is None else initializers
    outputs = [float_value(name, shape) for name, shape in output.items()]
    graph = helper.make_graph(nodes, "network", [float_value("x", shape)], outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def save(name, model):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(model.SerializeToString())


CONV = helper.make_node(
    "Conv", ["x", "w"], ["c"], strides=[2, 2], dilations=[1, 1], pads=[0, 0, 0, 0], kernel_shape=[3, 3], group=1
)
POOL = helper.make_node("GlobalAveragePool", ["c"], ["p"])
FLAT = helper.make_node("Flatten", ["p"], ["f"])


def good() -> None:
    save("dynamic.onnx", network(["n", 3, "h", "w"], {"f": ["n", FEATURES]}, [CONV, POOL, FLAT]))
    save("fixed.onnx", network([1, 3, 32, 40], {"p": [1, FEATURES, 1, 1]}, [CONV, POOL]))
    for name, h, w in (("dynamic", 224, 224), ("fixed", 32, 40)):
        session = onnxruntime.InferenceSession(os.path.join(HERE, f"{name}.onnx"))
        # The image of the test: byte i is 31 i modulo 251, NHWC.
        image = (np.arange(h * w * 3) * 31 % 251).astype(np.float32).reshape(h, w, 3)
        mean, std = np.float32([0.485, 0.456, 0.406]) * 255, np.float32([0.229, 0.224, 0.225]) * 255
        x = ((image - mean) / std).transpose(2, 0, 1)[None]
        print(name, session.run(None, {"x": x.astype(np.float32)})[0].flatten().tolist())


def merged() -> None:
    """Networks that an export puts into its graph: names that its own graph has, too, a constant that is an input, graphs
    within the graph that read a value outside of them, newer operators; then operators that are too old."""
    double = helper.make_node("Add", ["distance", "distance"], ["class"])
    same = helper.make_node("Identity", ["distance"], ["class"])
    branches = [
        helper.make_graph([node], name, [], [float_value("class", ["n", FEATURES])]) for name, node in (("then", double), ("else", same))
    ]
    nodes = [
        helper.make_node("Conv", ["image", "head.means"], ["photo.lengths"], strides=[2, 2], kernel_shape=[3, 3]),
        helper.make_node("GlobalAveragePool", ["photo.lengths"], ["p"]),
        helper.make_node("Flatten", ["p"], ["distance"]),
        helper.make_node("If", ["yes"], ["probabilities"], then_branch=branches[0], else_branch=branches[1]),
    ]
    constants = [numpy_helper.from_array(weights(), "head.means"), numpy_helper.from_array(np.array(True), "yes")]
    inputs = [float_value("image", ["n", 3, "height", "width"]), float_value("head.means", [FEATURES, 3, 3, 3])]
    graph = helper.make_graph(nodes, "clash", inputs, [float_value("probabilities", ["n", FEATURES])], constants)
    save("clash.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
    old = network(["n", 3, "h", "w"], {"f": ["n", FEATURES]}, [CONV, POOL, FLAT])
    old.opset_import[0].version = 11
    save("old.onnx", old)


def hostile() -> None:
    dynamic = ["n", 3, "h", "w"]
    both = {"f": ["n", FEATURES], "p": ["n", FEATURES, 1, 1]}
    save("two-outputs.onnx", network(dynamic, both, [CONV, POOL, FLAT]))
    save("map.onnx", network(dynamic, {"c": ["n", FEATURES, "a", "b"]}, [CONV]))
    save("grey.onnx", network(["n", 1, "h", "w"], {"f": ["n", FEATURES]}, [CONV, POOL, FLAT]))
    save("batch.onnx", network([8, 3, 32, 32], {"f": [8, FEATURES]}, [CONV, POOL, FLAT]))
    save("wide.onnx", network([1, 3, 1000000, 1000000], {"f": [1, FEATURES]}, [CONV, POOL, FLAT]))
    bad = weights()
    bad[1] = np.nan
    save("nan.onnx", network(dynamic, {"f": ["n", FEATURES]}, [CONV, POOL, FLAT], [numpy_helper.from_array(bad, "w")]))
    external = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[FEATURES, 3, 3, 3])
    external.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "/etc/passwd"), ("offset", "0"), ("length", "432")):
        external.external_data.add(key=key, value=value)
    save("external.onnx", network(dynamic, {"f": ["n", FEATURES]}, [CONV, POOL, FLAT], [external]))
    claims = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**40, 3, 3, 3], raw_data=b"\0" * 16)
    save("claims.onnx", network(dynamic, {"f": ["n", FEATURES]}, [CONV, POOL, FLAT], [claims]))
    wraps = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**62, 4, 3, 3], raw_data=b"")
    save("wraps.onnx", network(dynamic, {"f": ["n", FEATURES]}, [CONV, POOL, FLAT], [wraps]))
    first = helper.make_node("Add", ["x", "b"], ["a"])
    second = helper.make_node("Relu", ["a"], ["b"])
    save("cycle.onnx", network(dynamic, {"b": ["n", FEATURES]}, [first, second]))
    save("operator.onnx", network(dynamic, {"f": ["n", FEATURES]}, [helper.make_node("Nonsense", ["x"], ["f"])]))


good()
merged()
hostile()
