"""Run `rflvm`, and read the tables it writes."""

import csv
import json
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def places(parser):
    """Adds the arguments that say where things are."""
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder of the data sets")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/rflvm")
    parser.add_argument("--peers", type=Path, help="folder with clones of zhidilin/advisedGPLVM and yingli1998/SRFLVM")
    parser.add_argument("--threads", type=int, default=1)


def arguments(parser):
    """Adds the arguments of fits."""
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder of the data sets")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/rflvm")
    parser.add_argument("--out", type=Path, default=ROOT / "evidence/paper/results", help="folder of the results")
    parser.add_argument("--again", action="store_true", help="run existing rows again")
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)


def settings(args, kernel=None):
    """The settings of a fit, stored with its results."""
    chosen = {"warmup": args.warmup, "draws": args.draws, "chains": args.chains}
    return chosen | ({"kernel": kernel} if kernel else {})


def write_table(path, y, time=None):
    """A CSV of the columns c0, c1, …, with empty cells where `y` is NaN, and of `time` if given."""
    names = [f"c{j}" for j in range(y.shape[1])]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names if time is None else ["time", *names])
        for n, row in enumerate(y):
            cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
            writer.writerow(cells if time is None else [repr(float(time[n])), *cells])


def fit(folder, y, dim, seed, args, time=None, kernel=None, family="gaussian", flags=()):
    """Fits `y`, dynamically if there are times, with other flags if given; the fit is in folder/fit."""
    write_table(folder / "table.csv", y, time)
    command = [args.program, "fit", folder / "table.csv", "--likelihood", family, "--latent-dim", dim, "-q"]
    command += ["--out", folder / "fit", "--warmup", args.warmup, "--draws", args.draws, "--chains", args.chains]
    command += ["--seed", seed, "--threads", args.threads]
    if time is not None:
        command += ["--time", "time", "--time-kernel", kernel]
    subprocess.run([str(word) for word in [*command, *flags]], check=True)


def positions(folder):
    """Posterior mean positions of the rows of folder/fit."""
    with open(folder / "fit/embedding.csv") as file:
        rows = list(csv.DictReader(file))
    axes = [name for name in rows[0] if name[0] == "x" and name[1:].isdigit()]
    return np.array([[float(row[name]) for name in axes] for row in rows])


def has(args, command, flag=""):
    """Whether the program knows the command, and its flag."""
    asked = subprocess.run([str(args.program), command, "--help"], capture_output=True, text=True)
    return asked.returncode == 0 and flag in asked.stdout


def place(shape, rows, row_of):
    """Puts long-format rows (column, mean, sd, q05, q95) into tables; a missing quantity is left out."""
    tables = {}
    for row in rows:
        cell = row_of(row), int(row["column"].removeprefix("c"))
        for name in ("mean", "sd", "q05", "q95"):
            if row.get(name):
                tables.setdefault(name, np.full(shape, np.nan))[cell] = float(row[name])
    return tables


def impute(folder, shape, args):
    """Tables of the missing cells: `mean`, `sd`, `q05`, `q95` from `rflvm impute`. A program without that command
    leaves the mean in the fit's imputed.csv; its `sd` is that of the expected value, too narrow for the cell, and not
    taken."""
    if not has(args, "impute"):
        with open(folder / "fit/imputed.csv") as file:
            return {"mean": place(shape, csv.DictReader(file), lambda row: int(row["id"]) - 1)["mean"]}
    subprocess.run([str(args.program), "impute", str(folder / "fit"), "--out", str(folder / "imputed.csv")], check=True)
    with open(folder / "imputed.csv") as file:
        return place(shape, csv.DictReader(file), lambda row: int(row["row"]) - 1)


def score(folder, truth, time, args):
    """The program's own log density and coverage of the missing cells, from its predictive distribution, which is not normal."""
    write_table(folder / "truth.csv", truth, time)
    command = [args.program, "impute", folder / "fit", "--truth", folder / "truth.csv", "--json"]
    found = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    said = json.loads(found.stdout)
    return {name: said[key] for name, key in (("log_density", "log_density"), ("inside50", "in50"), ("inside90", "in90"))}


def forecast(folder, shape, args):
    """Tables of the rows that follow the fitted ones, in the order of their times."""
    command = [args.program, "forecast", folder / "fit", "--horizon", shape[0], "--out", folder / "forecast.csv"]
    subprocess.run([str(word) for word in command], check=True)
    with open(folder / "forecast.csv") as file:
        rows = list(csv.DictReader(file))
    step = {time: k for k, time in enumerate(sorted({float(row["time"]) for row in rows}))}
    if len(step) != shape[0]:
        raise ValueError(f"rflvm forecast wrote {len(step)} times, not {shape[0]}")
    return place(shape, rows, lambda row: step[float(row["time"])])
