"""Draws hidden stretches: the truth, a straight line between the neighbours, and rflvm's prediction with its 90% band.

    rflvm fit FOLDER/cmu-run20-1.csv --time time … --out fit
    rflvm impute fit --out cells.csv
    python evidence/benchmarks/imputation/picture.py FOLDER cmu-run20-1 cells.csv --out picture.svg [--columns c3 c17] [--title "…"]

By default the columns are those whose longest hidden run is predicted with median error, so that the picture is neither the best nor the worst.
"""

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

OURS, LINE, TRUTH = "#0072B2", "#D55E00", "#222222"
AROUND = 25


def read(path):
    with open(path) as file:
        head, *rows = csv.reader(file)
    return head, np.array([[float(cell) if cell else np.nan for cell in row] for row in rows])


def runs(hidden):
    """Start and end of each run of hidden cells."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], hidden.astype(int), [0]])))
    return list(zip(edges[::2], edges[1::2]))


def predictions(path, head, shape):
    """Mean, 5% and 95% quantile of each hidden cell."""
    found = np.full((3, *shape), np.nan)
    place = {name: j for j, name in enumerate(head)}
    with open(path) as file:
        for cell in csv.DictReader(file):
            found[:, int(cell["row"]) - 1, place[cell["column"]]] = [float(cell[name]) for name in ("mean", "q05", "q95")]
    return found


def stretches(seen, truth, mean):
    """The longest fully known hidden run of each column that is not at an end, with the error of its prediction."""
    found = []
    for j in range(seen.shape[1]):
        hidden = np.isnan(seen[:, j]) & ~np.isnan(truth[:, j])
        inside = [(a, b) for a, b in runs(hidden) if a > 5 and b < len(seen) - 5]
        if inside:
            a, b = max(inside, key=lambda run: run[1] - run[0])
            found.append((np.mean((mean[a:b, j] - truth[a:b, j]) ** 2), j, a, b))
    return sorted(found)


def panel(axis, time, seen, truth, cells, run):
    _, j, a, b = run
    window = slice(max(a - AROUND, 0), min(b + AROUND, len(time)))
    t, known = time[window], ~np.isnan(seen[window, j])
    axis.axvspan(time[a], time[b - 1], color="0.94", zorder=0)
    axis.plot(t, truth[window, j], color=TRUTH, lw=1, label="truth")
    axis.plot(t[known], seen[window, j][known], ".", color=TRUTH, ms=4, label="observed")
    gap = slice(a, b)
    everywhere = ~np.isnan(seen[:, j])
    axis.plot(time[gap], np.interp(time[gap], time[everywhere], seen[everywhere, j]), "--", color=LINE, lw=1.4, label="straight line")
    mean, low, high = (part[gap, j] for part in cells)
    axis.fill_between(time[gap], low, high, color=OURS, alpha=0.22, lw=0, label="rflvm, 90%")
    axis.plot(time[gap], mean, color=OURS, lw=1.6, label="rflvm, mean")
    axis.spines[["top", "right"]].set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("case")
    parser.add_argument("cells", type=Path)
    parser.add_argument("--columns", nargs="+", help="which columns [default: two of median error]")
    parser.add_argument("--title", default="")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    head, seen = read(args.folder / f"{args.case}.csv")
    _, truth = read(args.folder / f"{args.case}-truth.csv")
    time, names, seen, truth = seen[:, 0], head[1:], seen[:, 1:], truth[:, 1:]
    cells = predictions(args.cells, names, seen.shape)
    found = stretches(seen, truth, cells[0])
    middle = len(found) // 2
    chosen = [run for run in found if names[run[1]] in args.columns] if args.columns else found[middle - 1 : middle + 1]
    figure, axes = plt.subplots(1, len(chosen), figsize=(4.6 * len(chosen), 2.7), squeeze=False, layout="constrained")
    for axis, run in zip(axes[0], chosen):
        panel(axis, time, seen, truth, cells, run)
        axis.set_title(f"column {names[run[1]]}", fontsize=9, loc="left")
        axis.set_xlabel("time")
    axes[0][0].set_ylabel("standard deviations")
    axes[0][-1].legend(fontsize=7, frameon=False)
    figure.suptitle(args.title, fontsize=10, x=0.01, ha="left")
    figure.savefig(args.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
