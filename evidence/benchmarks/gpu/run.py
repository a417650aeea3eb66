"""How fast is a card? `python evidence/benchmarks/gpu/run.py RFLVM FOLDER [STEP ...] [--page GPU.md] [--pbmc TABLE]`, or `make bench-gpu`.

Steps: `fits` (from a file to the finished folder), `point` (point estimates), `placing` (new rows, and missing cells), `pbmc` (four chains of a table of cells, with their R̂), `cpu` (the same chain continued on the CPU,
with one thread and with all), `growth` (seconds per sweep by rows and columns), `large` (a million rows), `kernels` (counters of the card, by ncu).
Each prints its table and writes it into evidence/benchmarks/GPU.md.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import page
import simulate

FLAGS = ["--likelihood", "negative-binomial", "--seed", "1", "--device", "cuda", "--overwrite", "--verbose"]
STEPS = ("frequencies", "positions", "gradient", "weights")
#: What ncu counts, and what the table calls it.
COUNTERS = {
    "gpu__time_duration.sum": "time",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": "float64 pipe",
    "sm__issue_active.avg.pct_of_peak_sustained_active": "issue slots",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "memory",
}
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}


def table(folder, rows, columns):
    """A simulated table, made once."""
    file = folder / f"{rows}x{columns}.npy"
    if not file.exists():
        np.save(file, simulate.table(rows, columns))
    return str(file)


def timed(*command):
    """Wall time of a command; the last words of one that fails are printed."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-600:], flush=True)
    return time.perf_counter() - start if done.returncode == 0 else float("nan")


def summary(rflvm, fit):
    """What the program reports about a fit."""
    report = subprocess.run([rflvm, "summary", fit, "--json"], capture_output=True, text=True)
    return json.loads(report.stdout) if report.returncode == 0 else {"seconds_per_sweep": {}, "quantities": []}


def fitted(rflvm, folder, rows, columns, sweeps, precision="double"):
    """Wall time of a fit of a simulated table, and seconds of its sweeps by step."""
    out = str(folder / f"fit-{rows}x{columns}-{precision}")
    run = ["--chains", "1", "--warmup", str(sweeps), "--draws", str(sweeps), "--precision", precision, "--out", out]
    wall = timed(rflvm, "fit", table(folder, rows, columns), *FLAGS, *run)
    return wall, summary(rflvm, out)["seconds_per_sweep"]


def cells(steps):
    return [f"{sum(steps.values()):.4f}", *(f"{steps.get(step, float('nan')):.4f}" for step in STEPS)]


def fits(rflvm, folder, put):
    rows = []
    for n, j, sweeps, precision, goal in [(10_000, 2000, 300, "double", 60), (10_000, 2000, 300, "mixed", 60), (100_000, 2000, 300, "double", 300)]:
        wall, steps = fitted(rflvm, folder, n, j, sweeps, precision)
        rows.append([f"{n:,} × {j:,}", precision, f"{sweeps} + {sweeps}", f"{wall:.1f} s", f"{goal} s", *cells(steps)])
    put("fits", ["table", "precision", "sweeps", "wall time in all", "goal", "seconds per sweep", *STEPS], rows)


def point(rflvm, folder, put):
    """Point estimates, on the card and on the CPU."""
    rows = []
    for n, j, device in [(2000, 500, "cuda"), (2000, 500, "cpu"), (10_000, 2000, "cuda")]:
        out = folder / f"map-{n}x{j}-{device}"
        flags = [device if flag == "cuda" else flag for flag in FLAGS]
        wall = timed(rflvm, "fit", table(folder, n, j), "--method", "map", *flags, "--out", str(out))
        found = json.loads((out / "map.json").read_text()) if wall == wall else {}
        numbers = [f"{found.get('log_joint', float('nan')):.0f}", str(found.get("iterations")), str(found.get("converged"))]
        rows.append([f"{n:,} × {j:,}", "the card" if device == "cuda" else f"CPU, {os.cpu_count()} threads", f"{wall:.1f} s", *numbers])
    put("point", ["table", "on", "wall time in all", "log joint density", "iterations", "converged"], rows)


