"""Makes tests/goldens/sgd.safetensors: three steps of PyTorch's SGD with momentum and weight decay, in float64.

    python3 scripts/make_sgd_golden.py tests/goldens/sgd.safetensors

A linear layer of 12 pixels and 3 classes with softmax cross-entropy learns from three batches, the learning
rate falling along half a cosine over 6 steps (0.5, then a little less each time). Written with PyTorch 1.13
(Debian's python3-torch); any later version gives the same numbers, because SGD's rule has not changed."""
import json, math, struct, sys
import numpy as np
import torch

LR, MOMENTUM, WEIGHT_DECAY, STEPS = 0.5, 0.9, 0.01, 6
generator = torch.Generator().manual_seed(7)
exact = lambda *shape: torch.randint(-64, 64, shape, generator=generator).double() / 64  # exact in f32
weight, bias = exact(3, 12).requires_grad_(), exact(3).requires_grad_()
sgd = torch.optim.SGD([weight, bias], lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
arrays = {"before.weight": weight.detach().clone(), "before.bias": bias.detach().clone()}
for step in range(3):
    images = torch.randint(0, 256, (4, 12), generator=generator)
    labels = torch.randint(0, 3, (4,), generator=generator)
    for group in sgd.param_groups:
        group["lr"] = LR * 0.5 * (1 + math.cos(math.pi * step / STEPS))
    loss = torch.nn.functional.cross_entropy((images.double() / 255) @ weight.T + bias, labels)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    arrays |= {f"step{step}.bytes": images, f"step{step}.y": labels, f"step{step}.loss": loss.detach()}
    arrays |= {f"step{step}.after.weight": weight.detach().clone(), f"step{step}.after.bias": bias.detach().clone()}

header, data = {"__metadata__": {"lr": str(LR), "momentum": str(MOMENTUM), "weight_decay": str(WEIGHT_DECAY), "steps": str(STEPS)}}, b""
for name, tensor in arrays.items():
    floats = tensor.is_floating_point()
    values = tensor.numpy().astype("<f4" if floats else "<i8").tobytes()
    header[name] = {"dtype": "F32" if floats else "I64", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data)
