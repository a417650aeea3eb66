"""Writes paper/RESULTS.md from the rows that table1.py and held.py have kept.

    python paper/report.py [--out paper/results] [--to paper/RESULTS.md]
"""

import argparse
import csv
import tomllib
from pathlib import Path

import numpy as np

import ours
import program
from cells import Cells
from held import difference
from methods import METHODS

TITLES = {name: method.title for name, method in METHODS.items()} | {name: f"{title} RFLVM" for name, (title, _) in ours.FAMILIES.items()}
SETS = dict(bridges="Bridges", cifar10="CIFAR-10", congress109="Congress", mnist="MNIST", montreal="Montreal", newsgroups="Newsgroups", spam="Spam", yale="Yale")
SWEEPS = ("warmup", "draws", "chains")
HERE = Path(__file__).resolve().parent

HEAD = """\
# The paper's tables, measured

Written by `python paper/report.py` from the rows that `make paper` keeps; see [README](README.md). {dates}

## Table 1: accuracy of the nearest neighbour's label

Two latent dimensions; five-fold cross-validation of a 1-nearest-neighbour classifier of the positions, mean ± standard deviation over five
runs: run *s* has the method's seed *s* and the folds of `KFold(5, shuffle=True, random_state=s)`. A cell marked ¹ has fewer than five seeds of
the method, and its spread is over the five seeds of the folds alone. In brackets what the paper reports. The best of a column is bold; "not run" is not yet run.
Other methods have their packages' default settings, ours the program's, with the sweeps that the last section lists.
"""

TIMES = """\

## Table 2: seconds

Seconds of wall time for one fit, mean over seeds, and in brackets what the paper reports for its own machine, where RFLVMs ran 100 iterations; ours ran
the sweeps in the last section. One thread, except where the last section says otherwise; several jobs shared the machine,
so CPU seconds, in the last section, are the better measure.
"""

HELD = """\

## Rows that were not fitted

In Table 1 every row shapes the map. Here a fifth of the rows is held out of the fit, placed by `transform`, and judged by the nearest neighbour
among the others: mean accuracy over random splits, which are the same for all methods. Differences are those of our best family, chosen
by its mean over these splits, to the method; the 90% interval is for the paired difference (corrected t; the choice of the family is not accounted for).
"""


def published():
    """What the paper reports, by set and method."""
    with open(HERE / "published.csv") as file:
        return {(row["set"], row["method"]): {k: float(row[k]) for k in ("accuracy", "sd", "minutes", "se")} for row in csv.DictReader(file)}


def plain(row):
    """Whether all settings but the sweeps are the defaults."""
    return row["method"] not in ours.FAMILIES or set(row["settings"]) <= set(SWEEPS)


def groups(rows):
    """Rows of the same set, method and settings, by seed."""
    found = {}
    for row in rows:
        found.setdefault((row["set"], row["method"], str(row["settings"])), []).append(row)
    return [sorted(group, key=lambda row: row["seed"]) for group in found.values()]


def chosen(rows):
    """For every set and method the group that the tables show: default settings; what worked before what failed, more seeds first,
    then more sweeps."""

    def rank(group):
        good = [row for row in group if "failed" not in row]
        return bool(good), len(good), sum(group[0]["settings"].get(name, 0) for name in ("warmup", "draws"))

    best = {}
    for group in groups(row for row in rows if plain(row)):
        key = group[0]["set"], group[0]["method"]
        if key not in best or rank(group) > rank(best[key]):
            best[key] = group
    return best


def values(group):
    """Accuracies of the runs: five seeds paired with the folds of their own number, or else all folds of the seeds there are."""
    good = [row for row in group if "failed" not in row]
    if {row["seed"] for row in good} >= set(range(5)):
        return [row["accuracy"] for row in good if row["seed"] < 5]
    return [value for row in good for value in row["accuracies"]]


def accuracy(group):
    """Mean accuracy, or None."""
    found = values(group) if group else []
    return float(np.mean(found)) if found else None


def markdown(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in [header, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]) + "\n"


