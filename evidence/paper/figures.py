"""The paper's figures, as PNG pictures in evidence/paper/figures.

    python evidence/paper/figures.py gaussian|poisson|mnist|cifar|yale|dynamic|cmu [--warmup 300] [--draws 300] [--only METHOD …]

`gaussian`: positions, one function and the kernel of the Gaussian S-curve, and the error of hidden cells over the number of features
or inducing points M, with GPy's Bayesian GPLVM. `poisson`: positions of the Poisson S-curve and their distances, across methods.
`mnist`, `cifar`, `yale`: maps of the images; synthetic images at points of the map, for yale in OUT/figures only, since the pictures
show people. `dynamic`: the Poisson S-curve across models of time. `cmu`: motion capture in three dimensions.

What a method gives is kept in OUT/figures; a picture can be drawn again at once. Positions of S-curves are shown after the affine map
that brings them nearest to the truth.
"""

import argparse
import csv
import subprocess
import sys

import numpy as np

import datasets
import labelled
import positions
import program
from baselines.planted import affine_r2
from scores import neighbours

POISSON = ["pca", "nmf", "hpf", "lda", "vae", "dca", "nbvae", "isomap", "dla-gplvm", "map-gplvm", "rflvm"]
DYNAMIC = ["pca", "gpdm", "rnn", "ukf", "deep-gp", "dla-gplvm", "rflvm", "dynamic"]
CMU = ["pca", "gpdm", "rnn", "ukf", "deep-gp", "dynamic"]


def nearest(x, truth):
    """The affine image of x that is nearest to the truth."""
    design = np.c_[x, np.ones(len(x))]
    return design @ np.linalg.lstsq(design, truth, rcond=None)[0]


def panel(axis, x, colour, title, size=6, cmap="viridis"):
    """Points without ticks, or a note that there are none."""
    axis.set(xticks=[], yticks=[])
    axis.set_title(title, fontsize=9)
    if x is None:
        axis.text(0.5, 0.5, "failed", ha="center", transform=axis.transAxes)
    else:
        axis.scatter(*x.T, c=colour, s=size, cmap=cmap, linewidths=0)


def save(figure, name):
    path = program.ROOT / f"evidence/paper/figures/{name}.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=90)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def s_curve(args):
    """The Poisson S-curve: counts, positions, and the place along the S, in whose order the rows are."""
    z = np.load(args.data / "s_curve/poisson.npz")
    order = np.argsort(z["t"], kind="stable")
    return z["Y"][order].astype(float), z["X"][order], z["t"][order]


def poisson(args, plt):
    y, truth, t = s_curve(args)
    chosen = [m for m in POISSON if m in (args.only or POISSON)]
    found = {"truth": truth} | {m: positions.of("s_curve", m, y, 2, args) for m in chosen}
    figure, axes = plt.subplots(2, len(found), figsize=(1.25 * len(found), 2.9), layout="constrained")
    for (above, below), (method, x) in zip(axes.T, found.items()):
        name = "truth" if method == "truth" else positions.title(method)
        r2 = "" if x is None or method == "truth" else f"\nR² {affine_r2(x, truth):.2f}"
        shown = None if x is None else nearest(x, truth)
        panel(above, shown, t, name + r2, 3)
        below.set(xticks=[], yticks=[])
        if x is not None:
            far = np.linalg.norm(shown[:, None] - shown[None], axis=2)
            below.imshow(far[::2, ::2], cmap="Greys")
    save(figure, "poisson")


def dynamic(args, plt):
    y, truth, t = s_curve(args)
    chosen = [m for m in DYNAMIC if m in (args.only or DYNAMIC)]
    found = {"truth": truth} | {m: positions.of("s_curve", m, y, 2, args, t) for m in chosen}
    figure, axes = plt.subplots(1, len(found), figsize=(1.5 * len(found), 2), layout="constrained")
    for axis, (method, x) in zip(axes, found.items()):
        r2 = "" if x is None or method == "truth" else f"\nR² {affine_r2(x, truth):.2f}"
        name = "truth" if method == "truth" else positions.title(method)
        panel(axis, None if x is None else nearest(x, truth), t, name + r2, 4)
    save(figure, "dynamic")


