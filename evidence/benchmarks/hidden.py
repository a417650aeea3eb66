"""Hidden cells of Gaussian tables: this version compared with an earlier one and with GPy's Bayesian GPLVM.

    python evidence/benchmarks/hidden.py prepare FOLDER   # tables with a fifth of their cells hidden, the truth, and commands.txt
    cd FOLDER && NEW=rflvm OLD=older/rflvm PYTHON=python3 xargs -P 16 -d '\\n' -n 1 sh -c < commands.txt
    python evidence/benchmarks/hidden.py gpy FOLDER       # GPy on the same tables, one thread
    python evidence/benchmarks/hidden.py score FOLDER     # a Markdown table: mean ± standard error over seeds

Each line of commands.txt fits one table, scores the fit (`read`) and deletes it; rows/NAME.json remains. FOLDER is all
that the lines need, so it can be moved to another machine. `gpy` needs evidence/benchmarks/requirements.txt, the rest NumPy.

Every column is standardised before cells are hidden, so that errors are in units of its standard deviation, and
seed k hides each observed cell with probability 0.2 (the masks of evidence/paper/missing.py). CMU, S-curve, Lorenz and Forex
are prepared as in evidence/paper/datasets.py. Air quality is every sixth hour without NMHC_GT and without rows that are
wholly empty; 6% of its cells are missing to begin with.

Density and intervals of ours are those of the mixture of normals N(f, σ²) over at most 1000 posterior draws of the
chains that `rflvm summary` uses; those of GPy of its normal predictive distribution, noise included.
"""

import argparse
import csv
import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

# One thread, before NumPy loads its linear algebra: fits run side by side.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
NORMAL = np.frompyfunc(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)), 1, 1)
# Flags and sweeps, warm-up and draws alike: the program's default, and half of it with times, which cost up to three times as much.
VARIANTS = {"static": ("--id time", 1000), "time": ("--time time", 500)}
SIMULATED = ("s_curve", "lorenz")
PROGRAMS = {"old": "$OLD", "new": "$NEW"}


def air_quality(data):
    """Values and hours of the air quality table."""
    with gzip.open(data / "air_quality/air_quality_uci.csv.gz", "rt") as file:
        lines = list(csv.DictReader(file))[::6]
    names = [name for name in lines[0] if name not in ("time", "NMHC_GT")]
    y = np.array([[float(line[name] or "nan") for name in names] for line in lines])
    start = datetime.fromisoformat(lines[0]["time"])
    hours = np.array([(datetime.fromisoformat(line["time"]) - start).total_seconds() / 3600 for line in lines])
    kept = ~np.isnan(y).all(1)
    return y[kept], hours[kept], 2


def tables(data):
    """Name, values, times and latent dimension of each table."""
    sys.path.insert(0, str(ROOT / "evidence/paper"))
    import datasets

    for name, load in datasets.SETS.items():
        found = load(data)
        yield name, found.y, found.time, found.dim
    yield "air_quality", *air_quality(data)


def prepare(folder, args):
    sys.path.insert(0, str(ROOT / "evidence/paper"))
    import program

    (folder / "rows").mkdir(parents=True, exist_ok=True)
    for script in ("hidden.py", "gplvm.py"):
        shutil.copy(ROOT / "evidence/benchmarks" / script, folder)
    about, lines = {}, []
    for name, y, times, dim in tables(args.data):
        scale = np.nanstd(y, axis=0)
        y = (y - np.nanmean(y, axis=0)) / scale
        about[name] = {"rows": len(y), "columns": y.shape[1], "dim": dim, "scale": scale.tolist()}
        for seed in SEEDS:
            mask = (np.random.default_rng(seed).random(y.shape) < 0.2) & ~np.isnan(y)
            program.write_table(folder / f"{name}-{seed}.csv", np.where(mask, np.nan, y), times)
            np.savez_compressed(folder / f"{name}-{seed}.npz", truth=y[mask], row=np.nonzero(mask)[0], column=np.nonzero(mask)[1])
    (folder / "about.json").write_text(json.dumps(about))
    for variant, (flags, sweeps) in VARIANTS.items():
        sweeps = args.sweeps or sweeps
        for seed in SEEDS:
            for name in about:
                for method, call in PROGRAMS.items():
                    fit = f"{name}-{seed}-{method}-{variant}"
                    run = f"--likelihood gaussian --latent-dim {about[name]['dim']} {flags} --warmup {sweeps} --draws {sweeps} --chains 2 --threads 1 --seed {seed}"
                    lines.append(
                        f"test -e rows/{fit}.json || {{ {call} fit {name}-{seed}.csv {run} -q --overwrite --out fits/{fit}"
                        f" && $PYTHON hidden.py read . --fit {fit} --program {call} && rm -r fits/{fit}; }}"
                    )
    (folder / "commands.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} fits: {folder / 'commands.txt'}")


def scores(y, mean, ln_density, below, scale):
    """Scores of hidden cells; `below` is the predictive probability of a value below the true one."""
    return {
        "mse": float(np.mean((y - mean) ** 2)),
        "mse_own_units": float(np.mean((scale * (y - mean)) ** 2)),
        "density": float(np.mean(ln_density)),
        "inside50": float(np.mean(np.abs(below - 0.5) <= 0.25)),
        "inside90": float(np.mean(np.abs(below - 0.5) <= 0.45)),
    }


def hidden(folder, name, seed):
    """Truth, rows and columns of the hidden cells, and the standard deviations of their columns in their own units."""
    cells = np.load(folder / f"{name}-{seed}.npz")
    scale = np.array(json.loads((folder / "about.json").read_text())[name]["scale"])
    return cells["truth"], cells["row"], cells["column"], scale[cells["column"]]


