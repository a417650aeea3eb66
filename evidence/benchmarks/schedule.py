"""Effective samples per CPU second of schedules that mix slice and gradient moves differently, over families and data.

    python evidence/benchmarks/schedule.py [--tables NAME …] [--schedules NAME …] [--cpu 16] [--warmup 200] [--seed 1]
                                  [--data PATH]

    default       a gradient trajectory every sweep, a tenth of frequencies and columns redrawn one by one
    all redrawn   the same with all of them redrawn one by one
    slices        no gradient move, all redrawn one by one
    half, twice   the default with trajectories half and twice as long

The S-curves are simulated here. The other tables are cut from data sets that are not part of the repository (looked
for in ../shared/data) and are skipped, with a message, if they are not found. Two chains per cell; each keeps sweeps until
--cpu seconds are used after its warm-up, so that schedules are compared at equal cost. One thread. Prints a Markdown
table as it goes. Needs what `run.py` needs.
"""

import argparse
import tempfile
import types
from pathlib import Path

import numpy as np

import accuracy
from report import figure
from samplers import ROOT, ours, skipped
from sections import curve, functions, mixing

SCHEDULES = {
    "default": [],
    "all redrawn": ["--share", 1],
    "slices": ["--no-gradient"],
    "half": ["--leapfrog-factor", 0.5],
    "twice": ["--leapfrog-factor", 2],
}

# More sweeps than any chain can make in its seconds.
NO_END = 10**9


def s_curve(family):
    """300×60 cells on a simulated S-curve."""
    rng = np.random.default_rng(0)
    f = functions(curve(300, rng), 60, rng)
    if family == "gaussian":
        return rng.normal(f, 0.5)
    if family == "poisson":
        return rng.poisson(np.exp(f))
    if family == "negative-binomial":
        return rng.negative_binomial(np.arange(1, 61), 1 / (1 + np.exp(f)))
    if family == "bernoulli":
        return rng.random(f.shape) < 1 / (1 + np.exp(-f))
    shares = np.exp(f)
    return rng.multinomial(100, shares / shares.sum(axis=1, keepdims=True))


def some(rows, count):
    """A random subset of rows."""
    return rows[np.random.default_rng(0).permutation(len(rows))[:count]]


def congress(data):
    """250 members, the 60 most used phrases."""
    y = accuracy.congress(data)[0]
    return some(y[:, np.argsort(-y.sum(axis=0))[:60]], 250)


def newsgroups(data):
    """300 posts with any of the 20 words."""
    y = np.load(data / "newsgroups/newsgroups_3class.npz")["Y"]
    return some(y[y.sum(axis=1) > 0], 300)


def digits(data):
    """300 images: is there ink in a square of 4×4 pixels? Squares that hardly vary are left out."""
    images = some(np.load(data / "mnist/mnist_t10k.npz")["Y"], 300).reshape(300, 7, 4, 7, 4)
    ink = images.max(axis=(2, 4)).reshape(300, 49) > 127
    return ink[:, np.abs(ink.mean(axis=0) - 0.5) < 0.45]


def motion(data):
    """Every tenth frame, angles of unit variance, those that move."""
    y = np.load(data / "cmu_mocap/cmu_01_01.npz")["angles"][::10]
    y = y[:, y.std(axis=0) > 0.01]
    return (y - y.mean(axis=0)) / y.std(axis=0)


# Name, family, table.
TABLES = [
    *(
        ("S-curve", family, lambda _, family=family: s_curve(family))
        for family in ["gaussian", "poisson", "negative-binomial", "bernoulli", "multinomial"]
    ),
    ("CMU", "gaussian", motion),
    ("Bridges", "poisson", lambda data: accuracy.bridges(data)[0]),
    ("Congress", "negative-binomial", congress),
    ("MNIST", "bernoulli", digits),
    ("Newsgroups", "multinomial", newsgroups),
]


def measure(run, path, family, flags):
    """The figures of one cell: sweeps kept, CPU seconds of them, effective samples per second, R̂."""
    flags = [*flags, "--cpu", run.args.cpu, "--seed", run.args.seed]
    chains = [ours(run, path, family, run.args.warmup, NO_END, flags, chain=chain).kept for chain in range(2)]
    # Chains of a cell differ in length, since their costs vary: use the shorter length.
    kept = min(len(chain["cpu"]) for chain in chains)
    chains = [{name: values[:kept] for name, values in chain.items()} for chain in chains]
    cpu = sum(chain["cpu"].sum() for chain in chains)
    found = mixing(chains)
    middle = float(np.median(list(found["ess_by_quantity"].values())))
    sizes = [figure(value) for value in [cpu, found["ess"], found["ess"] / cpu, middle / cpu, found["rhat"]]]
    return [f"2×{kept}", *sizes[:2], found["least"], *sizes[2:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=[""], help="only tables whose name or family contains one")
    parser.add_argument("--schedules", nargs="+", choices=SCHEDULES, default=list(SCHEDULES), metavar="NAME")
    parser.add_argument("--cpu", type=float, default=16.0, help="CPU seconds of kept sweeps per chain")
    parser.add_argument("--warmup", type=int, default=200, help="warm-up sweeps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    args = parser.parse_args()
    header = ["table", "family", "schedule", "seed", "sweeps", "CPU s", "minimum ESS", "of", "minimum ESS/s"]
    header += ["median ESS/s", "largest R̂"]
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        run = types.SimpleNamespace(args=args, folder=Path(folder))
        for name, family, load in TABLES:
            if not any(part in f"{name} {family}" for part in args.tables):
                continue
            try:
                y = load(args.data).astype(float)
            except FileNotFoundError as missing:
                skipped(f"{name} {family}", f"{missing.filename} was not found")
                continue
            path = run.folder / "table.npy"
            np.save(path, np.ascontiguousarray(y))
            shape = "×".join(map(str, y.shape))
            for schedule in args.schedules:
                cells = measure(run, path, family, SCHEDULES[schedule])
                print(f"| {' | '.join([f'{name} {shape}', family, schedule, str(args.seed), *cells])} |", flush=True)


if __name__ == "__main__":
    main()
