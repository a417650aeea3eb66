"""Realised false discovery rate and power of `rflvm differences`, compared with tests on the raw columns: t, Wilcoxon, and regression on the group and the
batch.

    python evidence/benchmarks/differences.py --program target/release/rflvm --tables 40

Each simulated table has two groups of rows along a gradient that has nothing to do with them. Some of its columns differ between the groups, or none; with a
batch effect, the batches are unevenly spread over the groups, and the fit knows them as a covariate. Tests are adjusted by Benjamini and Hochberg.
"""

import argparse
import csv
import json
import os
import subprocess
from pathlib import Path

import numpy as np
from scipy import stats

LEVELS = (0.05, 0.1)
#: Sizes that count for the fit's lists, in standard deviations of the columns.
SIZES = (0.0, 0.25)
#: Share of the columns that differ, and whether there is a batch effect.
KINDS = ((0.25, False), (0.25, True), (0.0, False), (0.0, True))


def simulated(seed, rows, columns, share, shift, batch):
    """Cells, groups, batches, and which columns differ."""
    rng = np.random.default_rng(seed)
    group = np.arange(rows) % 2
    gradient = rng.normal(size=rows)
    differs = np.zeros(columns, bool)
    differs[: int(round(share * columns))] = True
    signs = rng.choice([-1.0, 1.0], columns)
    in_second = rng.random(rows) < np.where(group == 1, 0.7, 0.3)
    curve = np.stack([gradient, np.sin(1.5 * gradient), np.cos(1.5 * gradient)])
    f = rng.normal(size=columns) + curve.T @ rng.normal(0, 0.6, (3, columns))
    f += np.outer(group - 0.5, np.where(differs, shift * signs, 0.0))
    if batch:
        f += np.outer(in_second - 0.5, rng.normal(0, 1.0, columns))
    return f + rng.normal(size=(rows, columns)), group, in_second.astype(int), differs


def adjusted(p):
    """Benjamini and Hochberg's adjusted p-values."""
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    out = np.empty_like(p)
    out[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return out


def tests(y, group, batches, batch):
    a, b = y[group == 1], y[group == 0]
    wilcoxon = np.array([stats.mannwhitneyu(a[:, j], b[:, j]).pvalue for j in range(y.shape[1])])
    found = {"t test": stats.ttest_ind(a, b, equal_var=False).pvalue, "Wilcoxon": wilcoxon}
    if batch:
        h = np.column_stack([group, np.ones(len(y)), batches])
        information = np.linalg.inv(h.T @ h)
        coefficient = information @ h.T @ y
        variance = ((y - h @ coefficient) ** 2).sum(axis=0) / (len(y) - 3) * information[0, 0]
        found["regression on group and batch"] = 2 * stats.t.sf(np.abs(coefficient[0]) / np.sqrt(variance), len(y) - 3)
    return {name: adjusted(p) for name, p in found.items()}


def fitted(args, name, y, group, batches, batch):
    """The folder of a fit, which is kept for another run of this script."""
    folder = Path(args.work) / name
    if (folder / "o" / "embedding.csv").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "t.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["group", "batch", *(f"c{j}" for j in range(y.shape[1]))])
        writer.writerows([f"g{g}", f"b{b}", *row] for g, b, row in zip(group, batches, y))
    fit = [
        args.program,
        "fit",
        "t.csv",
        "--labels",
        "group",
        "--likelihood",
        "gaussian",
        "--features",
        str(args.features),
        "--chains",
        str(args.chains),
        "--threads",
        "1",
    ]
    fit += ["--covariates", "batch"] if batch else ["--without", "batch"]
    fit += ["--warmup", str(args.sweeps), "--draws", str(args.sweeps), "--seed", "1", "--no-report", "--overwrite", "-q", "--out", "o"]
    subprocess.run(fit, cwd=folder, check=True)
    return folder


def lists(args, folder, columns):
    """The false discovery rate at which each column is listed, by the size that counts."""
    found = {}
    for size in SIZES:
        ask = [
            args.answers or args.program,
            "differences",
            "o",
            "--groups",
            "group",
            "--between",
            "g1,g0",
            "--size",
            str(size),
            "-q",
            "--out",
            "d.csv",
        ]
        subprocess.run(ask, cwd=folder, check=True)
        with open(folder / "d.csv", newline="") as file:
            lines = {line["column"]: float(line["fdr"]) for line in csv.DictReader(file)}
        found[f"rflvm, size {size}"] = np.array([lines[f"c{j}"] for j in range(columns)])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/rflvm")
    parser.add_argument("--answers", help="another build of the program, for `differences`")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--shift", type=float, default=1.0)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--work", default="target/differences", help="folder for the fits, which are kept")
    parser.add_argument("--fit", action="store_true", help="only fit")
    parser.add_argument("--out", default="target/differences.json")
    args = parser.parse_args()
    args.program, args.answers = (path and os.path.abspath(path) for path in (args.program, args.answers))
    rows = json.loads(Path(args.out).read_text()) if Path(args.out).exists() else []
    done = {(row["seed"], row["share"], row["batch"]) for row in rows}
    for share, batch in KINDS:
        for seed in range(args.first, args.first + args.tables):
            if (seed, share, batch) in done:
                continue
            y, group, batches, differs = simulated(seed, args.rows, args.columns, share, args.shift, batch)
            folder = fitted(args, f"{seed}-{share}-{batch}", y, group, batches, batch)
            if args.fit:
                continue
            found = {**tests(y, group, batches, batch), **lists(args, folder, args.columns)}
            for method, rates in found.items():
                for level in LEVELS:
                    listed = rates <= level
                    row = {"seed": seed, "share": share, "batch": batch, "method": method, "level": level}
                    false = float((listed & ~differs).sum() / max(listed.sum(), 1))
                    power = float((listed & differs).sum() / differs.sum()) if differs.any() else None
                    rows.append({**row, "listed": int(listed.sum()), "false": false, "power": power})
            Path(args.out).write_text(json.dumps(rows))
    for share, batch in KINDS:
        print(f"\n{'a quarter of the columns differ' if share else 'no column differs'}, {'with' if batch else 'without'} a batch effect")
        print("| method | level | tables | realised FDR (standard error) | power |\n|---|---|---|---|---|")
        for method in dict.fromkeys(row["method"] for row in rows):
            for level in LEVELS:
                some = [r for r in rows if (r["share"], r["batch"], r["method"], r["level"]) == (share, batch, method, level)]
                if not some:
                    continue
                false = np.array([r["false"] for r in some])
                power = f"{np.mean([r['power'] for r in some]):.2f}" if share else ""
                error = false.std(ddof=1) / len(false) ** 0.5 if len(false) > 1 else float("nan")
                print(f"| {method} | {level:.0%} | {len(false)} | {false.mean():.3f} ({error:.3f}) | {power} |")


if __name__ == "__main__":
    main()
