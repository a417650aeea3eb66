"""New rows: a fifth of the rows is held out of a fit and placed by `rflvm transform`, and compared with the same rows fitted in.

    python paper/transform.py [--sets congress mnist pbmc3k] [--inside] [--speed]

A row held out is scored by the label of its nearest neighbour among the rows of the fit, in the plane of posterior means:
once where `transform` puts it, and once where a fit of all rows has it, with the same rows as neighbours. Errors are binomial
standard errors. `--inside` presents the rows of a Poisson S-curve to their own fit as if they were new; `--speed` times
`transform` of a hundred, a thousand and ten thousand rows of the same S-curve.

Fits go to OUT/transform and are not run again.
"""

import argparse
import csv
import gzip
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np

import program
from scores import print_table


@dataclass
class Table:
    """Counts with a label a row, and how they are fitted."""

    y: np.ndarray
    labels: np.ndarray
    flags: list
    sweeps: tuple


def congress(data):
    """Phrase counts of members of Congress, 529×1000; the label is whether they are Republicans."""
    read = lambda name: list(csv.reader(gzip.open(data / f"congress109/{name}.csv.gz", "rt")))
    counts, members = read("congress109"), read("congress109members")
    by_name = {row[0]: row for row in members[1:]}
    party = members[0].index("party")
    y = np.array([[float(v) for v in row[1:]] for row in counts[1:]])
    labels = np.array([by_name[row[0]][party] == "R" for row in counts[1:]])
    return Table(y, labels, ["--likelihood", "negative-binomial"], (100, 100))


def mnist(data):
    """A thousand digits of the test file, the first of the subsets that its README names."""
    z = np.load(data / "mnist/mnist_t10k.npz")
    rows = np.random.RandomState(0).permutation(len(z["labels"]))[:1000]
    y = z["Y"][rows].astype(float)
    return Table(y, z["labels"][rows], ["--likelihood", "poisson"], (100, 100))


def pbmc3k(data):
    """Blood cells by genes that at least thirty of them express; labels are clusters found in the same counts."""
    z = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz")
    y = np.zeros(tuple(z["shape"]))
    rows = np.repeat(np.arange(len(y)), np.diff(z["indptr"]))
    y[rows, z["indices"]] = z["data"]
    y = y[:, (y > 0).sum(0) >= 30]
    return Table(y, z["labels"], ["--likelihood", "negative-binomial", "--offset", "size-factors"], (60, 40))


SETS = {"congress": congress, "mnist": mnist, "pbmc3k": pbmc3k}


def held_out(table):
    """A fifth of the rows at random, True where held out."""
    return np.random.default_rng(1).random(len(table.y)) < 0.2


def run(command):
    """Runs the program, and says how long it took."""
    begun = time.time()
    subprocess.run([str(word) for word in command], check=True)
    return time.time() - begun


def fit(folder, y, table, args):
    """Fits rows unless that was done."""
    if (folder / "fit/embedding.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "table.npy", y)
    warmup, draws = table.sweeps
    command = [args.program, "fit", folder / "table.npy", *table.flags, "--out", folder / "fit", "--overwrite", "-q"]
    command += ["--warmup", warmup, "--draws", draws, "--chains", 1, "--seed", 1, "--threads", args.threads]
    print(f"{folder.name}: {run(command):.0f} s", flush=True)


def positions(path):
    """Posterior means, and standard deviations."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    of = lambda name: np.array([[float(row[f"{name}{d}"]) for d in (1, 2)] for row in rows])
    return of("x"), of("sd")


def nearest(x, labels, among, their_labels):
    """Share of rows whose nearest neighbour has their label, and its standard error."""
    distance = ((x[:, None, :] - among[None, :, :]) ** 2).sum(-1)
    right = np.mean(their_labels[distance.argmin(1)] == labels)
    return right, np.sqrt(right * (1 - right) / len(x))


def transform(folder, y, args, name="new"):
    """Places rows by a fit; seconds, and the columns of what was written."""
    np.save(folder / f"{name}.npy", y)
    seconds = run([args.program, "transform", folder / "fit", folder / f"{name}.npy", "--out", folder / f"{name}.csv"])
    return seconds, folder / f"{name}.csv"


def compare(name, table, args):
    """One line of the table of accuracies."""
    new, folder = held_out(table), args.out / "transform"
    fit(folder / f"{name}-rest", table.y[~new], table, args)
    fit(folder / f"{name}-all", table.y, table, args)
    if args.only_fit:
        return None
    seconds, written = transform(folder / f"{name}-rest", table.y[new], args)
    rest, _ = positions(folder / f"{name}-rest/fit/embedding.csv")
    placed, _ = positions(written)
    both, _ = positions(folder / f"{name}-all/fit/embedding.csv")
    known = table.labels[~new]
    outside, error = nearest(placed, table.labels[new], rest, known)
    inside, other = nearest(both[new], table.labels[new], both[~new], known)
    shape = f"{name}, {(~new).sum()} + {new.sum()} rows × {table.y.shape[1]}"
    sweeps = f"{table.sweeps[0]} + {table.sweeps[1]}"
    accuracies = [f"{outside:.3f} ± {error:.3f}", f"{inside:.3f} ± {other:.3f}", f"{outside - inside:+.3f}"]
    return [shape, table.flags[1], sweeps, *accuracies, f"{seconds:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--only-fit", action="store_true", help="fit, and place nothing")
    parser.add_argument("--inside", action="store_true", help="rows of an S-curve presented to their own fit")
    parser.add_argument("--speed", action="store_true", help="seconds for three numbers of rows")
    args = parser.parse_args()
    lines = []
    for name in args.sets:
        try:
            lines.append(compare(name, SETS[name](args.data), args))
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} is not there", file=sys.stderr)
    print_table(
        ["data", "family", "warm-up + draws", "new rows", "the same rows fitted in", "difference", "seconds"],
        [line for line in lines if line],
    )


if __name__ == "__main__":
    main()