def ln_normal(y, mean, variance):
    return -0.5 * (np.log(2 * np.pi * variance) + (y - mean) ** 2 / variance)


def read(folder, args):
    """Scores the mixture over posterior draws of one fit."""
    name, seed = args.fit.split("-")[:2]
    y, row, column, scale = hidden(folder, name, seed)
    fit = folder / "fits" / args.fit

    def ask(*words):
        return subprocess.run([args.program, *map(str, words)], check=True, capture_output=True, text=True).stdout

    summary = json.loads(ask("summary", fit, "--json"))
    used = [c for c, chain in enumerate(summary["chains"]) if chain["used"]]
    draws = {}
    with tempfile.TemporaryDirectory(dir=fit) as scratch:
        kept = ("x", "w", "beta", "precision")
        is_linear = any(q["name"] == "linear_scale" for q in summary["quantities"])
        for what in (*kept, "linear_scale") if is_linear else kept:
            file = Path(scratch) / f"{what}.npy"
            ask("export", fit, "--what", what, "--out", file)
            draws[what] = np.load(file, mmap_mode="r")
        length = draws["x"].shape[1]
        every = [(c, t) for c in used for t in range(length)]
        chosen = [every[i * len(every) // min(1000, len(every))] for i in range(min(1000, len(every)))]
        mean, below, density = np.zeros(len(y)), np.zeros(len(y)), np.full(len(y), -np.inf)
        for c, t in chosen:
            argument = draws["x"][c, t] @ draws["w"][c, t].T
            h = np.hstack([np.sin(argument), np.cos(argument)]) / math.sqrt(argument.shape[1])
            if is_linear:
                h = np.hstack([h, draws["linear_scale"][c, t] * draws["x"][c, t]])
            beta = draws["beta"][c, t]
            f = (h @ beta[:-1] + beta[-1])[row, column]
            variance = 1 / draws["precision"][c, t][column]
            mean += f
            density = np.logaddexp(density, ln_normal(y, f, variance))
            below += NORMAL((y - f) / np.sqrt(variance)).astype(float)
    count = len(chosen)
    found = scores(y, mean / count, density - math.log(count), below / count, scale)
    found |= {"chains": len(used), "r_hat": max(q["r_hat"] or math.inf for q in summary["quantities"])}
    (folder / f"rows/{args.fit}.json").write_text(json.dumps(found))


def gpy(folder, args):
    import gplvm

    about = json.loads((folder / "about.json").read_text())
    for units in ("standard", "own"):
        for seed in args.seeds:
            for name in args.tables or about:
                # GPy has one noise variance for all columns, as the simulated tables have in their own units.
                if units == "own" and name not in SIMULATED:
                    continue
                path = folder / f"rows/{name}-{seed}-gpy-{units}.json"
                if path.exists():
                    continue
                with open(folder / f"{name}-{seed}.csv") as file:
                    table = np.array([[float(v or "nan") for v in line[1:]] for line in list(csv.reader(file))[1:]])
                scale = np.array(about[name]["scale"]) if units == "own" else np.ones(table.shape[1])
                clock = time.process_time()
                mean, variance, run = gplvm.predict(table * scale, about[name]["dim"], seed, iterations=args.iterations)
                y, row, column, own = hidden(folder, name, seed)
                mean, variance = (mean / scale)[row, column], (variance / scale**2)[row, column]
                below = NORMAL((y - mean) / np.sqrt(variance)).astype(float)
                found = scores(y, mean, ln_normal(y, mean, variance), below, own)
                found |= run | {"cpu_s": time.process_time() - clock}
                path.write_text(json.dumps(found))
                print(path.stem, found, flush=True)


def score(folder, args):
    about = json.loads((folder / "about.json").read_text())
    labels = {
        "old-static": "earlier, no times", "new-static": "now, no times", "old-time": "earlier, times", "new-time": "now, times",
        "gpy-standard": "GPy", "gpy-own": "GPy on unscaled columns",
    }  # fmt: skip
    columns = {
        "mse": "MSE", "mse_own_units": "MSE, unscaled", "density": "log density", "inside50": "50% hold", "inside90": "90% hold", "r_hat": "largest R̂",
    }  # fmt: skip
    print("| table | method | seeds | " + " | ".join(columns.values()) + " |\n|" + "---|" * (3 + len(columns)))
    for name, facts in about.items():
        for method, label in labels.items():
            rows = [json.loads(path.read_text()) for path in sorted(folder.glob(f"rows/{name}-?-{method}.json"))]
            if not rows:
                continue
            cells = []
            for key in columns:
                values = [row[key] for row in rows if key in row]
                if key == "mse_own_units" and name not in SIMULATED:
                    values = []
                error = f" ± {np.std(values, ddof=1) / math.sqrt(len(values)):.4f}" if len(values) > 1 else ""
                cells.append("–" if not values else f"{max(values):.2f}" if key == "r_hat" else f"{np.mean(values):.4f}{error}")
            title = f"{name} {facts['rows']}×{facts['columns']}, D = {facts['dim']}"
            print(f"| {title} | {label} | {len(rows)} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "read", "gpy", "score"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--sweeps", type=int, help="prepare: warm-up and draws of every fit, instead of 1000, and 500 with times")
    parser.add_argument("--fit", help="read: the fit in FOLDER/fits")
    parser.add_argument("--program", default="rflvm", help="read: the program that made it")
    parser.add_argument("--tables", nargs="+", help="gpy: only these")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="gpy: only these")
    parser.add_argument("--iterations", type=int, default=1000, help="gpy: the most iterations of its optimiser")
    args = parser.parse_args()
    {"prepare": prepare, "read": read, "gpy": gpy, "score": score}[args.what](args.folder, args)


if __name__ == "__main__":
    main()
