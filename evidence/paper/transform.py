"""New rows: a fifth of the rows is held out of a fit and placed by `rflvm transform`, and compared with the same rows as part of a fit.

    python evidence/paper/transform.py [--sets congress mnist pbmc3k] [--inside] [--speed]

A row held out is scored by the label of its nearest neighbour among the rows of the fit, in the plane of posterior means:
once at the position from `transform`, and once at its position in a fit of all rows, with the same rows as neighbours. The two fits
differ, so the rows of the first fit are scored among themselves too. Errors are standard errors. `--inside` presents the rows of a
Poisson S-curve to their own fit as if they were new; `--speed` measures the CPU seconds of `transform` for 50, 200 and 800 rows of the same S-curve.

Fits go to OUT/transform and are not run again.
"""

import argparse
import csv
import gzip
import resource
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

import program
from scores import print_table


@dataclass
class Table:
    """Counts with one label per row, and how they are fitted."""

    y: np.ndarray
    labels: np.ndarray
    flags: list
    sweeps: tuple


def congress(data):
    """Phrase counts of members of Congress, 529×1000; the label is whether they are Republicans."""

    def read(name):
        return list(csv.reader(gzip.open(data / f"congress109/{name}.csv.gz", "rt")))

    counts, members = read("congress109"), read("congress109members")
    by_name = {row[0]: row for row in members[1:]}
    party = members[0].index("party")
    y = np.array([[float(v) for v in row[1:]] for row in counts[1:]])
    labels = np.array([by_name[row[0]][party] == "R" for row in counts[1:]])
    return Table(y, labels, ["--likelihood", "negative-binomial"], (200, 150))


def mnist(data):
    """A thousand digits of the test file, the first of the subsets that its README names."""
    z = np.load(data / "mnist/mnist_t10k.npz")
    rows = np.random.RandomState(0).permutation(len(z["labels"]))[:1000]
    y = z["Y"][rows].astype(float)
    return Table(y, z["labels"][rows], ["--likelihood", "poisson"], (200, 150))


def pbmc3k(data):
    """Blood cells by genes that at least thirty of them express; labels are clusters found in the same counts."""
    z = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz")
    y = np.zeros(tuple(z["shape"]))
    rows = np.repeat(np.arange(len(y)), np.diff(z["indptr"]))
    y[rows, z["indices"]] = z["data"]
    y = y[:, (y > 0).sum(0) >= 30]
    return Table(y, z["labels"], ["--likelihood", "negative-binomial", "--offset", "size-factors"], (25, 15))


SETS = {"congress": congress, "mnist": mnist, "pbmc3k": pbmc3k}


def held_out(table):
    """A fifth of the rows at random, True where held out."""
    return np.random.default_rng(1).random(len(table.y)) < 0.2