def placing(rflvm, folder, put):
    """New rows on the card and on the CPU, and missing cells, which are imputed on the CPU whatever the device of the fit."""
    y, rows = np.load(table(folder, 10_000, 2000)), []
    holes, fit = y.astype(float), str(folder / "fit-holes")
    holes[np.random.default_rng(1).random(y.shape) < 0.01] = np.nan
    np.save(folder / "holes.npy", holes)
    timed(rflvm, "fit", str(folder / "holes.npy"), *FLAGS, "--chains", "1", "--warmup", "100", "--draws", "200", "--out", fit)
    wall = timed(rflvm, "impute", fit, "--out", str(folder / "imputed.csv"))
    rows.append([f"{int(np.isnan(holes).sum()):,} missing cells, 200 draws", f"CPU, {os.cpu_count()} threads", f"{wall:.1f} s"])
    print(*rows[-1], sep=", ", flush=True)
    for count, device in [(100, "cpu"), (100, "cuda"), (1000, "cuda"), (10_000, "cuda")]:
        new, out = str(folder / f"new-{count}.npy"), str(folder / f"placed-{count}-{device}.csv")
        np.save(new, y[:count])
        wall = timed(rflvm, "transform", fit, new, "--device", device, "--out", out)
        rows.append([f"{count:,} new rows, 200 draws", "the card" if device == "cuda" else f"CPU, {os.cpu_count()} threads", f"{wall:.1f} s"])
        print(*rows[-1], sep=", ", flush=True)
    [here, there] = [np.genfromtxt(folder / f"placed-100-{device}.csv", delimiter=",", names=True) for device in ("cpu", "cuda")]
    apart = max(np.sqrt(np.mean((here[axis] - there[axis]) ** 2)) / np.std(here[axis]) for axis in ("x1", "x2"))
    density = np.max(np.abs(here["log_density"] - there["log_density"]))
    print(f"placed here and there: {apart:.2e} standard deviations of the rows apart, log densities at most {density:.2e}", flush=True)
    put("placing", ["10,000 × 2,000", "on", "wall time in all"], rows)


def pbmc(rflvm, folder, put, file):
    """Cells of blood, with size factors: all quantities of the summary, and the worst of those that there are many of."""
    out = str(folder / "fit-pbmc")
    run = ["--chains", "4", "--warmup", "1000", "--draws", "1000", "--offset", "size-factors", "--out", out]
    wall = timed(rflvm, "fit", file, *FLAGS, *run)
    found = summary(rflvm, out)
    n, j = np.load(file, mmap_mode="r").shape
    put(
        "pbmc time",
        ["table", "chains", "sweeps", "wall time in all", "goal", "seconds per sweep of one of four chains", *STEPS],
        [[f"PBMC3k, {n:,} × {j:,}, size factors", "4", "1000 + 1000", f"{wall:.1f} s", "180 s", *cells(found["seconds_per_sweep"])]],
    )
    rows = [[q["name"], f"{q['mean']:.6g}", f"{q['sd']:.3g}", f"{q['ess_bulk']:.0f}", f"{q['r_hat']:.3f}"] for q in found["quantities"]]
    put("pbmc", ["quantity", "mean", "sd", "effective draws", "R̂"], rows)


def cpu(rflvm, folder, put):
    """Continues a copy of a fit: seconds per sweep are those of its new draws."""
    fit, sweeps, rows = str(folder / "fit-10000x2000-double"), 300, []
    if not Path(fit).exists():
        fitted(rflvm, folder, 10_000, 2000, sweeps)
    for device, threads, more in [("cuda", None, 20), ("cpu", os.cpu_count(), 3), ("cpu", 1, 1)]:
        copy = str(folder / "continued")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(fit, copy)
        before = summary(rflvm, copy)["seconds_per_sweep"]
        timed(rflvm, "resume", copy, "--draws", str(sweeps + more), "--device", device, *(["--threads", str(threads)] if threads else []))
        after = summary(rflvm, copy)["seconds_per_sweep"]
        seconds = (sum(after.values()) * (2 * sweeps + more) - sum(before.values()) * 2 * sweeps) / more
        name = "the card" if device == "cuda" else f"CPU, {threads} thread{'s' if threads > 1 else ''}"
        rows.append((name, seconds))
    slowest = rows[-1][1]
    put(
        "cpu",
        ["10,000 × 2,000 on", "seconds per sweep", "sweeps per second", "times as fast as one thread"],
        [[name, f"{seconds:.4f}", f"{1 / seconds:.3f}", f"{slowest / seconds:.1f}"] for name, seconds in rows],
    )


