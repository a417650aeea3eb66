"""Writes evidence/paper/RESULTS.md from the rows that table1.py, held.py and missing.py have kept.

    python evidence/paper/report.py [--out evidence/paper/results] [--to evidence/paper/RESULTS.md]
"""

import argparse
import csv
import tomllib
from pathlib import Path

import numpy as np

import missing
import ours
import program
import rules
import tables
from cells import Cells
from groups import SETS, TITLES, accuracy, chosen, spread, values
from methods import METHODS
from rows import Rows

HERE = Path(__file__).resolve().parent

HEAD = """\
# The paper's tables, measured

Written by `python evidence/paper/report.py` from the rows that `make paper` keeps; see [README](README.md). {dates}

## Table 1: accuracy of the nearest neighbour's label

Two latent dimensions; five-fold cross-validation of a 1-nearest-neighbour classifier of the positions, mean ± standard deviation over five
runs: run *s* has the method's seed *s* and the folds of `KFold(5, shuffle=True, random_state=s)`. A cell marked ¹ has fewer than five seeds of
the method, each scored with all five folds' seeds: its spread says little about other runs of the method (Isomap and DLA-GPLVM have no seed). In brackets what the paper reports. The best of a column is bold; "not run" is not yet run.
Other methods have their packages' or authors' default settings but for what the last section lists (GPy's models have 30 inducing points instead of 10);
ours have the program's, with the sweeps listed there, which differ between sets. The rows of chains are posterior means; the rows with MAP are the points that
`rflvm fit --method map` finds, in a second to two minutes, of the same models; those with a shared amplitude have `--amplitude shared`, a learned signal strength, as the other models with
Gaussian processes have, where our count and Bernoulli models have 1 by default. Chains with a shared amplitude are below.
"""

TIMES = """\

## Table 2: seconds

Seconds for one fit, mean over seeds: wall time / CPU time, and in brackets the wall time that the paper reports for its own machine, where RFLVMs
ran 100 iterations; ours ran the sweeps in the last section. One thread, except where the last section says otherwise. Many jobs
shared the machine, so the CPU time is the better measure: on an idle machine one thread takes about as long.
"""

HELD = """\

## Rows that were not fitted

In Table 1 every row shapes the map. Here a fifth of the rows is held out of the fit, placed by `transform`, and judged by the nearest neighbour
among the others: mean accuracy over random splits, which are the same for all methods. Differences are those of our best family, chosen
by its mean over these splits, to the method; the 90% interval is for the paired difference (corrected t; the choice of the family is not accounted for).
"""

IMPUTED = """\

## Table 3: hidden cells

A fifth of the cells hidden at random, the same ones for all methods; mean ± one standard error over the trials. A star marks methods without a
predictive variance, which get that of their errors on validation cells. Ours ran {sweeps}. Errors can be compared with the paper's only
as ratios to PPCA's: its tables are other draws, or prepared in ways that it does not tell. Ours: `static` has no times, `matern32` and `rbf` follow them and
have the program's default column processes, all with the paper's two or three axes; `rbf-alone` is the paper's model, without them; names with `-one` have one noise variance for all columns (the isotropic family), `rbf-one` without column processes; `matern32-10` has ten axes, `matern32-linear` a linear part of the map, and `matern32-chosen`
is the one of `matern32` and these two that predicts validation cells best, a tenth of the observed ones. PPCA, the linear dynamical model (ldm), GPDM and GPLVM have the paper's number of axes and one noise variance for all columns, `ldm-own` one for each, as our other models have, which costs
a little on Lorenz, where the noise of all columns is the same; `-rank` chooses it in the same way. `advised-rflvm` fills hidden cells with their columns' means and predicts them like the rest, as the script of its authors
does for pixels, so that it learns a fifth of its cells wrong. Methods without a line have not been run again since the rows are
kept; earlier figures are in [a trial](../trials/2026-11-15-table-3.md).
"""


def table3(rows):
    """The paper's Table 3, of the rows that there are."""
    if not rows.rows:
        return "\n## Table 3: hidden cells\n\nNot run again since the rows are kept; earlier figures are in [a trial](../trials/2026-11-15-table-3.md).\n"
    used = [row["settings"] for row in rows.rows if "chains" in row["settings"]]
    sweeps = sorted({f"{s['chains']} chain{'s' * (s['chains'] > 1)} of {s['warmup']} + {s['draws']} sweeps" for s in used}) or ["nothing yet"]
    minutes = sorted({row["settings"]["minutes"] for row in rows.rows if "minutes" in row["settings"]})
    text = IMPUTED.format(sweeps=" or ".join(sweeps))
    if minutes:
        text += f"`gplvm` had as many iterations as fit in {' or '.join(f'{m:g}' for m in minutes)} min of CPU time.\n"
    for label, lines in missing.results(rows, [str(k) for k in range(1, 6)]):
        text += f"\n**{label}**\n\n" + tables.markdown(missing.HEADER, lines)
    return text + "\n" + paired(rows)