def table1(best, paper):
    """Methods by sets."""
    tops = {name: max((value for m in TITLES if (value := accuracy(best.get((name, m)))) is not None), default=None) for name in SETS}
    lines = []
    for method, title in TITLES.items():
        line = [title]
        for name in SETS:
            group, there = best.get((name, method)), paper.get((name, method))
            mean = accuracy(group)
            if mean is None:
                text = "failed" if group else "not run"
            else:
                text = f"{mean:.3f} ± {np.std(values(group)):.3f}"
                text = f"**{text}**" if round(mean, 3) == round(tops[name], 3) else text
                text += "" if len(values(group)) == 5 and len([r for r in group if "failed" not in r]) >= 5 else "¹"
            line.append(text + (f" ({there['accuracy']:.3f} ± {there['sd']:.3f})" if there else ""))
        lines.append(line)
    return markdown(["", *SETS.values()], lines)


def table2(best, paper):
    """Seconds, methods by sets."""
    lines = []
    for method, title in TITLES.items():
        line = [title]
        for name in SETS:
            times = [row["wall"] for row in best.get((name, method), []) if "failed" not in row]
            there = paper.get((name, method))
            text = f"{np.mean(times):.3g}" if times and np.mean(times) < 100 else f"{np.mean(times):.0f}" if times else "failed" if (name, method) in best else "not run"
            line.append(text + (f" ({60 * there['minutes']:.3g})" if there and 60 * there["minutes"] < 100 else f" ({60 * there['minutes']:.0f})" if there else ""))
        lines.append(line)
    return markdown(["", *SETS.values()], lines)


def shortfalls(best, paper):
    """A sentence for every set where our best family is behind the paper's, or behind another method measured here."""
    reasons = tomllib.loads((HERE / "reasons.toml").read_text())
    lines, reached, ahead, run = [], 0, 0, 0
    for name, title in SETS.items():
        mine = {m: value for m in ours.FAMILIES if (value := accuracy(best.get((name, m)))) is not None}
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
        text = f"- {title}: {TITLES[family]}, {mine[family]:.3f}"
        if mine[family] < there["accuracy"]:
            gap = (there["accuracy"] - mine[family]) / there["sd"]
            text += f", is {gap:.1f} of the paper's standard deviations below the paper's {TITLES[theirs]} ({there['accuracy']:.3f} ± {there['sd']:.3f})"
        else:
            text += f", is at or above the paper's {TITLES[theirs]} ({there['accuracy']:.3f} ± {there['sd']:.3f})"
        text += "; ahead of it here: " + ", ".join(f"{TITLES[m]} ({others[m]:.3f})" for m in better) if better else "; no other method measured here is ahead of it"
        lines.append(text + "." + (f" {reasons[name].strip()}" if name in reasons else ""))
    head = f"Our best family is at or above the paper's best RFLVM on {reached} of {run} sets, and at or above every other method measured here on {ahead} of {run}."
    return f"{head} The best of five families is chosen with the labels, as the best of the other methods is.\n\n" + "\n".join(lines) + "\n"


def sweeps(rows):
    """Cells of ours that were run with several numbers of sweeps, on the seeds that they share."""
    found = {}
    for group in groups(row for row in rows if row["method"] in ours.FAMILIES and plain(row) and "failed" not in row):
        found.setdefault((group[0]["set"], group[0]["method"]), []).append(group)
    lines = []
    for (name, method), several in sorted(found.items()):
        seeds = set.intersection(*({row["seed"] for row in group} for group in several))
        if len(several) > 1 and seeds:
            several.sort(key=lambda group: group[0]["settings"]["warmup"] + group[0]["settings"]["draws"])
            same = [[row for row in group if row["seed"] in seeds] for group in several]
            texts = [f"{described(g[0])}: {np.mean([np.mean(r['accuracies']) for r in g]):.3f}" for g in same]
            lines.append([SETS[name], TITLES[method], "; ".join(texts), str(len(seeds))])
    if not lines:
        return "No cell has been run with two numbers of sweeps yet.\n"
    return markdown(["set", "family", "accuracy by sweeps", "seeds"], lines)


def described(row):
    """Settings in a few words."""
    words = dict(row["settings"])
    text = f"{words.pop('warmup')} + {words.pop('draws')} sweeps" if "warmup" in words else ""
    chains = words.pop("chains", 1)
    text += f", {chains} chains" if chains != 1 else ""
    return ", ".join([text] * bool(text) + [f"{key} {value}" for key, value in words.items()]) or "defaults"


