"""Do a card and the CPU sample the same posterior? `python benchmarks/gpu/agree.py RFLVM FOLDER [SWEEPS]`.

Four tables on which chains agree are fitted on both, with other seeds. Prints the z-scores of the difference of the posterior means of all traced
quantities: differences in units of their Monte-Carlo errors, of which about one in 400 exceeds 3 if both are right. A complete real-valued table is the
strongest check: the CPU integrates its weights out, and a card samples them.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np


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
    yield "counts", rng.poisson(np.exp(maps(rng, 100, 40, 0.9) + 1.0)).astype(float), ["--likelihood", "poisson"]


def quantities(rflvm, table, out, flags, sweeps):
    """Mean, Monte-Carlo error and R-hat of each traced quantity."""
    run = [rflvm, "fit", table, "--features", "20", "--warmup", str(sweeps // 2), "--draws", str(sweeps), "--chains", "4", "--init", "pca", "--quiet"]
    subprocess.run([*run, "--out", out, "--overwrite", *flags], check=True)
    report = json.loads(subprocess.run([rflvm, "summary", out, "--json"], check=True, capture_output=True).stdout)
    return {q["name"]: (q["mean"], q["mcse_mean"], q["r_hat"]) for q in report["quantities"] if "worst" not in q["name"]}


def main(rflvm, folder, sweeps):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| table | quantities | largest z | mean of z² | largest R̂ on the CPU, on the card |\n|---|---|---|---|---|")
    for name, table, flags in tables(np.random.default_rng(11)):
        file = folder / f"{name.replace(' ', '-')}.npy"
        np.save(file, table)
        here = quantities(rflvm, str(file), str(folder / "cpu"), [*flags, "--seed", "1"], sweeps)
        there = quantities(rflvm, str(file), str(folder / "cuda"), [*flags, "--seed", "2", "--device", "cuda"], sweeps)
        z = {k: (here[k][0] - there[k][0]) / np.hypot(here[k][1], there[k][1]) for k in here if k in there}
        worst = max(z, key=lambda k: abs(z[k]))
        r_hats = ", ".join(f"{max(q[2] for q in of.values()):.3f}" for of in (here, there))
        print(f"| {name} | {len(z)} | {z[worst]:.2f} ({worst}) | {np.mean(np.square(list(z.values()))):.2f} | {r_hats} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000)
