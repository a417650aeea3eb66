"""Do a card and the CPU sample the same posterior? `python evidence/benchmarks/gpu/agree.py RFLVM FOLDER [SWEEPS] [--page GPU.md]`.

Five tables on which chains agree are fitted on both, with other seeds. Writes the z-scores of the difference of the posterior means of all traced
quantities: differences in units of their Monte-Carlo errors, of which about one in 400 exceeds 3 if both are right. A complete real-valued table is the
strongest check: the CPU integrates its weights out, and a card samples them.
"""

import argparse
import json
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import page


def maps(rng, rows, columns, size):
    """Smooth functions of two coordinates."""
    x, w, phase = rng.normal(size=(rows, 2)), 0.35 * rng.normal(size=(8, 2)), rng.uniform(0, 2 * np.pi, 8)
    return np.cos(x @ w.T + phase) @ rng.normal(size=(8, columns)) * size


def tables(rng):
    """Name, table, and flags of each."""
    rate = np.exp(maps(rng, 100, 60, 0.9) + rng.normal(1.5, 0.5, 60))
    counts = rng.poisson(rng.gamma(20.0, rate / 20.0)).astype(float)
    counts[rng.random(counts.shape) < 0.1] = np.nan
    yield "counts with holes", counts, ["--likelihood", "negative-binomial"]
    f = maps(rng, 100, 30, 1.2)
    yield "real", f + rng.normal(0, 0.3, f.shape), ["--likelihood", "gaussian"]
    p = 1 / (1 + np.exp(-maps(rng, 100, 60, 1.2) - 0.3))
    yield "successes", rng.binomial(12, p).astype(float), ["--likelihood", "binomial", "--trials", "12"]
    share = np.exp(maps(rng, 100, 12, 0.9))
    yield "categories", rng.multinomial(60, share / share.sum(1, keepdims=True)).astype(float), ["--likelihood", "multinomial"]
    yield "counts", rng.poisson(np.exp(maps(rng, 100, 40, 0.9) + 1.0)).astype(float), ["--likelihood", "poisson"]


def quantities(rflvm, table, out, flags, sweeps):
    """Mean, Monte-Carlo error and R-hat of each traced quantity."""
    run = [rflvm, "fit", table, "--features", "20", "--warmup", str(sweeps // 2), "--draws", str(sweeps), "--chains", "4", "--init", "pca", "--quiet"]
    subprocess.run([*run, "--out", out, "--overwrite", *flags], check=True)
    report = json.loads(subprocess.run([rflvm, "summary", out, "--json"], check=True, capture_output=True).stdout)
    return {q["name"]: (q["mean"], q["mcse_mean"], q["r_hat"]) for q in report["quantities"] if "worst" not in q["name"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rflvm")
    parser.add_argument("folder", type=Path)
    parser.add_argument("sweeps", type=int, nargs="?", default=1000)
    parser.add_argument("--page", type=Path, default=page.PAGE)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, table, flags in tables(np.random.default_rng(11)):
        file = args.folder / f"{name.replace(' ', '-')}.npy"
        np.save(file, table)
        fit = partial(quantities, args.rflvm, str(file))
        here = fit(str(args.folder / "cpu"), [*flags, "--seed", "1"], args.sweeps)
        there = fit(str(args.folder / "cuda"), [*flags, "--seed", "2", "--device", "cuda"], args.sweeps)
        z = {k: (here[k][0] - there[k][0]) / np.hypot(here[k][1], there[k][1]) for k in here if k in there}
        worst = max(z, key=lambda k: abs(z[k]))
        r_hats = ", ".join(f"{max(q[2] for q in of.values()):.3f}" for of in (here, there))
        rows.append([name, str(len(z)), f"{z[worst]:.2f} ({worst})", f"{np.mean(np.square(list(z.values()))):.2f}", r_hats])
        print(rows[-1], flush=True)
    header = ["table", "quantities", "largest z", "mean of z²", "largest R̂ on the CPU, on the card"]
    page.put("agree", header, rows, args.page)


if __name__ == "__main__":
    main()
