"""The paper's Table 3: mean squared error of 20% hidden cells, mean ± one standard error of five trials, and more.

    python evidence/paper/missing.py [--sets s_curve lorenz cmu forex] [--methods mean ppca …] [--trials 5]

Trial k hides each cell with probability 0.2, using a generator with seed k, the same for all methods. The S-curve and
Lorenz tables also come with a mask, reported in a separate row. `static` is rflvm without times,
`matern32` and `rbf` are rflvm with times, that kernel over them, and the program's default column processes; `matern32-10` has ten latent axes
instead of the paper's two or three, `matern32-linear` a linear part of the map; `rbf-alone` is the paper's model, without column processes. `matern32-chosen` is that one of `matern32`, `matern32-10` and `matern32-linear` which has the least squared error on
cells hidden for validation, a tenth of the observed ones, after half the sweeps; the hidden cells themselves have no part in the choice.
`static-one`, `matern32-one` and `rbf-one` have one noise variance for all columns (the isotropic family), the last without column processes.
`ppca`, `ldm`, `gpdm` and `gplvm` (GPy's Bayesian one) have the paper's number of axes and one noise variance for all columns, `ldm-own` one for each, as ours have; `ppca-rank` and `ldm-rank` choose it, and `knn` its neighbours,
by cells hidden for validation. `advised-rflvm` is run from a clone in the folder of --peers, and left out without one. The two with `-rank`, `mean`, `knn`, `iterative` and `gplvm` are the methods of evidence/benchmarks/imputation.

Besides the error: the mean log predictive density of the hidden cells, and the share of them inside central intervals. A star marks
methods without a predictive variance, which get that of their errors on validation cells of the column.
CMU and forex are standardised before cells are hidden, as in the authors' group's loaders; the paper does not say how
it prepared them, and its S-curve and Lorenz tables are different draws, so ratios between methods can be compared with the
paper, but errors cannot.

Rows are written to OUT/missing.json as they finish and are not run again, so a long run can be done in parts; `--methods`
with no name only prints the existing rows. A method that fails has a row that says so.
"""

import argparse
import importlib.util
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import datasets
import ldm
import ppca
import program
from rows import Rows
from scores import mean_and_error, print_table, scores

# The dynamic model by its kernel over time: a rough one, and a smooth one; and with what the paper's does not have.
DYNAMIC = ["matern32", "rbf", "rbf-alone", "matern32-10", "matern32-linear", "matern32-one", "rbf-one"]
# Of these, validation chooses one.
CANDIDATES = ["matern32", "matern32-10", "matern32-linear"]
CHOSEN = "matern32-chosen"
OURS = ["static", "static-one", *DYNAMIC, CHOSEN]
# By their names in evidence/benchmarks/imputation/peers.py.
PEERS = {"mean": "mean", "knn": "knn", "iterative": "iterative", "gplvm": "gplvm", "ppca-rank": "ppca", "ldm-rank": "ldm"}
# Code of the authors' group, for as many iterations as its script has.
CLONED, ITERATIONS = "advised-rflvm", 10000
METHODS = ["mean", "knn", "iterative", "ppca", "ppca-rank", "ldm", "ldm-own", "ldm-rank", "gpdm", "gplvm", CLONED, *OURS]

# The paper's errors; its dynamic RFLVM has one kernel.
PAPER = {
    "s_curve": {"ppca": 0.761, "ldm": 0.768, "gpdm": 0.390, "gplvm": 0.479, "static": 0.367, "dynamic": 0.344},
    "lorenz": {"ppca": 1.227, "ldm": 1.256, "gpdm": 1.316, "gplvm": 1.641, "static": 1.221, "dynamic": 1.198},
    "cmu": {"ppca": 0.084, "ldm": 0.088, "gpdm": 0.183, "gplvm": 0.071, "static": 0.093, "dynamic": 0.075},
    "forex": {"ppca": 0.3237, "ldm": 0.3605, "gpdm": 0.2327, "gplvm": 1.0019, "static": 0.3289, "dynamic": 0.1317},
}


def hidden(data, trial):
    """The cells hidden in a trial: `given`, or the number of the trial."""
    return data.given if trial == "given" else np.random.default_rng(int(trial)).random(data.y.shape) < 0.2