def paired(rows):
    """Our best method of Table 3 and the best other one on each set, of those with the most trials."""
    sentences = []
    for name in missing.datasets.SETS:
        kept = {}
        for row in rows.rows:
            (place, trial, method), is_whole = row["key"], "mse" in row and "log_density" in row
            if place == name and trial != "given" and is_whole:
                kept.setdefault(method, {})[trial] = row
        most = max(map(len, kept.values()), default=0)
        kept = {method: trials for method, trials in kept.items() if len(trials) == most}
        leads = []
        for measure, sign, title in (("mse", 1, "MSE"), ("log_density", -1, "log density")):
            order = sorted(kept, key=lambda method: sign * np.mean([row[measure] for row in kept[method].values()]))
            pair = [next((m for m in order if (m in missing.OURS) == is_ours), None) for is_ours in (True, False)]
            both = sorted(set(kept.get(pair[0], {})) & set(kept.get(pair[1], {})))
            if both:
                found = [kept[pair[0]][t][measure] - kept[pair[1]][t][measure] for t in both]
                error = f" ± {np.std(found, ddof=1) / len(found) ** 0.5:.4f}" if len(found) > 1 else ""
                leads.append(f"{title} of `{pair[0]}` less that of `{pair[1]}` {np.mean(found):+.4f}{error} ({len(found)} trial{'s' * (len(found) > 1)})")
        if leads:
            sentences.append(f"{name}: " + ", ".join(leads))
    if not sentences:
        return ""
    said = "The best of ours and the best other method by each measure, of those with the most trials, paired by trial; the choice of either is not accounted for. "
    return said + "; ".join(sentences) + ".\n"


POINTS = """
### Which point of a posterior, and which of several chains?

Our chains are just behind another method on Bridges, Congress and Spam, and those of different seeds settle in different maps. Is there a rule without labels, the same for all
sets, that helps? The rules were written down before any of them was scored. Chains have {sweeps} sweeps, of which fifty draws are kept; means over five runs ± standard
deviation. The last columns are over twenty chains: the gain of medians and of expected distances over means, with its standard error, and the rank correlation of accuracy and
mean log joint density.
"""

FOUND = """
Spatial medians gain where rows have draws in two places, and lose nowhere by more than two standard errors; they are in `embedding.csv`, and Table 1 still shows means, as the paper does. A higher
density does not go with a higher accuracy, so choosing among chains by it does not help. Distances averaged over four chains would be ahead of every method of Table 1 on Bridges,
Congress and Spam, but they are no longer two numbers per row, and another method gains by the same means: HPF, with one run and with four, has
{other}. So they are no row of Table 1.
"""


def points(rows):
    """What rules other than the posterior mean of one chain would give."""
    cells = [row for row in rows.rows if "rules" in row]
    if not cells:
        return ""
    lines = []
    for row in cells:
        name, family = row["key"]
        line = [f"{SETS[name]}, {TITLES[family].removesuffix(' RFLVM')}"]
        line += [f"{np.mean(row['rules'][rule]):.3f} ± {np.std(row['rules'][rule], ddof=1):.3f}" for rule in rules.RULES]
        for kind in ("median", "distance"):
            gain = np.subtract(row["each"][kind], row["each"]["mean"])
            line.append(f"{gain.mean():+.4f} ± {gain.std(ddof=1) / len(gain) ** 0.5:.4f}")
        ranks = [np.argsort(np.argsort(values)) for values in (row["log_joint"], row["each"]["mean"])]
        lines.append([*line, f"{np.corrcoef(*ranks)[0, 1]:+.2f}"])
    header = ["", *rules.RULES, "median − mean", "distance − mean", "rank correlation"]
    legend = "".join(f"- {rule}: {what}\n" for rule, what in rules.RULES.items())
    sweeps = sorted({f"{s['warmup']} + {s['draws'] * s['thin']}" for s in (row["settings"] for row in cells)})
    others = [f"{np.mean(row['one']):.3f} and {np.mean(row['four']):.3f} on {SETS[row['key'][0]]}" for row in rows.rows if "four" in row]
    return POINTS.format(sweeps=" or ".join(sweeps)) + "\n" + tables.markdown(header, lines) + "\n" + legend + FOUND.format(other=", ".join(others))


def published():
    """What the paper reports, by set and method."""
    with open(HERE / "published.csv") as file:
        return {(row["set"], row["method"]): {k: float(row[k]) for k in ("accuracy", "sd", "minutes", "se")} for row in csv.DictReader(file)}


