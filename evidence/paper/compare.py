"""How often `rflvm compare` chooses the truth, on tables whose truth is known.

    python evidence/paper/compare.py [--parts dims families exact] [--likelihoods gaussian poisson …] [--replicates 1]

X is standard normal in D dimensions, each column of F a draw from a Gaussian process on it with an RBF kernel of length-scale √D
and unit variance, which uses all axes equally: a draw from the prior of the program may hardly use an axis, and then fewer
dimensions are right. Points are as similar in five dimensions as in one. The candidates learn their kernel. Cells: gaussian and
student-t (4 degrees of freedom) with noise of scale ½, counts with mean e^(1+f), dispersion r = 2 (negative-binomial), 30% more zeros
(zero-inflated-poisson), yes/no with odds e^(2f), multinomial rows of 100 trials.

`dims`: tables of each family with 1, 2, 3 and 5 latent dimensions, candidates 1 to 5.
`families`: tables of two dimensions of three families of counts, and of two of real numbers, each family a candidate.
`exact`: is the ranking right? In addition to the score on held-out cells, each candidate is fitted to the whole table and scored
on FRESH new tables of the same cells, drawn from the true functions and parameters.

Rows are written to OUT/compare.json as they finish, and are not run again.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import norm, spearmanr

import program
from rows import Rows
from scores import print_table

DIMS = [1, 2, 3, 5]
CANDIDATES = [1, 2, 3, 4, 5]
FAMILIES = ["gaussian", "poisson", "negative-binomial", "bernoulli", "multinomial"]
GROUPS = [["poisson", "negative-binomial", "zero-inflated-poisson"], ["gaussian", "student-t"]]
# New tables that a candidate is scored on.
FRESH = 20


def call(*words):
    """Runs a command that must succeed."""
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def functions(dim, seed, args):
    """F of a table, and the generator for its cells."""
    rng = np.random.default_rng([dim, seed])
    x = rng.normal(size=(args.rows, dim))
    square = ((x[:, None] - x[None]) ** 2).sum(2)
    factor = np.linalg.cholesky(np.exp(-0.5 * square / dim) + 1e-8 * np.eye(args.rows))
    return factor @ rng.normal(size=(args.rows, args.columns)), rng


def draw(family, f, rng):
    """The cells of a table."""
    rate = np.exp(1 + f)
    if family == "gaussian":
        return rng.normal(f, 0.5)
    if family == "student-t":
        return f + 0.5 * rng.standard_t(4, f.shape)
    if family == "poisson":
        return rng.poisson(rate)
    if family == "negative-binomial":
        return rng.poisson(rng.gamma(2, rate / 2))
    if family == "zero-inflated-poisson":
        return rng.poisson(rate) * (rng.random(f.shape) > 0.3)
    if family == "bernoulli":
        return rng.random(f.shape) < 1 / (1 + np.exp(-2 * f))
    return rng.multinomial(100, np.exp(f) / np.exp(f).sum(1, keepdims=True))


def simulate(folder, family, dim, seed, args):
    """Writes a table into the folder, and returns its functions."""
    f, rng = functions(dim, seed, args)
    program.write_table(folder / "table.csv", draw(family, f, rng).astype(float))
    return f


def sweeps(args):
    """The flags that fits and comparisons share."""
    return ["--features", args.features, "--warmup", args.warmup, "--draws", args.draws, "--chains", args.chains,
            "--threads", args.threads, "--seed", 1, "-q"]


def compare(folder, lists, args):
    """The lines of compare.csv, best first."""
    out = folder / "compare"
    call(args.program, "compare", folder / "table.csv", *lists, *sweeps(args), "--out", out)
    with open(out / "compare.csv") as file:
        return list(csv.DictReader(file))


def summary(lines, name):
    """What was chosen, what scored best, and all scores."""
    chosen = next(line for line in lines if line["recommended"] == "true")
    scores = {line[name]: [float(line["difference"]), float(line["difference_se"])] for line in lines}
    return {"chosen": chosen[name], "best": lines[0][name], "scores": scores}


def dims(rows, args):
    """True against chosen latent dimension."""
    for family in args.likelihoods:
        for dim in DIMS:
            for replicate in range(args.replicates):
                def work():
                    with tempfile.TemporaryDirectory() as folder:
                        folder = Path(folder)
                        simulate(folder, family, dim, replicate, args)
                        lists = ["--likelihood", family, "--latent-dims", ",".join(map(str, CANDIDATES))]
                        return summary(compare(folder, lists, args), "latent_dim")

                rows.run(["dims", family, str(dim), str(replicate)], settings(args), work, args.again)


def families(rows, args):
    """True against chosen family, two dimensions."""
    for group in GROUPS:
        for family in group:
            for replicate in range(args.replicates):
                def work():
                    with tempfile.TemporaryDirectory() as folder:
                        folder = Path(folder)
                        simulate(folder, family, 2, 900 + replicate, args)
                        return summary(compare(folder, ["--likelihoods", ",".join(group)], args), "likelihood")

                rows.run(["families", family, str(replicate)], settings(args), work, args.again)


def ln_density(family, y, f, theta):
    """ln p(y | f, θ) of each cell, in the parametrisation of the program."""
    if family == "gaussian":
        return norm.logpdf(y, f, theta**-0.5)
    if family == "poisson":
        return y * f - np.exp(f) - gammaln(y + 1)
    softplus = np.logaddexp(0, f)
    return gammaln(y + theta) - gammaln(theta) - gammaln(y + 1) + y * f - (y + theta) * softplus


PARAMETER = {"gaussian": "precision", "negative-binomial": "r"}


def fresh_score(folder, family, dim, tables, args):
    """Mean log predictive density of new tables under a fit of the whole table, averaged over draws inside the logarithm."""
    fit = folder / f"fit-{family}-{dim}"
    call(args.program, "fit", folder / "table.csv", "--likelihood", family, "--latent-dim", dim, *sweeps(args),
         "--keep", "f,theta", "--out", fit)
    call(args.program, "export", fit, "--what", "f", "--out", fit / "f.npy")
    f = np.load(fit / "f.npy")
    f = f.reshape(-1, *f.shape[2:])
    theta = np.ones((len(f), f.shape[2]))
    if family in PARAMETER:
        call(args.program, "export", fit, "--what", PARAMETER[family], "--out", fit / "theta.npy")
        theta = np.load(fit / "theta.npy").reshape(theta.shape)
    total = 0.0
    for y in tables:
        cells = ln_density(family, y[None], f, theta[:, None, :])
        total += (logsumexp(cells, axis=0) - np.log(len(f))).sum()
    return total / len(tables)


# The truth, and the candidates' families.
EXACT = [("gaussian", 3, ["gaussian"]), ("poisson", 2, ["poisson", "negative-binomial"]),
         ("negative-binomial", 3, ["poisson", "negative-binomial"])]


def exact(rows, args):
    """Our ranking compared with the ranking on new tables."""
    for family, dim, candidates in EXACT:
        def work():
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                f = simulate(folder, family, dim, 500, args)
                lists = ["--likelihoods", ",".join(candidates), "--latent-dims", ",".join(map(str, CANDIDATES))]
                lines = compare(folder, lists, args)
                rng = np.random.default_rng(1)
                tables = [draw(family, f, rng).astype(float) for _ in range(FRESH)]
                scores = []
                for line in lines:
                    by_fresh = fresh_score(folder, line["likelihood"], line["latent_dim"], tables, args)
                    scores.append([line["likelihood"], line["latent_dim"], float(line["elpd"]), by_fresh])
                chosen = next(k for k, line in enumerate(lines) if line["recommended"] == "true")
                return {"scores": scores, "chosen": chosen, "cells": f.size}

        rows.run(["exact", family, str(dim)], settings(args), work, args.again)


def settings(args):
    """What the results depend on."""
    names = ["rows", "columns", "features", "warmup", "draws", "chains"]
    return {name: getattr(args, name) for name in names}


def confusion(found, truths, choices, word, others):
    """Counts of choices, one line per truth; in brackets those by other rules, given as functions of a row in `others`."""
    def cell(truth, choice):
        of = [row for row in found if row["key"][-2] == str(truth)]
        counts = [sum(rule(row) == str(choice) for row in of) for rule in (lambda row: row["chosen"], *others)]
        return f"{counts[0]} ({', '.join(map(str, counts[1:]))})" if any(counts) else "·"

    lines = [[str(truth), *(cell(truth, choice) for choice in choices)] for truth in truths]
    print_table([f"true {word}", *map(str, choices)], lines)


def within_two(row):
    """The smallest latent dimension within two standard errors of the best."""
    return next(d for d in map(str, CANDIDATES) if -row["scores"][d][0] <= 2 * row["scores"][d][1])


def report(rows):
    """Confusion tables, and how the rankings agree."""
    for family in FAMILIES:
        found = [row for row in rows.rows if row["key"][:2] == ["dims", family]]
        if found:
            print(f"\n{family}: chosen latent dimension; in brackets by two standard errors, and by the best score.\n")
            confusion(found, DIMS, CANDIDATES, "D", [within_two, lambda row: row["best"]])
    for group in GROUPS:
        found = [row for row in rows.rows if row["key"][0] == "families" and row["key"][1] in group]
        if found:
            print("\nChosen family; in brackets the one with the best score.\n")
            confusion(found, group, group, "family", [lambda row: row["best"]])
    lines = []
    for row in rows.rows:
        if row["key"][0] == "exact":
            ours, fresh = (np.array([s[k] for s in row["scores"]]) for k in (2, 3))
            best, top = np.argmax(fresh), np.argmax(ours)

            def name(k):
                return f"{row['scores'][k][0]}, D = {row['scores'][k][1]}"

            lost = [f"{1e3 * (fresh[best] - fresh[k]) / row['cells']:.2f}" for k in (top, row["chosen"])]
            spread = f"{1e3 * (fresh[best] - fresh.min()) / row['cells']:.0f}"
            rho = f"{spearmanr(ours, fresh).statistic:.2f}"
            lines.append([f"{row['key'][1]}, D = {row['key'][2]}", str(len(ours)), rho, name(best), name(top),
                          name(row["chosen"]), *lost, spread])
    if lines:
        print("\nScores on held-out cells compared with those on new tables; losses in thousandths of a nat per cell.\n")
        print_table(["truth", "candidates", "Spearman", "best by fresh tables", "best by held-out cells", "chosen",
                     "lost by the best", "lost by the chosen", "worst candidate"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.set_defaults(warmup=150, draws=150, chains=1)
    parser.add_argument("--parts", nargs="*", choices=["dims", "families", "exact"], default=["dims", "families", "exact"])
    parser.add_argument("--likelihoods", nargs="*", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--replicates", type=int, default=1)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--features", type=int, default=50)
    args = parser.parse_args()
    rows = Rows(args.out / "compare.json")
    for part in args.parts:
        {"dims": dims, "families": families, "exact": exact}[part](rows, args)
    report(rows)


if __name__ == "__main__":
    main()