def growth(rflvm, folder, put, name="growth", sizes=None, sweeps=10):
    by_rows = [(n, 1000) for n in (25_000, 50_000, 100_000, 200_000, 400_000)]
    rows = []
    for n, j in sizes or by_rows + [(50_000, columns) for columns in (500, 2000, 4000)]:
        wall, steps = fitted(rflvm, folder, n, j, sweeps)
        per = 1e8 * sum(steps.values()) / (n * j)
        rows.append([f"{n:,} × {j:,}", f"{sweeps} + {sweeps}", f"{wall:.1f} s", f"{per:.3f}", *cells(steps)])
        Path(table(folder, n, j)).unlink()
    put(name, ["table", "sweeps", "wall time in all", "seconds per 10⁸ cells", "seconds per sweep", *STEPS], rows)


def large(rflvm, folder, put):
    growth(rflvm, folder, put, "large", [(1_000_000, 1000)])


def kernels(rflvm, folder, put):
    """Counters of each kernel over the sweeps of a short chain, weighted by the time of its launches."""
    counters = ["ncu", "--clock-control", "none", "--csv", "--target-processes", "all", "--metrics", ",".join(COUNTERS)]
    run = ["--chains", "1", "--warmup", "1", "--draws", "1", "--init", "pca", "--out", str(folder / "fit-counted")]
    command = [*counters, "--launch-skip", "1500", "--launch-count", "3000", rflvm, "fit", table(folder, 10_000, 2000), *FLAGS, *run]
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    launches = defaultdict(dict)
    for line in csv.DictReader(line for line in said if line.startswith('"')):
        value = float(line["Metric Value"].replace(",", "") or "nan")
        name = COUNTERS.get(line["Metric Name"])
        launches[line["ID"], line["Kernel Name"].split("(")[0]][name] = value * MICROSECONDS[line["Metric Unit"]] if name == "time" else value
    by_kernel = defaultdict(list)
    for (_, kernel), found in launches.items():
        by_kernel[kernel].append(found)
    spent = {kernel: sum(f["time"] for f in found) for kernel, found in by_kernel.items()}
    all_time, rows = sum(spent.values()), []
    for kernel in sorted(spent, key=spent.get, reverse=True)[:12]:
        found = by_kernel[kernel]
        mean = {c: sum(f["time"] * f[c] for f in found) / spent[kernel] for c in COUNTERS.values()}
        longest = max(f["time"] for f in found)
        parts = [f"{mean[c]:.0f}%" for c in ("float64 pipe", "issue slots", "memory")]
        rows.append([f"`{kernel[:50]}`", str(len(found)), f"{longest:.0f} µs", *parts, f"{100 * spent[kernel] / all_time:.0f}%"])
    put("kernels", ["kernel", "launches", "the longest", "float64 pipe in use", "issue slots in use", "memory in use", "share of the card's time"], rows)


def main():
    steps = {"fits": fits, "point": point, "placing": placing, "pbmc": pbmc, "cpu": cpu, "growth": growth, "large": large, "kernels": kernels}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rflvm")
    parser.add_argument("folder", type=Path)
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--page", type=Path, default=page.PAGE)
    parser.add_argument("--pbmc", help="a .npy of the counts, for the step of that name, which is left out without it")
    args = parser.parse_args()
    unknown = set(args.steps) - set(steps)
    if unknown or ("pbmc" in args.steps and not args.pbmc):
        parser.error(f"there is no step {unknown.pop()}" if unknown else "the step pbmc needs --pbmc TABLE")
    args.folder.mkdir(parents=True, exist_ok=True)
    put = partial(page.put, page=args.page)
    for name in args.steps or [name for name in steps if name != "pbmc" or args.pbmc]:
        more = [args.pbmc] if name == "pbmc" else []
        steps[name](args.rflvm, args.folder, put, *more)


if __name__ == "__main__":
    main()