@cache
def imputation():
    """The methods of evidence/benchmarks/imputation, whose peers.py has the name of another one here."""
    folder = program.ROOT / "evidence/benchmarks/imputation"
    sys.path.append(str(folder))
    spec = importlib.util.spec_from_file_location("imputation_peers", folder / "peers.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings(method, args):
    """What is stored with a row: the sweeps of ours, the minutes that the GPLVM may take."""
    if method == "gplvm":
        return {"minutes": args.gplvm_minutes}
    return program.settings(args, method if method in [*DYNAMIC, CHOSEN] else None) if method in OURS else {}


def of_ours(method, data, y, seed, args):
    """Tables of the hidden cells by rflvm, with the program's own scores of them."""
    kernel, _, more = method.partition("-")
    timed = {"time": data.time, "kernel": kernel} if method in DYNAMIC else {}
    alone = ["--column-process", "none"]
    flags = {"matern32-linear": ["--linear", "learned"], "rbf-alone": alone, "rbf-one": alone}.get(method, [])
    family = "isotropic" if more == "one" else "gaussian"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program.fit(folder, y, int(more) if more.isdigit() else data.dim, seed, args, **timed, family=family, flags=flags)
        tables = program.impute(folder, y.shape, args)
        return tables | {"own": program.score(folder, data.y, timed.get("time"), args)}


def validated(data, y, seed, args):
    """Which of CANDIDATES has the least squared error on validation cells, and the errors."""
    held = ~np.isnan(y) & (np.random.default_rng([seed, 1]).random(y.shape) < 0.1)
    short = argparse.Namespace(**vars(args) | {"warmup": args.warmup // 2, "draws": args.draws // 2})
    errors = {}
    for method in CANDIDATES:
        tables = of_ours(method, data, np.where(held, np.nan, y), seed, short)
        errors[method] = float(((tables["mean"] - y)[held] ** 2).mean())
    return min(errors, key=errors.get), errors


def of_chosen(key, data, y, mask, seed, rows, args):
    """Scores of the chosen candidate, whose fit to these cells is not repeated if it is among the rows."""
    best, errors = validated(data, y, seed, args)
    about = {"chosen": best, "validation": errors}
    row = rows.find([*key[:2], best])
    if row and row["settings"] == settings(best, args) and "mse" in row:
        return {name: row[name] for name in ("mse", "log_density", "inside50", "inside90")} | about
    tables = of_ours(best, data, y, seed, args)
    return scores(data.y, tables, mask) | tables["own"] | about


def advised(data, y, seed):
    """Tables of all cells by advisedRFLVM, which gives no spread: it is that of its errors on cells hidden for validation, a tenth of the observed ones."""
    from peers import advised_cells

    held = ~np.isnan(y) & (np.random.default_rng([seed, 1]).random(y.shape) < 0.1)
    errors = np.where(held, advised_cells(np.where(held, np.nan, y), data.dim, seed, ITERATIONS) - y, np.nan)
    sd = np.broadcast_to(imputation().spread(errors), y.shape)
    return {"mean": advised_cells(y, data.dim, seed, ITERATIONS), "sd": np.maximum(sd, 1e-6), "about": {"sd_from": "validation"}}


def predict(method, data, y, seed, args):
    """Tables of the hidden cells, by one method."""
    if method in OURS:
        return of_ours(method, data, y, seed, args)
    if method in ("ppca", "ldm", "ldm-own"):
        mean, sd = ppca.impute(y, data.dim) if method == "ppca" else ldm.impute(y, data.dim, diagonal=method == "ldm-own")
        return {"mean": mean, "sd": sd}
    if method == "gpdm":
        from baselines import gpdm

        mean, variance = gpdm.impute(y, data.dim, seed)
        return {"mean": mean, "sd": np.sqrt(variance)}
    if method == CLONED:
        return advised(data, y, seed)
    peers = imputation()
    peer = peers.METHODS[PEERS[method]]
    if method == "gplvm":
        peer.candidates = (data.dim,)
        peers.GPLVM_SECONDS = 60 * args.gplvm_minutes
    mean, sd, chosen, source = peers.impute(peer, y, data.time, peers.MASKS["random"])
    return {"mean": mean, "sd": np.maximum(sd, 1e-6), "about": {"chosen": chosen, "sd_from": source}}


def run(name, data, trials, rows, args):
    """All trials of a data set by all requested methods."""
    for trial in trials:
        mask = hidden(data, trial)
        y = np.where(mask, np.nan, data.y)
        for method in args.methods:

            def work():
                seed = 1 if trial == "given" else int(trial)
                try:
                    if method == CHOSEN:
                        return of_chosen([name, trial], data, y, mask, seed, rows, args)
                    tables = predict(method, data, y, seed, args)
                    return scores(data.y, tables, mask) | tables.get("own", {}) | tables.get("about", {})
                except (FileNotFoundError, ImportError):
                    raise  # Says nothing about the method: the program or a package was not found.
                except Exception as error:  # Whatever a method raises is its result.
                    return {"failed": f"{type(error).__name__}: {error}"}

            rows.run([name, trial, method], settings(method, args), work, args.again)


def ratio(rows, name, method, found):
    """Mean error over that of PPCA on the same trials, and the paper's ratio in brackets."""
    pairs = [(row["mse"], base["mse"]) for row in found if (base := rows.find([*row["key"][:2], "ppca"]))]
    paper = PAPER[name].get("dynamic" if method in [*DYNAMIC, CHOSEN] else method)
    said = f"{np.mean([a for a, _ in pairs]) / np.mean([b for _, b in pairs]):.3f}" if pairs else ""
    return said + (f" ({paper / PAPER[name]['ppca']:.3f})" if paper else "")


def line(rows, name, method, trials):
    """Cells of a method's line, or None if it has not been run."""
    found = [row for t in trials if (row := rows.find([name, t, method]))]
    done = [row for row in found if "mse" in row]
    if not done:
        return [method, found[0]["failed"], "", "", "", "", "", ""] if found else None
    star = "*" if done[0].get("sd_from") == "validation" else ""
    means = [mean_and_error([row[key] for row in done if key in row]) for key in ("mse", "log_density", "inside50", "inside90")]
    seconds = f"{np.mean([row['seconds'] for row in done]):.0f}"
    failures = f", {len(found) - len(done)} failed" if len(done) < len(found) else ""
    return [method + star, means[0], ratio(rows, name, method, done), *means[1:], seconds, f"{len(done)}{failures}"]


HEADER = ["method", "MSE", "over PPCA's (paper)", "log density", "50% hold", "90% hold", "seconds", "trials"]


def results(rows, trials):
    """For each data set and kind of mask that has rows: its name, and the lines of its table."""
    for name in datasets.SETS:
        for label, chosen in ((name, trials), (f"{name}, given mask", ["given"])):
            lines = [cells for method in METHODS if (cells := line(rows, name, method, chosen))]
            if lines:
                yield label, lines


def report(rows, trials):
    """A table for each data set and kind of mask."""
    for label, lines in results(rows, trials):
        print(f"\n**{label}**\n")
        print_table(HEADER, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--sets", nargs="*", choices=datasets.SETS, default=list(datasets.SETS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--gplvm-minutes", type=float, default=6, help="CPU minutes that bound the iterations of GPy's GPLVM")
    parser.add_argument("--only-given", action="store_true", help="only the masks that come with the data")
    parser.add_argument("--peers", type=Path, help="folder with a clone of zhidilin/advisedGPLVM")
    args = parser.parse_args()
    if args.peers and (args.peers / "advisedGPLVM").is_dir():
        os.environ["RFLVM_PEERS"] = str(args.peers)
    elif CLONED in args.methods:
        where = f"{args.peers} has no folder advisedGPLVM; " if args.peers else ""
        print(f"SKIPPED {CLONED}: {where}clone https://github.com/zhidilin/advisedGPLVM into a folder, and name that folder with --peers", file=sys.stderr)
        args.methods = [method for method in args.methods if method != CLONED]
    rows = Rows(args.out / "missing.json")
    trials = [str(k + 1) for k in range(args.trials)]
    for name in args.sets:
        try:
            data = datasets.SETS[name](args.data)
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
            continue
        if not args.program.exists() and set(args.methods) & set(OURS):
            sys.exit(f"{args.program} was not found: build it with `cargo build --release`, name another with --program, or choose other --methods")
        given = [] if data.given is None else ["given"]
        try:
            run(name, data, given + ([] if args.only_given else trials), rows, args)
        except ImportError as missing:
            sys.exit(f"{missing}: install evidence/paper/requirements.txt, or choose other --methods")
    report(rows, trials)


if __name__ == "__main__":
    main()
