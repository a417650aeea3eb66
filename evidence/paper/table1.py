"""The paper's Tables 1 and 2: accuracy of the nearest neighbour's label in two latent dimensions, and seconds, for every set and method.

    python evidence/paper/table1.py [--sets bridges yale] [--methods pca poisson] [--seeds 0 1 2 3 4] [--minutes 60]
    python evidence/paper/table1.py --write-tables DIR                 # the tables that our families are fitted to, as .csv.gz
    python evidence/paper/table1.py --list-ours [--warmup 1000 …]      # one line for bash per fit of ours, to be run elsewhere
    python evidence/paper/table1.py --list-others [--methods vae …]    # the same for fits of other methods
    python evidence/paper/table1.py --take DIR --machine "16 cores"    # stores what those lines left in DIR

Cells are kept in OUT/table1.jsonl and not run again; a cell that fails or takes more than --minutes of CPU time is kept with the reason. Each cell
runs in its own process, on one thread unless --threads says otherwise. Dear methods run with the first seed only unless --all-seeds is given.
Positions are kept in OUT/positions. Settings of ours that are not the program's defaults: --set amplitude=learned.
"""

import argparse
import gzip
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import cell
import labelled
import ours
import program
from cells import Cells, now
from methods import METHODS
from scores import neighbours

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def reason(lines, otherwise):
    """Why something failed: its last line, without the folders of files, which differ between machines."""
    return re.sub(r"(?<![\w:/.])/(?:[^\s/'\"]+/)+", "", lines[-1]) if lines else otherwise


def bounded(command, minutes, threads, patience=10):
    """Runs a command and all that it starts within a limit of CPU time, so that what a method achieves does not depend on how busy the
    machine is; wall time may be `patience` times as long. None, or why it failed."""
    limit = round(60 * minutes * threads)

    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    environment = os.environ | {name: str(threads) for name in THREADS}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True, preexec_fn=bound
    )
    try:
        said = process.communicate(timeout=60 * minutes * patience)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"no result after {minutes * patience:g} minutes"
    if process.returncode == -signal.SIGXCPU or (said and "SIGXCPU" in said[-1]):
        return f"more than {minutes:g} minutes"
    return reason(said, f"exit status {process.returncode}") if process.returncode else None


def score(row, x, labels):
    """Adds what a cell is judged by: the accuracy for every seed of the folds, the run's own seed first among equals."""
    found = neighbours(x, labels)
    return row | {"accuracy": found[row["seed"] % len(found)], "accuracies": found}


def run(row, args):
    """Runs a cell; returns its row."""
    table = labelled.load(row["set"], args.data, row["seed"])
    row = row | {"rows": table.y.shape[0], "columns": table.y.shape[1], "machine": args.machine, "threads": args.threads}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cell.npz"
        words = [sys.executable, "-W", "ignore", cell.__file__, row["set"], row["method"], row["seed"], json.dumps(row["settings"]), out]
        words += ["--data", args.data, "--program", args.program, "--threads", args.threads]
        words += ["--peers", args.peers] if args.peers else []
        failed = bounded([str(word) for word in words], args.minutes, args.threads)
        if failed:
            return row | {"failed": failed}
        z = np.load(out)
        keep = args.out / "positions" / (ours.cell(row["set"], row["method"], row["seed"], row["settings"]).replace("/", "-")[:200] + ".npy")
        keep.parent.mkdir(parents=True, exist_ok=True)
        np.save(keep, z["x"].astype(np.float32))
        return score(row | {"wall": round(float(z["wall"]), 3), "cpu": round(float(z["cpu"]), 3)}, z["x"], table.labels)


def wanted(args):
    """Cells, all sets and methods of a seed before the next seed."""
    for seed in args.seeds:
        for name in args.sets:
            for method in args.methods:
                if method in ours.FAMILIES:
                    yield {"set": name, "method": method, "seed": seed, "settings": ours.settings(args)}
                elif method in ours.MAPS:
                    yield {"set": name, "method": method, "seed": seed, "settings": {}}
                elif seed == args.seeds[0] or args.all_seeds or not METHODS[method].dear:
                    yield {"set": name, "method": method, "seed": seed, "settings": METHODS[method].settings(args.quick)}


def told(row):
    """A line about a row."""
    found = f"failed: {row['failed']}" if "failed" in row else f"{np.mean(row['accuracies']):.4f}, {row['wall']:.1f} s"
    return f"{row['set']} {row['method']} seed {row['seed']}: {found}"


