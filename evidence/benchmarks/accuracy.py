"""Accuracy of `rflvm fit` on known data: R² of positions, error of hidden cells, 1-nearest-neighbour accuracy.

    python evidence/benchmarks/accuracy.py --data ../shared/data [--only NAME] [--seeds 1 2 3] [--warmup 300] [--draws 300]

Needs NumPy and a release build of the program. The data sets are not part of the repository; a row of the table is
skipped, with a message, if its file is not found. Prints a Markdown table as it goes.
"""

import argparse
import csv
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def affine_r2(x, truth):
    """Share of the variance of `truth` that the best affine map of `x` explains."""
    h = np.column_stack([x, np.ones(len(x))])
    fit = h @ np.linalg.lstsq(h, truth, rcond=None)[0]
    return 1 - ((truth - fit) ** 2).sum() / ((truth - truth.mean(0)) ** 2).sum()


def nearest_neighbour(x, labels):
    """The paper's rule: 1-NN, KFold(5, shuffle=True, random_state=s) for s = 0..4, mean and SD over the five seeds."""
    distance = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1)
    accuracies = []
    for seed in range(5):
        order = np.arange(len(x))
        np.random.RandomState(seed).shuffle(order)
        folds = np.array_split(order, 5)
        right = []
        for fold in folds:
            rest = np.setdiff1d(order, fold)
            nearest = rest[distance[np.ix_(fold, rest)].argmin(1)]
            right.append(np.mean(labels[nearest] == labels[fold]))
        accuracies.append(np.mean(right))
    return np.mean(accuracies), np.std(accuracies)


def fit(y, family, seed, args, flags):
    """Runs the program; returns positions, imputed cells and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "table.npy", y)
        command = [args.program, "fit", folder / "table.npy", "--likelihood", family, "--out", folder / "out", "-q"]
        command += ["--seed", seed, "--warmup", args.warmup, "--draws", args.draws, "--chains", 2, *flags]
        begun = time.time()
        subprocess.run([str(word) for word in command], check=True)
        seconds = time.time() - begun
        rows = list(csv.DictReader(open(folder / "out/embedding.csv")))
        dim = sum(name.startswith("x") for name in rows[0])
        x = np.array([[float(row[f"x{d + 1}"]) for d in range(dim)] for row in rows])
        imputed = np.full(y.shape, np.nan)
        if (folder / "out/imputed.csv").exists():
            for row in csv.DictReader(open(folder / "out/imputed.csv")):
                imputed[int(row["row"]) - 1, int(row["column"]) - 1] = float(row["mean"])
        return x, imputed, seconds


def s_curve(data, family):
    return np.load(data / "s_curve" / f"{family.replace('-', '_')}.npz")


def recover(family):
    def run(data, seed, args):
        z = s_curve(data, family)
        x, _, seconds = fit(z["Y"].astype(float), family, seed, args, [])
        return f"R² {affine_r2(x, z['X']):.4f}", seconds

    return run


def impute(load, dim):
    def run(data, seed, args):
        z = load(data)
        y = z["Y"].astype(float).copy()
        y[z["mask"]] = np.nan
        _, imputed, seconds = fit(y, "gaussian", seed, args, ["--latent-dim", dim])
        return f"MSE {((imputed - z['Y'])[z['mask']] ** 2).mean():.4f}", seconds

    return run


def classify(load, family, flags=()):
    def run(data, seed, args):
        y, labels = load(data)
        x, _, seconds = fit(y, family, seed, args, list(flags))
        mean, sd = nearest_neighbour(x, labels)
        return f"1-NN {mean:.4f} ± {sd:.4f}", seconds

    return run


def bridges(data):
    rows = list(csv.reader(open(data / "bridges/bridges.csv")))[1:]
    return np.array([[float(v) for v in row[1:5]] for row in rows]), np.array([row[5] for row in rows])


def congress(data):
    counts = list(csv.reader(gzip.open(data / "congress109/congress109.csv.gz", "rt")))[1:]
    members = list(csv.reader(gzip.open(data / "congress109/congress109members.csv.gz", "rt")))[1:]
    y = np.array([[float(v) for v in row[1:]] for row in counts])
    return y, np.array([row[1] == "R" for row in members])


COUNTS = ["poisson", "negative-binomial", "multinomial"]
TASKS = {f"s_curve {family}": recover(family) for family in ["gaussian", "bernoulli", *COUNTS]}
TASKS["s_curve gaussian, 20% hidden"] = impute(lambda data: s_curve(data, "gaussian"), 2)
TASKS["lorenz, 20% hidden, D = 3"] = impute(lambda data: np.load(data / "lorenz/lorenz.npz"), 3)
TASKS |= {f"bridges {family}": classify(bridges, family) for family in COUNTS}
TASKS |= {f"congress {family}": classify(congress, family) for family in COUNTS}
TASKS["congress negative-binomial, size factors"] = classify(
    congress, "negative-binomial", ["--offset", "size-factors"]
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/rflvm")
    parser.add_argument("--only", default="", help="tasks whose name contains this, or is this after an = sign")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--draws", type=int, default=300)
    args = parser.parse_args()
    print("| task | seed | result | seconds |\n|---|---|---|---|", flush=True)
    for name, run in TASKS.items():
        wanted = name == args.only[1:] if args.only.startswith("=") else args.only in name
        if not wanted:
            continue
        for seed in args.seeds:
            try:
                result, seconds = run(args.data, seed, args)
            except FileNotFoundError as missing:
                print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
                break
            print(f"| {name} | {seed} | {result} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
