"""CIFAR-100 as folders of PNGs (train/CLASS/*.png, test/CLASS/*.png) as its official binary files, for `--dataset cifar100`.

    python3 scripts/cifar_binary.py FOLDERS OUT     # needs Pillow

The public repository cyizhuo/CIFAR-100-dataset has such folders. OUT must not exist and gets train.bin, test.bin and
fine_label_names.txt. Labels are as the official ones, which are in the order of the names; coarse labels, which nothing here reads,
are 0. Images are in the order of label and file name, which is not the official order."""
import pathlib, sys

from PIL import Image

if len(sys.argv) != 3:
    sys.exit(__doc__)
folders, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
names = sorted(folder.name for folder in (folders / "train").iterdir())
out.mkdir(parents=True)
(out / "fine_label_names.txt").write_text("".join(f"{name}\n" for name in names))
for split in ["train", "test"]:
    with open(out / f"{split}.bin", "wb") as file:
        for label, name in enumerate(names):
            for path in sorted((folders / split / name).glob("*.png")):
                image = Image.open(path).convert("RGB")
                if image.size != (32, 32):
                    sys.exit(f"{path} is not 32×32")
                file.write(bytes([0, label]) + b"".join(channel.tobytes() for channel in image.split()))
