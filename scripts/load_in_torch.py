"""Loads weights that Rehearsal exported (docs/export.md) into PyTorch and predicts.

    python3 scripts/load_in_torch.py WEIGHTS.safetensors IMAGES.npy    # uint8 [n, height, width, channels]

Prints one line of JSON per image: the class and the probability of every class. Needs torch, safetensors, numpy."""
import json, sys
import numpy as np, torch
from safetensors import safe_open
from torch import nn


def layer(channels_in, channels, kernel, stride):
    return nn.Conv2d(channels_in, channels, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(channels)


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1, self.bn1 = layer(channels_in, channels, 3, stride)
        self.conv2, self.bn2 = layer(channels, channels, 3, 1)
        self.downsample = nn.Sequential(*layer(channels_in, channels, 1, stride) if stride == 2 else ())

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + self.downsample(x)).relu()


class Classifier(nn.Module):
    def __init__(self, about, arrays):
        super().__init__()
        self.about, c = about, about["image"]["channels"]
        if about["backbone"] == "resnet18":
            w = len(arrays["conv1.weight"])
            self.conv1, self.bn1 = layer(c, w, 3, 1)
            for i, (channels_in, channels) in enumerate([(w, w), (w, 2 * w), (2 * w, 4 * w), (4 * w, 8 * w)]):
                blocks = Block(channels_in, channels, 2 if i else 1), Block(channels, channels, 1)
                setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
        elif about["backbone"] == "tiny":
            w = len(arrays["layers.0.0.weight"])
            channels = [(c, w), (w, 2 * w), (2 * w, 4 * w)]
            self.layers = nn.Sequential(*(nn.Sequential(*layer(i, o, 3, 2), nn.ReLU()) for i, o in channels))
        if about["head"]["kind"] == "proxies":
            self.proxies = nn.Parameter(torch.empty_like(arrays["proxies"]))
        else:
            self.fc = nn.Linear(*reversed(arrays["fc.weight"].shape))
        self.load_state_dict(arrays)

    def forward(self, images):  # uint8 [n, height, width, channels]
        x = images.float() / 255
        if self.about["backbone"] == "pixels":
            return self.logits(x.flatten(1)).softmax(1)
        x = x.permute(0, 3, 1, 2)
        if self.about["backbone"] == "tiny":
            x = self.layers(x)
        else:
            x = self.layer4(self.layer3(self.layer2(self.layer1(self.bn1(self.conv1(x)).relu()))))
        return self.logits(x.mean((2, 3))).softmax(1)

    def logits(self, features):
        if self.about["head"]["kind"] == "linear":
            return self.fc(features)
        unit = lambda rows: rows / (rows.norm(dim=1, keepdim=True) + 1e-6)
        return unit(features) @ unit(self.proxies).T / self.about["head"]["temperature"]


def load(path):
    with safe_open(path, "pt") as file:
        about = json.loads(file.metadata()["rehearsal-export"])
        return Classifier(about, {name: file.get_tensor(name) for name in file.keys()}).eval()


if __name__ == "__main__":
    model, images = load(sys.argv[1]), torch.from_numpy(np.load(sys.argv[2]))
    with torch.inference_mode():
        for row in (row for batch in images.split(50) for row in model(batch).tolist()):
            best = model.about["classes"][int(np.argmax(row))]
            print(json.dumps({"class": best, "probabilities": row}))
