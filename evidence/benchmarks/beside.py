"""Least effective samples per CPU second of the authors' code and of ours in one run, all five families, one thread each.

    python evidence/benchmarks/beside.py --tables DIR                 # writes the S-curves, 500×100
    python evidence/benchmarks/beside.py --list [--seconds 500]       # one line for bash per chain; run them side by side, on any machine
    python evidence/benchmarks/beside.py --take DIR                   # a table in Markdown of what those lines left in DIR

The lines use $PYTHON, $TRACE (the program `trace` of this folder), $AUTHORS (a checkout of the authors' code, see authors.py), $BENCHMARKS (this
folder), $TABLES and $OUT. Every chain starts from principal components, with 100 features, and has one thread. Ours stops after --ours-seconds
of CPU time after a warm-up of 500 sweeps; the authors' makes as many sweeps as it can in --seconds, of which the first quarter is
discarded. Effective samples are those of `make bench ARGS="--only ess"`.
"""

import argparse
from pathlib import Path

import numpy as np

import accuracy
from invariants import cells, pairs

FAMILIES = ["gaussian", "poisson", "negative-binomial", "bernoulli", "multinomial"]
#: The authors' Gaussian model that samples β and σ² instead of integrating over them.
KEPT = "gaussian-kept"
ROWS, COLUMNS, WARMUP = 500, 100, 500


def join(places):
    return ",".join(f"{a}:{b}" for a, b in places)


def theirs(family, seconds):
    """The line of a chain of the authors' code."""
    words = "gaussian --gaussian-kept" if family == KEPT else family
    stem = f'"$OUT/authors-{family}'
    table = f'"$TABLES/s-curve-{words.split()[0]}.npy"'
    command = f'"$PYTHON" -W ignore "$BENCHMARKS/authors.py" --authors "$AUTHORS" --table {table} --family {words} --warmup 0 --sweeps 5000'
    return f'{command} --seconds {seconds:g} --out {stem}.part.npz" > {stem}.log" 2>&1 && mv {stem}.part.npz" {stem}.npz"'


def ours(family, seconds):
    """The line of a chain of ours."""
    traced = f"--pairs {join(pairs(ROWS))} --cells {join(cells(ROWS, COLUMNS - (family == 'multinomial')))}"
    stem = f'"$OUT/ours-{family}'
    command = f'"$TRACE" "$TABLES/s-curve-{family}.npy" --likelihood {family} --warmup {WARMUP} --draws 100000 --cpu {seconds:g} {traced}'
    return f'{command} > {stem}.part" 2> {stem}.log" && mv {stem}.part" {stem}.csv"'


def write_tables(folder, data):
    folder.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        np.save(folder / f"s-curve-{family}.npy", np.ascontiguousarray(accuracy.s_curve(data, family)["Y"], dtype=float))


def read(path):
    """A chain: its kept sweeps, and the number of those that are not."""
    if path.suffix == ".npz":
        trace = dict(np.load(path))
        dropped = len(trace["cpu"]) // 4
        traced = ("cpu", "log_likelihood", "w_norm2", "alpha", "distances", "f")
        return {name: trace[name][dropped:] for name in traced}, dropped
    header, *lines = path.read_text().splitlines()
    values = np.array([[float(cell) for cell in line.split(",")] for line in lines[WARMUP:]])
    return dict(zip(header.split(","), values.T)), WARMUP


def row(folder, sampler, family):
    """Cells of the table, and the effective samples per second; None without a chain."""
    from sections import mixing

    path = folder / f"{sampler}-{family}{'.npz' if sampler == 'authors' else '.csv'}"
    if not path.exists():
        return None
    trace, dropped = read(path)
    found, cpu = mixing([trace]), float(trace["cpu"].sum())
    half = len(trace["cpu"]) // 2
    found["rhat"] = mixing([{name: values[i * half : (i + 1) * half] for name, values in trace.items()} for i in range(2)])["rhat"]
    name = sampler + (", β kept" if family == KEPT else "")
    rates = [found["ess"] / cpu, float(np.median(list(found["ess_by_quantity"].values()))) / cpu]
    sweeps = len(trace["cpu"])
    least = f"{found['ess']:.3g}" if found["ess"] else "0, constant"
    return [name, f"{dropped} + {sweeps}", f"{cpu:.0f}", f"{cpu / sweeps:.3g}", least, found["least"], f"{found['rhat']:.2f}"], rates


def take(folder):
    print("| family | sampler | sweeps | CPU s | CPU s per sweep | least ESS | of | R̂ of halves | **least ESS per CPU s** | ours / it | median ESS per CPU s | ours / it |")
    print("|" + "---|" * 12)
    for family in FAMILIES:
        found = [row(folder, "ours", family), row(folder, "authors", family)]
        found += [row(folder, "authors", KEPT)] if family == "gaussian" else []
        for cells_, rates in filter(None, found):
            words = [family, *cells_]
            for mine, rate in zip(found[0][1] if found[0] else rates, rates):
                words += [f"{rate:.3g}", "" if cells_[0] == "ours" or not found[0] else f"{mine / rate:.3g}" if rate else "∞"]
            print("| " + " | ".join(words) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "../shared/data")
    parser.add_argument("--tables", type=Path, metavar="DIR")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=float, default=500, help="wall seconds of a chain of the authors' code")
    parser.add_argument("--ours-seconds", type=float, default=200, help="CPU seconds of a chain of ours, after its warm-up")
    parser.add_argument("--take", type=Path, metavar="DIR")
    args = parser.parse_args()
    if args.tables:
        write_tables(args.tables, args.data)
    if args.list:
        for family in [*FAMILIES, KEPT]:
            print(theirs(family, args.seconds))
        for family in FAMILIES:
            print(ours(family, args.ours_seconds))
    if args.take:
        take(args.take)


if __name__ == "__main__":
    main()
