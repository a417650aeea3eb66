"""Prints Markdown tables of the rows in FOLDER: peers (run.py) and rflvm (ours.py), one table per data set and mask.

    python evidence/benchmarks/imputation/report.py FOLDER [--tables cmu] [--masks run20] [--seeds 1 2 3]

Mean ± one standard error over seeds; the best mean error and log density among the methods with the most seeds are in bold, and so
is a method with fewer seeds that is better still. A star marks methods whose standard deviation is that of their errors on validation cells.
"""

import json
import sys

import numpy as np

from ours import VARIANTS
from peers import METHODS
from prepare import chosen, masks_of
from run import rows

COLUMNS = {"mse": "MSE", "log_density": "log density", "in50": "in 50%", "in90": "in 90%"}
PATTERNS = {
    "random": "a random fifth of the cells",
    "run5": "runs of 5 rows in a column, a fifth of the cells",
    "run20": "runs of 20 rows in a column, a fifth of the cells",
    "run100": "runs of 100 rows in a column, a tenth of the cells",
    "rows20": "runs of 20 whole rows, a tenth of the rows",
}


def ours(folder):
    """Rows of rflvm by table, mask, seed and variant."""
    found = {}
    for path in sorted(folder.glob("rows/*.json")):
        case, variant = path.stem.split("+", 1)
        table, mask, seed = case.split("-")
        found[table, mask, int(seed), variant] = json.loads(path.read_text())
    return found


def labels(found):
    """What each method is called, in the order of the tables."""
    star = {key[3] for key, row in found.items() if row.get("sd_from") == "validation"}
    peers = {name: method.label + ("*" if name in star else "") for name, method in METHODS.items()}
    return peers | {v.name: f"rflvm, {v.name}" for v in VARIANTS}


def digits(key, size):
    """Errors of some series are small."""
    return f"{size:.4f}" if key == "mse" else f"{size:.3f}"


def cell(key, values, best):
    """Mean ± standard error, in bold if it is the best."""
    mean = np.mean(values)
    text = f"**{digits(key, mean)}**" if best else digits(key, mean)
    return text + (f" ± {digits(key, np.std(values, ddof=1) / np.sqrt(len(values)))}" if len(values) > 1 else "")


def section(found, table, mask, seeds, names):
    """Lines of the table of one data set and mask; none without rows."""
    methods = {}
    for name in names:
        every = [found[key] for seed in seeds if (key := (table, mask, seed, name)) in found]
        if every:
            methods[name] = every
    done = {name: [row for row in every if "failed" not in row] for name, every in methods.items()}
    most = max((len(every) for every in done.values()), default=0)
    full = [name for name, every in done.items() if most and len(every) == most]
    best = {}
    for key, sign in (("mse", 1), ("log_density", -1)):
        means = {name: sign * np.mean([row[key] for row in every]) for name, every in done.items() if every}
        least = min((means[name] for name in full), default=None)
        best[key] = [name for name in means if means[name] <= least]
    lines = []
    for name, every in methods.items():
        cells = [cell(key, [row[key] for row in done[name]], name in best.get(key, [])) if done[name] else "–" for key in COLUMNS]
        failed = [row["failed"] for row in every if "failed" in row]
        note = f"{len(failed)} failed: {failed[0]}" if failed else ""
        lines.append(f"| {names[name]} | {len(done[name])} | " + " | ".join(cells) + f" | {note} |")
    return lines


def main():
    parser = chosen(__doc__)
    args = parser.parse_args()
    about = json.loads((args.folder / "about.json").read_text())
    found = rows(args.folder) | ours(args.folder)
    names = labels(found)
    for name in sorted({key[3] for key in found} - set(names)):
        print(f"left out: {name}, which is not among the variants of ours.py", file=sys.stderr)
    for table in args.tables or about:
        for mask in masks_of(table):
            lines = section(found, table, mask, args.seeds, names) if mask in (args.masks or [mask]) else []
            if lines:
                facts = about[table]
                print(f"\n### {table}, {facts['rows']}×{facts['columns']}: {PATTERNS[mask]}\n")
                print("| method | seeds | " + " | ".join(COLUMNS.values()) + " | |\n|" + "---|" * (3 + len(COLUMNS)))
                print("\n".join(lines))


if __name__ == "__main__":
    main()