def write_tables(folder, args):
    """The tables of our families."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in args.sets:
        for family, (_, form) in ours.FAMILIES.items():
            for seed in args.seeds if name in labelled.DRAWN else args.seeds[:1]:
                path = folder / f"{ours.table(name, family, seed)}.csv.gz"
                if path.exists():
                    continue
                y = form(labelled.load(name, args.data, seed).y)
                text = io.StringIO()
                np.savetxt(text, y, fmt="%.17g", delimiter=",", header=",".join(f"c{j}" for j in range(y.shape[1])), comments="")
                with gzip.open(path, "wt") as file:
                    file.write(text.getvalue())
                print(path, flush=True)


def other(row):
    """A line for bash that runs a cell of another method, with the folders $DATA, $PEERS and $OUT, and leaves what `take_others` reads."""
    stem = f'"$OUT/{row["set"]}--{row["method"]}--seed={row["seed"]}'
    words = f"evidence/paper/cell.py {row['set']} {row['method']} {row['seed']} '{json.dumps(row['settings'])}' {stem}.part.npz\""
    words += ' --data "$DATA" --peers "$PEERS"'
    return f'mkdir -p "$OUT"; "${{PYTHON:-python}}" -W ignore {words} 2> {stem}.log" && mv {stem}.part.npz" {stem}.npz"'


def take_others(folder, cells, args):
    """Stores the cells of other methods whose positions are in the folder."""
    for path in sorted(folder.glob("*--*--seed=*.npz")):
        name, method, seed = path.stem.split("--")
        if seed.endswith(".part") or name not in labelled.SETS or method not in METHODS:
            continue
        row = {"set": name, "method": method, "seed": int(seed.removeprefix("seed=")), "settings": METHODS[method].settings()}
        if cells.find(row) and not args.again:
            continue
        z, table = np.load(path), labelled.load(name, args.data, row["seed"])
        row |= {"rows": table.y.shape[0], "columns": table.y.shape[1], "machine": args.machine, "threads": args.threads}
        row = score(row | {"wall": round(float(z["wall"]), 3), "cpu": round(float(z["cpu"]), 3)}, z["x"], table.labels)
        cells.add(row)
        print(told(row), flush=True)


def take(folder, cells, args):
    """Stores the cells of ours whose positions, or whose failures, are in the folder."""
    for path in sorted(folder.glob("*.time")):
        try:
            name, family, seed, chosen = ours.parse(path.stem)
        except (ValueError, KeyError):
            print(f"{path.name} is not a cell of ours", file=sys.stderr)
            continue
        *said, times = path.read_text().strip().splitlines() or [""]
        try:
            wall, user, system = map(float, times.split())
        except ValueError:
            print(f"{path.name} has no seconds in its last line: the fit was stopped, and is left out", file=sys.stderr)
            continue
        row = {"set": name, "method": family, "seed": seed, "settings": chosen, "machine": args.machine, "threads": args.threads}
        if cells.find(row) and not args.again:
            continue
        table = labelled.load(name, args.data, seed)
        row |= {"rows": table.y.shape[0], "columns": table.y.shape[1], "wall": wall, "cpu": round(user + system, 3), "date": now()}
        found = path.with_name(path.name.removesuffix("time") + "csv")
        row = score(row, cell.positions(found), table.labels) if found.exists() else row | {"failed": reason(said, "no positions")}
        cells.add(row)
        print(told(row), flush=True)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*METHODS, *ours.OURS]
    program.places(parser)
    parser.add_argument("--out", type=Path, default=program.ROOT / "evidence/paper/results", help="folder of the results")
    parser.add_argument("--sets", nargs="+", choices=labelled.SETS, default=list(labelled.SETS))
    parser.add_argument("--methods", nargs="+", choices=everything, default=everything)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--all-seeds", action="store_true", help="all seeds for the dear methods too")
    parser.add_argument("--minutes", type=float, default=60, help="limit of a cell's CPU time, times the threads")
    ours.arguments(parser, warmup=1000, draws=1000)
    parser.add_argument("--again", action="store_true", help="run existing cells again")
    parser.add_argument("--again-failed", action="store_true", help="run cells again that failed")
    parser.add_argument("--machine", default=f"{os.cpu_count()}-core machine", help="the machine, in words")
    parser.add_argument("--write-tables", type=Path, metavar="DIR")
    parser.add_argument("--list-ours", action="store_true")
    parser.add_argument("--list-others", action="store_true")
    parser.add_argument("--take", type=Path, metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="a look in ten minutes: two small sets, one seed, short runs; into OUT/quick")
    args = parser.parse_args()
    if args.quick:
        args.sets, args.seeds, args.warmup, args.draws, args.minutes = ["bridges", "montreal"], [0], 50, 50, 3
        args.out = args.out / "quick"
    return args


def main():
    args = parsed()
    if args.list_ours or args.list_others:
        for row in wanted(args):
            if row["method"] in METHODS and args.list_others:
                print(other(row))
            elif row["method"] in ours.OURS and args.list_ours:
                print(ours.line(row["method"], row["set"], row["seed"], row["settings"], args.threads))
        return
    absent = labelled.missing(args.sets, args.data)
    if absent:
        print("SKIPPED: put these files into the folder of the data, or name another folder with --data:\n  " + "\n  ".join(absent), file=sys.stderr)
        args.sets = [name for name in args.sets if not any(line.startswith(f"{name}:") for line in absent)]
    cells = Cells(args.out)
    if args.write_tables:
        return write_tables(args.write_tables, args)
    if args.take:
        take_others(args.take, cells, args)
        return take(args.take, cells, args)
    for row in wanted(args):
        old = cells.find(row)
        if old and not args.again and not ("failed" in old and args.again_failed):
            continue
        row = run(row, args)
        cells.add(row)
        print(told(row), flush=True)


if __name__ == "__main__":
    main()
