#!/usr/bin/env python3
"""Do the intervals that users read hold what they say? Simulation-based calibration through the program's own files.

    scripts/calibrate.py target/release/rflvm                    all families, default settings: docs/calibration.md has its table
    scripts/calibrate.py target/debug/rflvm --quick --check      a slice for CI: small tables, short fits
    scripts/calibrate.py target/release/rflvm --planted one-chain --check     a planted fault, which must be seen

Tables are drawn from the model's prior (`rflvm simulate --source model`), some of their cells are hidden, and each is fitted (`rflvm fit`). Of each
table the share of distances (`rflvm distances`) and of hidden cells (`imputed.csv`) is counted that lie in their 90% and 50% intervals. A line is the
mean over tables with its standard error. With --check the exit code is 1 if the share of distances in 90% intervals is farther from 90% than three points and
three standard errors, or, with a planted fault, if it is not.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FAMILIES = (
    "gaussian",
    "isotropic",
    "student-t",
    "poisson",
    "negative-binomial",
    "zero-inflated-poisson",
    "bernoulli",
    "binomial",
    "multinomial",
)
#: Trials of a binomial cell and of a multinomial row.
TRIALS = {"binomial": "10", "multinomial": "30"}
#: Distances are those of the pairs of the first rows.
PAIRED = 16
#: Faults that must be seen: a single chain, as short as those of a default fit; and intervals that are too narrow.
PLANTED = {"one-chain": ["--chains", "1"], "narrow": []}


@dataclass
class Job:
    program: str
    family: str
    seed: int
    rows: int
    columns: int
    dim: int
    missing: float
    fit: list[str]
    width: float


def run(program: str, *words: str) -> None:
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def holds(value: float, low: float, high: float, width: float) -> bool:
    middle = 0.5 * (low + high)
    return middle + width * (low - middle) <= value <= middle + width * (high - middle)


def one(job: Job) -> dict[str, float]:
    """The shares that are held, of one table."""
    with tempfile.TemporaryDirectory() as folder:
        base, held = Path(folder), {}
        simulated, fit = base / "simulated", base / "fit"
        shape = ["--rows", str(job.rows), "--columns", str(job.columns), "--latent-dim", str(job.dim)]
        model = ["--likelihood", job.family, "--seed", str(job.seed)]
        features = job.fit[job.fit.index("--features") :][:2] if "--features" in job.fit else []
        trials = ["--trials", TRIALS[job.family]] if job.family in TRIALS else []
        hidden = ["--missing", str(job.missing)] if job.missing else []
        run(job.program, "simulate", "--source", "model", *model, *shape, *trials, *hidden, *features, "--out", str(simulated), "-q")
        given = trials if job.family == "binomial" else []
        given += ["--latent-dim", str(job.dim), "--threads", "1", "--no-report", "-q", *job.fit]
        run(job.program, "fit", str(simulated / "table.csv"), *model, *given, "--out", str(fit))
        file = base / "distances.csv"
        run(job.program, "distances", str(fit), "--rows", f"1-{min(PAIRED, job.rows)}", "--out", str(file))
        positions = [[float(x) for name, x in row.items() if name.startswith("x")] for row in read(simulated / "positions.csv")]
        found = read(file)
        known = [math.dist(positions[int(pair["row"]) - 1], positions[int(pair["other"]) - 1]) for pair in found]
        for name, low, high in (("distances 90", "q05", "q95"), ("distances 50", "q25", "q75")):
            inside = [holds(d, float(pair[low]), float(pair[high]), job.width) for d, pair in zip(known, found)]
            held[name] = statistics.fmean(inside)
        if job.missing:
            complete = read(simulated / "complete.csv")
            cells = read(fit / "imputed.csv")
            truth = [float(complete[int(cell["row"]) - 1][cell["column"]]) for cell in cells]
            inside = [holds(y, float(cell["q05"]), float(cell["q95"]), job.width) for y, cell in zip(truth, cells)]
            held["hidden cells 90"] = statistics.fmean(inside)
        return held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--rows", type=int, default=80)
    parser.add_argument("--columns", default="20", help="numbers of columns, comma-separated")
    parser.add_argument("--latent-dims", default="2", help="numbers of axes, comma-separated")
    parser.add_argument("--missing", type=float, default=0.1)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="a few small tables and short fits")
    parser.add_argument("--planted", choices=PLANTED)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    fit: list[str] = []
    if options.quick:
        options.tables, options.rows, options.columns, options.families = 16, 30, "8", "poisson"
        fit = ["--features", "20", "--warmup", "150", "--draws", "100"]
    if options.planted:
        fit += PLANTED[options.planted]
    width = 0.6 if options.planted == "narrow" else 1.0
    print("| family | D | J | tables | distances in 90% intervals | in 50% | hidden cells in 90% |\n|---|---|---|---|---|---|---|", flush=True)
    wrong = False
    seeds = range(options.first_seed, options.first_seed + options.tables)
    cases = [
        (family, int(dim), int(columns))
        for family in options.families.split(",")
        for dim in options.latent_dims.split(",")
        for columns in options.columns.split(",")
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        for family, dim, columns in cases:
            # A multinomial row is observed or missing as a whole.
            missing = 0.0 if family == "multinomial" else options.missing
            jobs = [Job(options.program, family, seed, options.rows, columns, dim, missing, fit, width) for seed in seeds]
            held = list(pool.map(one, jobs))
            cells = []
            for name in ("distances 90", "distances 50", "hidden cells 90"):
                shares = [100 * table[name] for table in held if name in table]
                error = statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else math.inf
                cells.append(f"{statistics.fmean(shares):.1f} ± {error:.1f}" if shares else "")
                if name == "distances 90":
                    wrong |= abs(statistics.fmean(shares) - 90) > max(3.0, 3 * error)
            print(f"| {family} | {dim} | {columns} | {len(held)} | {' | '.join(cells)} |", flush=True)
    return int(options.check and wrong != bool(options.planted))


if __name__ == "__main__":
    sys.exit(main())
