"""Rows of results, grouped by set, method and settings, and what they say together."""

import numpy as np

import labelled
import ours
from methods import METHODS

TITLES = {name: method.title for name, method in METHODS.items()} | {name: f"{title} RFLVM" for name, (title, _) in ours.FAMILIES.items()} | {
    name: title for name, (title, _) in ours.MAPS.items()
}
SETS = dict(bridges="Bridges", cifar10="CIFAR-10", congress109="Congress", mnist="MNIST", montreal="Montreal", newsgroups="Newsgroups", spam="Spam", yale="Yale")
SWEEPS = ("warmup", "draws", "chains")


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


def paired(group):
    """Whether the five seeds of the paper's rule have all been run."""
    return {row["seed"] for row in group if "failed" not in row} >= set(range(5))


def complete(group):
    """Whether the spread over its runs is that of the paper's rule: all seeds, or a method that has none, on a table that is the same for all."""
    method = METHODS.get(group[0]["method"])
    return paired(group) or bool(method and not method.random and group[0]["set"] not in labelled.DRAWN)


def values(group):
    """Accuracies of the runs: five seeds paired with the folds of their own number, or else all folds of the seeds there are."""
    good = [row for row in group if "failed" not in row]
    if paired(group):
        return [row["accuracy"] for row in good if row["seed"] < 5]
    return [value for row in good for value in row["accuracies"]]


def accuracy(group):
    """Mean accuracy, or None."""
    found = values(group) if group else []
    return float(np.mean(found)) if found else None


def spread(group):
    """Standard deviation over the runs, or NaN. Rows that were rebuilt from a table have only the mean and the standard deviation over folds."""
    within = [row["sd"] for row in group if "sd" in row]
    return float(np.sqrt(np.var(values(group)) + (np.mean(np.square(within)) if within and not paired(group) else 0)))


def described(row):
    """Settings in a few words."""
    words = dict(row["settings"])
    text = f"{words.pop('warmup')} + {words.pop('draws')} sweeps" if "warmup" in words else ""
    chains = words.pop("chains", 1)
    text += f", {chains} chains" if chains != 1 else ""
    return ", ".join([text] * bool(text) + [f"{key} {value}" for key, value in words.items()]) or "defaults"
