"""Two paths with known truth: the Poisson S-curve with and without times, and the heading of a mouse from its neurons.

    python evidence/paper/paths.py [--data PATH] [--program PATH] [--segments 4] [--picture FILE.png]

The S-curve: affine R² of the posterior mean positions against the truth, with and without the position
along the S as time. Head-direction cells: 19 neurons of the anterodorsal thalamus in bins of 100 ms, the longest stretches of the
recording as sequences; the cells code a circle, so that the positions should be a ring. The angle of a position around the
centre of the ring, rotated and reflected to fit best, is compared with the true heading: circular correlation (Jammalamadaka
& Sarma 1988), mean resultant length of the differences, and their median size. The heading is not part of the fit.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import program


def fit(table, extra, args):
    """Posterior mean positions of a table's rows."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.program, "fit", table, "--likelihood", "poisson", "--out", f"{folder}/fit", "-q", "--seed", 1]
        command += ["--warmup", args.warmup, "--draws", args.draws, "--chains", args.chains, "--threads", args.threads]
        subprocess.run([str(word) for word in command + extra], check=True)
        with open(f"{folder}/fit/embedding.csv") as file:
            return np.array([[float(row["x1"]), float(row["x2"])] for row in csv.DictReader(file)])


def r2(x, truth):
    """Affine R²."""
    design = np.c_[x, np.ones(len(x))]
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return 1 - (rest**2).sum() / ((truth - truth.mean(0)) ** 2).sum()


def s_curve(folder, args):
    """R² of the Poisson S-curve, static and by two kernels over time."""
    z = np.load(args.data / "s_curve/poisson.npz")
    program.write_table(folder / "s.csv", z["Y"].astype(float), z["t"])
    columns = ["--columns", ",".join(f"c{j}" for j in range(z["Y"].shape[1]))]
    print(f"S-curve, no times: R² {r2(fit(folder / 's.csv', columns, args), z['X']):.4f}", flush=True)
    for kernel in ("rbf", "matern32"):
        x = fit(folder / "s.csv", ["--time", "time", "--time-kernel", kernel], args)
        print(f"S-curve, {kernel}: R² {r2(x, z['X']):.4f}", flush=True)


def circular_correlation(a, b):
    """Of two angles."""
    a, b = (np.sin(v - np.angle(np.exp(1j * v).mean())) for v in (a, b))
    return (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())


def heading(folder, args):
    """The ring of the head-direction cells."""
    z = np.load(args.data / "head_direction/adn_head_direction_100ms.npz")
    names, counts = np.unique(z["segment"], return_counts=True)
    chosen = np.isin(z["segment"], names[np.argsort(-counts)[: args.segments]])
    y, angle = z["spikes"][chosen], z["angle"][chosen].astype(float)
    with open(folder / "cells.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", "segment", *(f"cell{j}" for j in range(y.shape[1]))])
        writer.writerows([t, s, *row] for t, s, row in zip(z["time"][chosen], z["segment"][chosen], y))
    x = fit(folder / "cells.csv", ["--time", "time", "--sequence", "segment", "--time-kernel", "matern32"], args)
    # The circle that fits best, by least squares.
    centre = np.linalg.lstsq(np.c_[2 * x, np.ones(len(x))], (x**2).sum(1), rcond=None)[0][:2]
    found = np.arctan2(*(x - centre).T[::-1])
    found = max((found, -found), key=lambda a: abs(np.exp(1j * (angle - a)).mean()))
    turn = np.exp(1j * (angle - found)).mean()
    off = np.degrees(np.abs(np.angle(np.exp(1j * (angle - found - np.angle(turn))))))
    correlation = circular_correlation(found, angle)
    print(
        f"head direction, {len(y)} bins: circular correlation {correlation:.3f}, mean resultant {abs(turn):.3f}, "
        f"median error {np.median(off):.1f}°"
    )
    if args.picture:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(5, 5))
        axes.scatter(*x.T, c=angle % (2 * np.pi), cmap="hsv", s=3)
        axes.set(title="19 head-direction cells, coloured by heading", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
        figure.savefig(args.picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--segments", type=int, default=4, help="how many of the longest stretches")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--only", choices=["s_curve", "heading"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, work in (("s_curve", s_curve), ("heading", heading)):
            if args.only in (None, name):
                work(Path(folder), args)


if __name__ == "__main__":
    main()
