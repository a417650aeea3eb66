"""The tables of the benchmark: time series, static tables and counts over time.

`y` has NaN where the data have none. Real-valued tables are standardised per column before any cell is hidden, so that
log densities of columns can be averaged; counts are left as they are.
"""

import csv
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
# Appended, so that files of this folder come before those of the same name.
sys.path += [str(ROOT / "evidence/paper"), str(ROOT / "evidence/benchmarks")]

import datasets
import hidden


@dataclass
class Table:
    """`time` is None in a static table; `dim` is the latent dimension of a first fit."""

    y: np.ndarray
    time: np.ndarray | None
    dim: int
    counts: bool = False


def standardised(y):
    """Columns of mean 0 and standard deviation 1; constant columns are dropped."""
    scale = np.nanstd(y, axis=0)
    y = y[:, scale > 0]
    return (y - np.nanmean(y, axis=0)) / scale[scale > 0]


def series(name):
    """A table of the paper's imputation experiment."""

    def load(data):
        found = datasets.SETS[name](data)
        return Table(standardised(found.y), found.time, found.dim)

    return load


def air(data):
    """Air quality every sixth hour, with its real holes."""
    y, hours, dim = hidden.air_quality(data)
    return Table(standardised(y), hours, dim)


def pbmc(data):
    """Log counts per 10,000 of the 200 most variable genes in 1000 cells chosen at random."""
    z = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz")
    rows = np.repeat(np.arange(z["shape"][0]), np.diff(z["indptr"]))
    counts = np.zeros(z["shape"])
    counts[rows, z["indices"]] = z["data"]
    y = np.log1p(1e4 * counts / z["total_counts"][:, None])
    y = y[np.sort(np.random.default_rng(0).permutation(len(y))[:1000])]
    return Table(standardised(y[:, np.argsort(-y.var(0), kind="stable")[:200]]), None, 5)


def yale(data):
    """165 faces, every second pixel in both directions: 24×32."""
    y = np.load(data / "yale/yale_48x64.npz")["Y"].reshape(-1, 48, 64)[:, ::2, ::2]
    return Table(standardised(y.reshape(len(y), -1).astype(float)), None, 5)


def mnist(data):
    """500 digits; pixels that are inked in at least a tenth of them, because a standardised pixel that is inked once is an outlier."""
    y = np.load(data / "mnist/mnist_t10k.npz")["Y"].astype(float)
    y = y[np.random.RandomState(0).permutation(len(y))[:500]]
    return Table(standardised(y[:, (y > 0).mean(0) >= 0.1]), None, 5)


def cifar(data):
    """500 grey images of 20×20 pixels, chosen at random."""
    y = np.load(data / "cifar10/cifar10_5class_20x20.npz")["Y"].astype(float)
    return Table(standardised(y[np.sort(np.random.default_rng(0).permutation(len(y))[:500])]), None, 5)


def congress(data):
    """ln(1 + count) of the 300 phrases that most members used."""
    with gzip.open(data / "congress109/congress109.csv.gz", "rt") as file:
        y = np.array([[float(v) for v in line[1:]] for line in list(csv.reader(file))[1:]])
    used = np.argsort(-(y > 0).sum(0), kind="stable")[:300]
    return Table(standardised(np.log1p(y[:, used])), None, 5)


def montreal(data):
    """Bicycles per day at 21 counters; four of them have real holes."""
    with open(data / "montreal/montreal_2015.csv") as file:
        lines = list(csv.DictReader(file))
    names = [name for name in lines[0] if name not in ("date", "season")]
    y = np.array([[float(line[name] or "nan") for name in names] for line in lines])
    return Table(y, np.arange(len(y)), 2, counts=True)


def hippocampus(data):
    """Spikes of the hippocampal cells that fired at least 100 times."""
    y = np.load(data / "hippocampus_ref/hip_data.npz")["spikes"].astype(float)
    return Table(y[:, y.sum(0) >= 100], np.arange(len(y)), 2, counts=True)


def heading(data):
    """Spikes of 19 head-direction cells in 1000 bins of the longest recording without a gap."""
    z = np.load(data / "head_direction/adn_head_direction_100ms.npz")
    longest = np.bincount(z["segment"]).argmax()
    y = z["spikes"][z["segment"] == longest][:1000].astype(float)
    return Table(y, np.arange(len(y)), 2, counts=True)


SERIES = {"cmu": series("cmu"), "forex": series("forex"), "s_curve": series("s_curve"), "lorenz": series("lorenz"), "air": air}
STATIC = {"pbmc": pbmc, "yale": yale, "mnist": mnist, "cifar": cifar, "congress": congress}
COUNTS = {"montreal": montreal, "hippocampus": hippocampus, "heading": heading}
TABLES = SERIES | STATIC | COUNTS