def cmu(args, plt):
    data = datasets.SETS["cmu"](args.data)
    chosen = [m for m in CMU if m in (args.only or CMU)]
    figure = plt.figure(figsize=(2.6 * len(chosen), 2.8), layout="constrained")
    for k, method in enumerate(chosen):
        x = positions.of("cmu", method, data.y, 3, args, data.time, "gaussian")
        axis = figure.add_subplot(1, len(chosen), k + 1, projection="3d")
        axis.set_title(positions.title(method) + (": failed" if x is None else ""), fontsize=9)
        axis.set(xticklabels=[], yticklabels=[], zticklabels=[])
        if x is not None:
            axis.plot(*x.T, color="0.8", linewidth=0.5)
            axis.scatter(*x.T, c=data.time, s=4, linewidths=0)
    save(figure, "cmu")


def cells(path, points, columns):
    """Means of predicted cells, points × columns, from the long table of `rflvm predict`."""
    found = np.zeros((points, columns))
    with open(path) as file:
        for row in csv.DictReader(file):
            found[int(row.get("point") or row["row"]) - 1, int(row["column"].removeprefix("c"))] = float(row["mean"])
    return found


def synthetic(folder, table, columns, axis, shape, args, count=6):
    """Expected images at a grid of points over the map."""
    out = folder / "grid.csv"
    if not out.exists() or args.again:
        command = [args.program, "predict", folder / "fit", "--grid", count, "--out", out]
        subprocess.run([str(word) for word in command], check=True)
    images = cells(out, count**2, columns).reshape(count, count, *shape)
    # The grid begins at the lowest x2, a picture at its top.
    axis.imshow(np.vstack([np.hstack(list(line)) for line in images[::-1]]), cmap="gray_r" if table == "mnist" else "gray", vmin=0, vmax=255)
    axis.set(xticks=[], yticks=[])
    axis.set_title("synthetic images over the map", fontsize=9)


def images(table, shape, methods):
    """A figure of maps of images; each point has the colour of its label."""

    def draw(args, plt):
        data = labelled.load(table, args.data, 0)
        chosen = [m for m in methods if m in (args.only or methods)]
        panels = len(chosen) + (table != "yale")
        figure, axes = plt.subplots(1, panels, figsize=(4 * panels, 4.1), layout="constrained", squeeze=False)
        for axis, method in zip(axes[0], chosen):
            x = positions.of(table, method, data.y, 2, args)
            right = "" if x is None else f": 1-NN {np.mean(neighbours(x, data.labels)):.3f}"
            panel(axis, x, np.unique(data.labels, return_inverse=True)[1], positions.title(method) + right, 8, "tab10" if table != "yale" else "tab20")
        if "rflvm" in chosen:
            own, place = plt.subplots(figsize=(4, 4)) if table == "yale" else (None, axes[0, -1])
            folder = positions.fitted(table, data.y, 2, args, "poisson")
            synthetic(folder, table, data.y.shape[1], place, shape, args)
            if own:
                own.savefig(args.out / "figures/yale-synthetic.png", dpi=90)
        save(figure, table)

    return draw


def gaussian(args, plt):
    import gaussian_figure

    save(gaussian_figure.draw(args, plt), "gaussian")


FIGURES = {
    "gaussian": gaussian,
    "poisson": poisson,
    "mnist": images("mnist", (28, 28), ["dla-gplvm", "rflvm"]),
    "cifar": images("cifar10", (20, 20), ["rflvm"]),
    "yale": images("yale", (48, 64), ["rflvm"]),
    "dynamic": dynamic,
    "cmu": cmu,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=FIGURES)
    program.arguments(parser)
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="only these methods")
    args = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        FIGURES[args.name](args, plt)
    except FileNotFoundError as missing:
        sys.exit(f"{missing.filename} was not found: --data PATH names the folder of the data sets")


if __name__ == "__main__":
    main()