def run(command):
    """Runs the program, and returns its CPU seconds, which depend little on other jobs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def fit(folder, y, table, args):
    """Fits rows unless the fit exists."""
    if (folder / "fit/embedding.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "table.npy", y)
    warmup, draws = table.sweeps
    command = [args.program, "fit", folder / "table.npy", *table.flags, "--out", folder / "fit", "--overwrite", "-q"]
    command += ["--warmup", warmup, "--draws", draws, "--chains", 1, "--seed", 1, "--threads", args.threads]
    print(f"{folder.name}: {run(command):.0f} s", flush=True)


def columns(path, *names):
    """Columns of a file of numbers, side by side."""
    with open(path) as file:
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])


def positions(path):
    """Posterior means."""
    return columns(path, "x1", "x2")


def nearest(x, labels, among, their_labels):
    """For each row whether its nearest neighbour, other than itself, has its label."""
    distance = ((x[:, None, :] - among[None, :, :]) ** 2).sum(-1)
    if x is among:
        np.fill_diagonal(distance, np.inf)
    return (their_labels[distance.argmin(1)] == labels).astype(float)


def share(right):
    """A mean with its standard error; that of a difference is paired by row."""
    return f"{right.mean():.3f} ± {right.std() / np.sqrt(len(right)):.3f}"


def transform(folder, y, args, name="new", draws=0):
    """Places rows by a fit: seconds, and the file that was written. Draws go to a separate file."""
    np.save(folder / f"{name}.npy", y)
    command = [args.program, "transform", folder / "fit", folder / f"{name}.npy", "--out", folder / f"{name}.csv"]
    if draws:
        command += ["--draws", draws, "--draws-out", folder / f"{name}-draws.npy"]
    return run(command), folder / f"{name}.csv"


def compare(name, table, args):
    """One line of the table of accuracies."""
    new, folder = held_out(table), args.out / "transform"
    fit(folder / f"{name}-rest", table.y[~new], table, args)
    fit(folder / f"{name}-all", table.y, table, args)
    if args.only_fit:
        return None
    seconds, written = transform(folder / f"{name}-rest", table.y[new], args)
    rest, placed = positions(folder / f"{name}-rest/fit/embedding.csv"), positions(written)
    both = positions(folder / f"{name}-all/fit/embedding.csv")
    known = table.labels[~new]
    outside = nearest(placed, table.labels[new], rest, known)
    inside = nearest(both[new], table.labels[new], both[~new], known)
    outlier_score = columns(written, "outlier_score")
    shape = f"{name}, {(~new).sum()} + {new.sum()} rows × {table.y.shape[1]}"
    accuracies = [share(outside), share(inside), share(outside - inside), share(nearest(rest, known, rest, known))]
    scores = f"{np.median(outlier_score):.2f}, {np.mean(outlier_score > 0.9):.2f}"
    return [shape, table.flags[1], "{} + {}".format(*table.sweeps), *accuracies, scores, f"{seconds:.0f}"]


def s_curve(args):
    """The fit of the Poisson S-curve, 500×100."""
    y = np.load(args.data / "s_curve/poisson.npz")["Y"].astype(float)
    table = Table(y, None, ["--likelihood", "poisson"], (150, 150))
    fit(args.out / "transform/s_curve", table.y, table, args)
    return args.out / "transform/s_curve", table.y


def inside(args):
    """How close the training rows come to their own positions."""
    folder, y = s_curve(args)
    _, written = transform(folder, y, args, draws=150)
    own, own_sd = positions(folder / "fit/embedding.csv"), columns(folder / "fit/embedding.csv", "sd1", "sd2")
    mean, sd = positions(written), columns(written, "sd1", "sd2")
    draws = np.load(folder / "new-draws.npy")
    away = np.array([a @ np.linalg.solve(np.cov(draws[:, n].T), a) for n, a in enumerate(own - mean)])
    # The 90% quantile of χ² with two degrees of freedom.
    share = np.mean(away < 4.605)
    print(f"own mean inside the 90% ellipse: {share:.3f} of {len(y)} rows; mean squared distance {away.mean():.3f}")
    print(f"standard deviation over the row's own: median {np.median(sd / own_sd):.3f}")


def speed(args):
    """CPU seconds for three numbers of rows."""
    folder, y = s_curve(args)
    lines = []
    for rows in (50, 200, 800):
        seconds, _ = transform(folder, y[np.arange(rows) % len(y)], args, "speed")
        lines.append([str(rows), f"{seconds:.2f}", f"{rows / seconds:.0f}"])
    print_table(["rows", "CPU seconds", "rows a CPU second"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--only-fit", action="store_true", help="fit, and place nothing")
    parser.add_argument("--inside", action="store_true", help="present the rows of an S-curve to their own fit")
    parser.add_argument("--speed", action="store_true", help="CPU seconds for three numbers of rows")
    args = parser.parse_args()
    lines = []
    for name in args.sets:
        try:
            lines.append(compare(name, SETS[name](args.data), args))
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
    if args.inside:
        inside(args)
    if args.speed:
        speed(args)
    header = ["data", "family", "warm-up + draws", "new rows", "same rows, part of the fit", "difference", "training rows"]
    print_table(
        [*header, "outlier score: median, share above 0.9", "CPU seconds"],
        [line for line in lines if line],
    )


if __name__ == "__main__":
    main()
