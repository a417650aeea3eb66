"""Digits between digits: expected images along a straight line between two handwritten digits.

    python evidence/paper/digits.py [--data PATH] [--program PATH] [--pairs 1,0 7,3] [--steps 11] [--picture FILE.png]

The paper's experiment: 1000 images of MNIST (the subset that the README of the data names, seed 0), pixels as Poisson counts, two
latent axes. A pair of labels means two rows: for each label, the row nearest to the median position of its rows. `rflvm
predict --path` then gives the expected images at points on the line between them; the label below an image is that of the
nearest row.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import program

ROWS = 1000


def images(args):
    """The subset, its labels, and the pixels that are not the same in all of its images."""
    z = np.load(args.data / "mnist/mnist_t10k.npz")
    chosen = np.random.RandomState(0).permutation(len(z["Y"]))[:ROWS]
    y, labels = z["Y"][chosen], z["labels"][chosen]
    return y, labels, np.flatnonzero(np.ptp(y, axis=0) > 0)


def fit(folder, args):
    """Fits the subset, unless the folder holds the fit already."""
    y, labels, pixels = images(args)
    with open(folder / "digits.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["digit", *(f"c{j}" for j in pixels)])
        writer.writerows([label, *row[pixels]] for label, row in zip(labels, y))
    command = [args.program, "fit", folder / "digits.csv", "--labels", "digit", "--likelihood", "poisson", "--seed", 1]
    command += ["--warmup", args.warmup, "--draws", args.draws, "--chains", args.chains, "--threads", args.threads]
    subprocess.run([str(word) for word in [*command, "--out", folder / "fit"]], check=True)


def typical(x, labels, label):
    """The row of a label that is nearest to the median position of its rows."""
    rows = np.flatnonzero(labels == label)
    return rows[((x[rows] - np.median(x[rows], axis=0)) ** 2).sum(1).argmin()]


def strip(folder, a, b, args):
    """Expected images at the points of a line, points × 784, and where the points are."""
    out = folder / f"path-{a}-{b}.csv"
    command = [args.program, "predict", folder / "fit", "--path", f"{a},{b}", "--steps", args.steps, "--out", out]
    subprocess.run([str(word) for word in command], check=True)
    found, places = np.zeros((args.steps, 784)), np.zeros((args.steps, 2))
    with open(out) as file:
        for row in csv.DictReader(file):
            found[int(row["point"]), int(row["column"].removeprefix("c"))] = float(row["mean"])
            places[int(row["point"])] = float(row["x1"]), float(row["x2"])
    return found, places


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.set_defaults(warmup=80, draws=80, chains=1)
    parser.add_argument("--pairs", nargs="+", default=["1,0", "7,3", "6,9"], help="pairs of labels, such as 1,0")
    parser.add_argument("--steps", type=int, default=11, help="images per line")
    parser.add_argument("--fit", type=Path, help="folder to keep the fit in, or that holds it already")
    parser.add_argument("--picture", type=Path, default=program.ROOT / "docs/images/digits_path.png")
    args = parser.parse_args()
    import matplotlib.pyplot as plt

    with tempfile.TemporaryDirectory() as scratch:
        folder = args.fit or Path(scratch)
        if not (folder / "fit/embedding.csv").exists():
            folder.mkdir(parents=True, exist_ok=True)
            fit(folder, args)
        y, labels, _ = images(args)
        with open(folder / "fit/embedding.csv") as file:
            x = np.array([[float(row["x1"]), float(row["x2"])] for row in csv.DictReader(file)])
        height = len(args.pairs)
        figure, axes = plt.subplots(height, args.steps + 2, figsize=(args.steps + 2, 1.25 * height), squeeze=False)
        for line, pair in zip(axes, args.pairs):
            a, b = (typical(x, labels, int(label)) for label in pair.split(","))
            found, places = strip(folder, a, b, args)
            nearest = [labels[((x - place) ** 2).sum(1).argmin()] for place in places]
            words = [f"row {a}: {labels[a]}", *(str(label) for label in nearest), f"row {b}: {labels[b]}"]
            print(f"{labels[a]} (row {a}) to {labels[b]} (row {b}): nearest rows are of", *nearest)
            for axis, image, word in zip(line, [y[a], *found, y[b]], words):
                axis.imshow(np.asarray(image, float).reshape(28, 28), cmap="gray_r", vmin=0, vmax=255)
                axis.set(xticks=[], yticks=[])
                axis.set_xlabel(word, fontsize=8)
        figure.tight_layout(pad=0.3)
        figure.savefig(args.picture, dpi=110)


if __name__ == "__main__":
    main()
