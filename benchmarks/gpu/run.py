"""How fast is a card? `python benchmarks/gpu/run.py RFLVM FOLDER [STEP ...]`, or `make bench-gpu`.

Steps: `fits` (the tables of GPU.md, from a file to the finished folder), `cpu` (the same chains continued on the CPU, with one thread and with all),
`growth` (seconds per sweep by rows and columns), `large` (a million rows). Prints tables in Markdown.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import simulate

FLAGS = ["--likelihood", "negative-binomial", "--chains", "1", "--seed", "1"]


def table(folder, rows, columns):
    """A simulated table, made once."""
    file = folder / f"{rows}x{columns}.npy"
    if not file.exists():
        np.save(file, simulate.table(rows, columns))
    return str(file)


def timed(*command):
    """Wall time of a command, and its last words if it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-600:], flush=True)
    return time.perf_counter() - start


def per_sweep(rflvm, fit):
    """Seconds of a sweep by step, over all sweeps of a fit."""
    report = subprocess.run([rflvm, "summary", fit, "--json"], capture_output=True, text=True)
    return json.loads(report.stdout)["seconds_per_sweep"] if report.returncode == 0 else {}


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def fits(rflvm, folder, sizes):
    row("table", "precision", "sweeps", "wall time in all", "seconds per sweep", "frequencies", "positions", "gradient", "weights")
    row(*["---"] * 9)
    for rows, columns, sweeps, precision in sizes:
        out = str(folder / f"fit-{rows}x{columns}-{precision}")
        run = ["--warmup", str(sweeps), "--draws", str(sweeps), "--device", "cuda", "--precision", precision, "--overwrite", "--verbose", "--out", out]
        wall = timed(rflvm, "fit", table(folder, rows, columns), *FLAGS, *run)
        steps = per_sweep(rflvm, out)
        parts = [f"{steps.get(step, float('nan')):.4f}" for step in ("frequencies", "positions", "gradient", "weights")]
        row(f"{rows:,} × {columns:,}", precision, f"{sweeps} + {sweeps}", f"{wall:.1f} s", f"{sum(steps.values()):.4f}", *parts)


def cpu(rflvm, folder, jobs):
    """Continues a copy of a fit on the CPU: seconds per sweep are those of its new draws."""
    row("table", "device", "seconds per sweep", "sweeps per second")
    row(*["---"] * 4)
    for name, fit, draws, runs in jobs:
        for device, threads, more in runs:
            copy = str(folder / "continued")
            subprocess.run(["rm", "-rf", copy], check=True)
            subprocess.run(["cp", "-r", fit, copy], check=True)
            before = per_sweep(rflvm, copy)
            timed(rflvm, "resume", copy, "--draws", str(draws + more), "--device", device, *(["--threads", str(threads)] if threads else []))
            after, total = per_sweep(rflvm, copy), 2 * draws
            seconds = (sum(after.values()) * (total + more) - sum(before.values()) * total) / more
            row(name, f"{device}, {threads} threads" if threads else device, f"{seconds:.4f}", f"{1 / seconds:.3f}")


def main(rflvm, folder, steps):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if "fits" in steps:
        fits(rflvm, folder, [(10_000, 2000, 300, "double"), (10_000, 2000, 300, "mixed"), (100_000, 2000, 300, "double")])
    if "cpu" in steps:
        small = str(folder / "fit-10000x2000-double")
        cpu(rflvm, folder, [("10,000 × 2,000", small, 300, [("cuda", None, 20), ("cpu", os.cpu_count(), 3), ("cpu", 1, 1)])])
    if "growth" in steps:
        sizes = [(rows, 1000) for rows in (25_000, 50_000, 100_000, 200_000, 400_000)] + [(50_000, columns) for columns in (500, 2000, 4000)]
        fits(rflvm, folder, [(*size, 10, "double") for size in sizes])
    if "large" in steps:
        fits(rflvm, folder, [(1_000_000, 1000, 10, "double")])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["fits", "cpu", "growth", "large"])