def variants(rows):
    """Our fits with other settings than the defaults."""
    lines = []
    for group in groups(row for row in rows if not plain(row)):
        found = values(group)
        text = f"{np.mean(found):.3f} ± {np.std(found):.3f}" if found else f"failed: {group[0]['failed']}"
        lines.append([SETS[group[0]["set"]], TITLES[group[0]["method"]], described(group[0]), text, str(len(group))])
    return markdown(["set", "family", "settings", "accuracy", "seeds"], sorted(lines)) if lines else "None have been run yet.\n"


def held(rows):
    """The stricter rule."""
    found = {}
    for group in groups(row for row in rows if "failed" not in row):
        found.setdefault(group[0]["set"], {})[group[0]["method"]] = {row["seed"]: row for row in group}
    text = ""
    for name in SETS:
        methods = found.get(name, {})
        if not any(m in ours.FAMILIES for m in methods):
            continue
        means = {m: np.mean([row["accuracy"] for row in by.values()]) for m, by in methods.items()}
        mine = max((m for m in methods if m in ours.FAMILIES), key=means.get)
        one = next(iter(methods[mine].values()))
        lines = []
        for method in sorted(methods, key=means.get, reverse=True):
            both = sorted(set(methods[method]) & set(methods[mine]))
            gap, half = difference(*([methods[m][seed]["accuracy"] for seed in both] for m in (mine, method)))
            lines.append([TITLES[method], f"{means[method]:.3f}", "" if method == mine else f"{gap:+.3f} ± {half:.3f}", str(len(both)), f"{np.mean([r['cpu'] for r in methods[method].values()]):.1f}"])
        text += f"\n{SETS[name]}, {one['rows']} rows seen and {one['new']} new × {one['columns']}; ours with {described(one)}:\n\n"
        text += markdown(["", "accuracy", f"{TITLES[mine]} minus it", "splits", "CPU s"], lines)
    return text or "\nNot run yet.\n"


def every(best):
    """All that stands behind Tables 1 and 2."""
    lines = []
    for name in SETS:
        for method in TITLES:
            group = best.get((name, method))
            if not group:
                continue
            good = [row for row in group if "failed" not in row]
            means = ", ".join(f"{np.mean(row['accuracies']):.3f}" for row in good)
            cpu = f"{np.mean([row['cpu'] for row in good]):.3g}" if good else ""
            days = sorted({row["date"][:10] for row in group})
            failed = "; ".join(sorted({row["failed"] for row in group if "failed" in row}))
            machine = ", ".join(sorted({f"{row['machine']}, {row.get('threads', 1)} thread" + "s" * (row.get("threads", 1) != 1) for row in group}))
            size = f"{group[0]['rows']}×{group[0]['columns']}"
            seeds = ", ".join(str(row["seed"]) for row in group)
            lines.append([SETS[name], size, TITLES[method], described(group[0]), seeds, means or f"failed: {failed}", cpu, "–".join(days[:: max(1, len(days) - 1)]), machine])
    return markdown(["set", "size", "method", "settings", "seeds", "accuracy of each seed, mean over folds", "CPU s", "date", "machine"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=program.ROOT / "paper/results", help="folder of the rows")
    parser.add_argument("--to", type=Path, default=HERE / "RESULTS.md")
    args = parser.parse_args()
    rows, paper = list(Cells(args.out).rows().values()), published()
    best = chosen(rows)
    dates = sorted(row["date"][:10] for row in rows)
    text = HEAD.format(dates=f"Rows of {dates[0]} to {dates[-1]}." if dates else "No rows yet.") + "\n" + table1(best, paper)
    text += "\n### Where ours stands\n\n" + shortfalls(best, paper)
    text += "\n### Do shorter chains change the answer?\n\n" + sweeps(rows)
    text += "\n### Other settings of ours\n\n" + variants(rows)
    text += TIMES + "\n" + table2(best, paper)
    text += HELD + held(Cells(args.out / "held").rows().values())
    text += "\n## Every cell of Tables 1 and 2\n\n" + every(best)
    args.to.write_text(text)


if __name__ == "__main__":
    main()
