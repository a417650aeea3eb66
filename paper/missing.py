"""The paper's Table 3: mean squared error of 20% hidden cells, mean ± one standard error of five trials.

    python paper/missing.py [--sets s_curve lorenz cmu forex] [--methods ppca ldm static matern32 rbf] [--trials 5]

Trial k hides each cell with probability 0.2, using a generator with seed k, the same for all methods. The S-curve and
Lorenz tables also come with a mask, reported in a separate row. `static` is rflvm without times,
`matern32` and `rbf` are rflvm with times and that kernel over them.
CMU and forex are standardised before cells are hidden, as in the authors' group's loaders; the paper does not say how
it prepared them, and its S-curve and Lorenz tables are different draws, so ratios between methods can be compared with the
paper, but errors cannot.

Rows are written to OUT/missing.json as they finish and are not run again, so a long run can be done in parts; `--methods`
with no name only prints the existing rows.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import datasets
import ldm
import ppca
import program
from rows import Rows
from scores import mean_and_error, print_table, scores

# The dynamic model by its kernel over time: a rough one, and a smooth one.
DYNAMIC = ["matern32", "rbf"]
METHODS = ["ppca", "ldm", "static", *DYNAMIC]

# The paper's errors: PPCA, its linear dynamical model, its static and its dynamic RFLVM.
PAPER = {
    "s_curve": (0.761, 0.768, 0.367, 0.344),
    "lorenz": (1.227, 1.256, 1.221, 1.198),
    "cmu": (0.084, 0.088, 0.093, 0.075),
    "forex": (0.3237, 0.3605, 0.3289, 0.1317),
}


def hidden(data, trial):
    """The cells hidden in a trial: `given`, or the number of the trial."""
    return data.given if trial == "given" else np.random.default_rng(int(trial)).random(data.y.shape) < 0.2


def predict(method, data, y, trial, args):
    """Tables of the hidden cells, by one method."""
    if method in ("ppca", "ldm"):
        mean, sd = {"ppca": ppca, "ldm": ldm}[method].impute(y, data.dim)
        return {"mean": mean, "sd": sd}
    timed = {"time": data.time, "kernel": method} if method in DYNAMIC else {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program.fit(folder, y, data.dim, 1 if trial == "given" else int(trial), args, **timed)
        return program.impute(folder, y.shape, args)


def run(name, data, trials, rows, args):
    """All trials of a data set by all requested methods."""
    for method in args.methods:
        chosen = {}
        if method not in ("ppca", "ldm"):
            chosen = program.settings(args, method if method in DYNAMIC else None)
        for trial in trials:
            mask = hidden(data, trial)

            def work():
                y = np.where(mask, np.nan, data.y)
                return scores(data.y, predict(method, data, y, trial, args), mask)

            rows.run([name, trial, method], chosen, work, args.again)


def report(rows, trials):
    """Prints errors next to those of the paper, and coverage of intervals."""
    errors, inside = [], []
    for name in datasets.SETS:
        for label, chosen in ((name, trials), (f"{name}, given mask", ["given"])):
            found = {m: [row for t in chosen if (row := rows.find([name, t, m]))] for m in METHODS}
            if not any(found.values()):
                continue
            mse = {m: [row["mse"] for row in found[m]] for m in METHODS}
            ratios = []
            for k, method in enumerate(METHODS[1:], 1):
                pairs = [(row, rows.find([*row["key"][:2], "ppca"])) for row in found[method]]
                same = [(row["mse"], base["mse"]) for row, base in pairs if base]
                ours = f"{np.mean([a for a, _ in same]) / np.mean([b for _, b in same]):.3f}" if same else "–"
                ratios.append(f"{ours} ({PAPER[name][min(k, 3)] / PAPER[name][0]:.3f})")
            counts = "/".join(str(len(found[m])) for m in METHODS)
            errors.append([label, *(mean_and_error(mse[m]) for m in METHODS), *ratios, counts])
            for method in METHODS:
                known = [row for row in found[method] if "inside50" in row]
                if known:
                    halves, nineties = ([row[key] for row in known] for key in ("inside50", "inside90"))
                    inside.append([label, method, mean_and_error(halves), mean_and_error(nineties)])
    print("\nMean squared error of hidden cells; ratios are to PPCA, the paper's in brackets.\n")
    print_table(["set", *METHODS, *(f"{m}/ppca" for m in METHODS[1:]), "trials"], errors)
    print("\nShare of hidden cells inside their central intervals.\n")
    print_table(["set", "method", "50%", "90%"], inside)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--sets", nargs="*", choices=datasets.SETS, default=list(datasets.SETS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--only-given", action="store_true", help="only the masks that come with the data")
    args = parser.parse_args()
    rows = Rows(args.out / "missing.json")
    trials = [str(k + 1) for k in range(args.trials)]
    for name in args.sets:
        try:
            data = datasets.SETS[name](args.data)
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
            continue
        given = [] if data.given is None else ["given"]
        run(name, data, given + ([] if args.only_given else trials), rows, args)
    report(rows, trials)


if __name__ == "__main__":
    main()
