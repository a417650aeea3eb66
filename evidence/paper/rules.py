"""Which point of a posterior is compared, and which of several chains? Rules that need no labels, on the sets where ours is just behind another method.

    python evidence/paper/rules.py --data DIR [--program FILE] [--cells spam/bernoulli …] [--fits DIR] [--device cuda]

Fits twenty chains of each cell, keeps their positions in the folder of `--fits`, and keeps the accuracies of each rule in results/rules.json. Run s of five has the
chains of seeds s, s + 5, s + 10 and s + 15, and the folds of seed s. A rule that uses one chain takes the first of them.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import labelled
import ours
import program
from methods import METHODS
from rows import Rows
from scores import neighbours

#: Cells: sweeps of the warm-up, and of the sampling between two of the fifty draws that are kept.
CELLS = {
    ("bridges", "poisson"): (1000, 20),
    ("bridges", "negative-binomial"): (1000, 20),
    ("congress109", "negative-binomial"): (200, 4),
    ("montreal", "poisson"): (1000, 20),
    ("montreal", "multinomial"): (1000, 20),
    ("spam", "bernoulli"): (200, 4),
    ("spam", "poisson"): (200, 4),
    ("yale", "poisson"): (200, 4),
}
DRAWS, SEEDS, RUNS = 50, 20, 5
#: Another method, whose runs differ between seeds too.
OTHER = "hpf"

#: What each rule compares.
RULES = {
    "mean": "posterior means of one chain, as in Table 1",
    "median": "its spatial medians",
    "distance": "expected distances over its draws: not two numbers per row",
    "densest": "means of the chain with the highest mean log joint density, of four",
    "likeliest": "means of the chain with the highest mean log-likelihood, of four",
    "together": "expected distances over the draws of all four chains",
}


def apart(x):
    """Distances between rows."""
    square = (x**2).sum(1)
    distances = np.sqrt(np.maximum(square[:, None] + square - 2 * x @ x.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    return distances


def expected(draws):
    """Mean distances over draws, which need not be turned alike."""
    return np.mean([apart(x - x.mean(0)) for x in draws.astype(float)], axis=0)


def fitted(name, family, seed, args):
    """A chain: means, medians, draws, log joint densities and log-likelihoods; from the folder of fits if it is there."""
    path = args.fits / f"{name}--{family}--{seed}.npz"
    if not path.exists():
        warmup, thin = CELLS[name, family]
        chosen = {"warmup": warmup, "draws": DRAWS, "thin": thin, "chains": 1} | ({"device": args.device} if args.device else {})
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            np.save(folder / "table.npy", ours.OURS[family][1](labelled.load(name, args.data, seed).y))
            fit = folder / "fit"
            subprocess.run(ours.fit(args.program, folder / "table.npy", family, seed, chosen, args.threads, fit), check=True)
            kept = {}
            for key, what in (("draws", "x"), ("lp", "lp"), ("log_likelihood", "log_likelihood")):
                array = folder / f"{key}.npy"
                subprocess.run([str(args.program), "export", str(fit), "--what", what, "--out", str(array)], check=True)
                kept[key] = np.load(array)
            rows = labelled.rows_of(fit / "embedding.csv")
            kept |= {key: labelled.numbers(rows, names) for key, names in (("x", ["x1", "x2"]), ("median", ["median1", "median2"]))}
        args.fits.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **kept)
    return dict(np.load(path))


def accuracies(chains, labels):
    """Of each rule, one per run; and of means, medians and expected distances of every chain, with its density."""
    distances = [expected(chain["draws"][0]) for chain in chains]
    density, likelihood = ([float(chain[key].mean()) for chain in chains] for key in ("lp", "log_likelihood"))
    one = lambda seed, x, metric="euclidean": neighbours(x, labels, [seed % RUNS], metric)[0]  # noqa: E731
    each = {
        "mean": [one(i, chain["x"]) for i, chain in enumerate(chains)],
        "median": [one(i, chain["median"]) for i, chain in enumerate(chains)],
        "distance": [one(i, d, "precomputed") for i, d in enumerate(distances)],
    }
    found = {rule: values[:RUNS] for rule, values in each.items()}
    runs = [range(run, len(chains), RUNS) for run in range(RUNS)]
    found["densest"] = [each["mean"][max(run, key=density.__getitem__)] for run in runs]
    found["likeliest"] = [each["mean"][max(run, key=likelihood.__getitem__)] for run in runs]
    found["together"] = [one(s, np.mean([distances[i] for i in run], axis=0), "precomputed") for s, run in enumerate(runs)]
    return {"rules": found, "each": each, "log_joint": density}


def other(name, args):
    """One run of another method, and four of them together, as `together` has ours; each has unit spread."""
    data, method = labelled.load(name, args.data, 0), METHODS[OTHER]
    found = [np.asarray(method.embed(data.y, 2, seed), float) for seed in range(SEEDS)]
    scaled = [x / np.sqrt(((x - x.mean(0)) ** 2).sum(1).mean()) for x in found]
    four = [np.mean([apart(scaled[i]) for i in range(run, SEEDS, RUNS)], axis=0) for run in range(RUNS)]
    return {
        "one": [neighbours(found[run], data.labels, [run])[0] for run in range(RUNS)],
        "four": [neighbours(four[run], data.labels, [run], "precomputed")[0] for run in range(RUNS)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.places(parser)
    parser.add_argument("--cells", nargs="*", default=["/".join(cell) for cell in CELLS], metavar="SET/FAMILY")
    parser.add_argument("--fits", type=Path, default=program.ROOT / "evidence/paper/results/rules")
    parser.add_argument("--device", help="of the fits, e.g. cuda")
    args = parser.parse_args()
    rows = Rows(program.ROOT / "evidence/paper/results/rules.json")
    for cell in args.cells:
        name, family = cell.split("/")
        warmup, thin = CELLS[name, family]
        settings = {"warmup": warmup, "draws": DRAWS, "thin": thin, "seeds": SEEDS}

        def work(name=name, family=family):
            return accuracies([fitted(name, family, seed, args) for seed in range(SEEDS)], labelled.load(name, args.data, 0).labels)

        rows.run([name, family], settings, work)
    for name in ("bridges", "congress109", "spam"):
        rows.run([name, OTHER], {"seeds": SEEDS}, lambda name=name: other(name, args))


if __name__ == "__main__":
    main()