def error(*groups):
    """Standard error of the difference of two means over runs."""
    return float(np.sqrt(sum(spread(group) ** 2 / max(1, len(values(group)) - 1) for group in groups)))


def shortfalls(best, paper):
    """A sentence for every set where our best family is behind the paper's, or behind another method measured here."""
    reasons = tomllib.loads((HERE / "reasons.toml").read_text())
    lines, close, reached, ahead, run = [], [], 0, 0, 0
    parts = {"By chains alone": set(ours.FAMILIES), "With default settings alone": {m for m in ours.OURS if not m.endswith("-shared")}}
    of_part = {part: [0, 0] for part in parts}
    for name, title in SETS.items():
        mine = {m: value for m in ours.OURS if (value := accuracy(best.get((name, m)))) is not None}
        if not mine:
            lines.append(f"- {title}: none of our families has been run yet.")
            continue
        run += 1
        family = max(mine, key=mine.get)
        theirs = max((m for m in ours.FAMILIES if (name, m) in paper), key=lambda m: paper[name, m]["accuracy"])
        there = paper[name, theirs]
        others = {m: value for m in METHODS if (value := accuracy(best.get((name, m)))) is not None}
        better = sorted((m for m in others if others[m] > mine[family]), key=others.get, reverse=True)
        reached += mine[family] >= there["accuracy"]
        ahead += not better
        for part, methods in parts.items():
            top = max((mine[m] for m in methods if m in mine), default=0)
            of_part[part][0] += top >= there["accuracy"]
            of_part[part][1] += all(top >= value for value in others.values())
        text = f"- {title}: {TITLES[family]}, {mine[family]:.3f}"
        if mine[family] < there["accuracy"]:
            gap = (there["accuracy"] - mine[family]) / there["sd"]
            text += f", is {gap:.1f} of the paper's standard deviations below the paper's {TITLES[theirs]} ({there['accuracy']:.3f} ± {there['sd']:.3f})"
        else:
            text += f", is at or above the paper's {TITLES[theirs]} ({there['accuracy']:.3f} ± {there['sd']:.3f})"
        gaps = {m: (others[m] - mine[family], error(best[name, m], best[name, family])) for m in better}
        close += [title] * bool(better and all(gap < 2 * uncertain for gap, uncertain in gaps.values()))
        lead = [f"{TITLES[m]} ({others[m]:.3f}, by {gap:.4f} ± {uncertain:.4f})" for m, (gap, uncertain) in gaps.items()]
        ahead_of_it = f"{len(better)} ahead of it: " + ", ".join(lead) if better else "none is ahead of it"
        text += f". Of {len(others)} other methods measured, {ahead_of_it}"
        size = best[name, family][0]["rows"]
        text += f"; one standard error of an accuracy of {size} rows is {(mine[family] * (1 - mine[family]) / size) ** 0.5:.3f}"
        lines.append(text + "." + (f" {reasons[name].strip()}" if name in reasons else ""))
    head = f"Our best is at or above the paper's best RFLVM on {reached} of {run} sets, and at or above every other method measured here on {ahead} of {run}."
    if close:
        head += f" On {len(close)} more, {' and '.join(close)}, no method is ahead of it by two standard errors."
    alone = " ".join(f"{part} it is {counts[0]} and {counts[1]} of {run}." for part, counts in of_part.items())
    choice = "The best of six families, by chains, by MAP or by MAP with a shared amplitude, is chosen with the labels, as the best of the other methods is; the shared amplitude was tried after the defaults had fallen short."
    errors = "A lead has one standard error over the runs, in cells marked ¹ over the folds alone, which does not count that the rows themselves are a sample."
    return f"{head} {alone} {choice} {errors}\n\n" + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=program.ROOT / "evidence/paper/results", help="folder of the rows")
    parser.add_argument("--to", type=Path, default=HERE / "RESULTS.md")
    args = parser.parse_args()
    rows, paper = list(Cells(args.out).rows().values()), published()
    best = chosen(rows)
    dates = sorted(row["date"][:10] for row in rows)
    text = HEAD.format(dates=f"Rows of {dates[0]} to {dates[-1]}." if dates else "No rows yet.") + "\n" + tables.table1(best, paper)
    text += "\n### Where ours stands\n\n" + shortfalls(best, paper)
    text += "\n### Do shorter chains change the answer?\n\n" + tables.sweeps(rows)
    text += "\n### Other settings of ours\n\n" + tables.variants(rows)
    text += points(Rows(args.out / "rules.json"))
    text += TIMES + "\n" + tables.table2(best, paper)
    text += HELD + tables.held(Cells(args.out / "held").rows().values())
    text += table3(Rows(args.out / "missing.json"))
    text += "\n## Every cell of Tables 1 and 2\n\n" + tables.every(best)
    args.to.write_text(text)


if __name__ == "__main__":
    main()
