"""Writes the tables with hidden cells, and what was hidden.

    python evidence/benchmarks/imputation/prepare.py FOLDER [--data ../shared/data] [--tables cmu forex] [--seeds 1 2 3]

For each table, mask and seed, with NAME such as cmu-run20-1: NAME.csv, with holes and a column `time` first (the number
of the row in a static table); NAME-truth.csv, the same with every known cell (links to one file per table); NAME.npz, row,
column and truth of each hidden cell. about.json describes the tables.
"""

import argparse
import csv
import json
import os
import sys
from pathlib import Path

import numpy as np

from masks import MASKS
from tables import COUNTS, ROOT, STATIC, TABLES

SEEDS = (1, 2, 3)


def masks_of(name):
    """The masks of a table: no runs where the order of the rows has no meaning."""
    return ("random",) if name in STATIC else ("random", "run20") if name in COUNTS else tuple(MASKS)


def chosen(about):
    """A parser of the folder and of the tables, masks and seeds to use; `about` describes the script."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--masks", nargs="+", help="only these")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    return parser


def write(path, y, time):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"c{j}" for j in range(y.shape[1]))])
        for at, row in zip(time, y):
            writer.writerow([f"{at:.9g}", *("" if np.isnan(v) else f"{v:.9g}" for v in row)])


def prepare(folder, name, table, seeds):
    time = np.arange(len(table.y)) if table.time is None else table.time
    y = np.array([[float(f"{v:.9g}") for v in row] for row in table.y])
    observed = ~np.isnan(y)
    truth = folder / f"{name}-truth.csv"
    write(truth, y, time)
    for mask in masks_of(name):
        for seed in seeds:
            cells = MASKS[mask].cells(observed, np.random.default_rng(seed))
            case = f"{name}-{mask}-{seed}"
            write(folder / f"{case}.csv", np.where(cells, np.nan, y), time)
            (folder / f"{case}-truth.csv").unlink(missing_ok=True)
            os.link(truth, folder / f"{case}-truth.csv")
            row, column = np.nonzero(cells)
            np.savez_compressed(folder / f"{case}.npz", row=row, column=column, truth=y[cells])
            print(f"{case}: {cells.sum()} of {observed.sum()} cells hidden", flush=True)
    rows, columns = y.shape
    return {"rows": rows, "columns": columns, "dim": table.dim, "timed": table.time is not None, "counts": table.counts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder of the data sets")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / "about.json"
    about = json.loads(path.read_text()) if path.exists() else {}
    for name in args.tables:
        try:
            about[name] = prepare(args.folder, name, TABLES[name](args.data), args.seeds)
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
    path.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
