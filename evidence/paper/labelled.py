"""The eight labelled tables of the paper's Table 1: counts, with one label per row.

`load(NAME, DATA, seed)` reads a table from the folder DATA. Where the paper draws rows at random (MNIST), the draw is that of the seed;
the other tables are the same for every seed.
"""

import csv
import gzip
from dataclasses import dataclass

import numpy as np


@dataclass
class Labelled:
    """Counts, N×J, and a label per row."""

    y: np.ndarray
    labels: np.ndarray


def rows_of(path):
    """Lines of a CSV, as dicts."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return list(csv.DictReader(file))


def numbers(rows, names):
    """Columns of such lines, as numbers."""
    return np.array([[float(row[name]) for name in names] for row in rows])


def bridges(data, seed):
    """Bicycles per day on four bridges; is it a weekday?"""
    rows = rows_of(data / "bridges/bridges.csv")
    names = ["brooklyn", "manhattan", "williamsburg", "queensboro"]
    return Labelled(numbers(rows, names), np.array([int(row["label"]) for row in rows]))


def cifar10(data, seed):
    """Grey pictures of five classes, 20×20."""
    z = np.load(data / "cifar10/cifar10_5class_20x20.npz")
    return Labelled(z["Y"].astype(float), z["labels"])


def congress109(data, seed):
    """Counts of phrases by member of Congress; Republican or not."""
    counts, members = (rows_of(data / f"congress109/{name}.csv.gz") for name in ("congress109", "congress109members"))
    names = list(counts[0])
    party = {row[next(iter(row))]: row["party"] for row in members}
    return Labelled(numbers(counts, names[1:]), np.array([int(party[row[names[0]]] != "R") for row in counts]))


def mnist(data, seed):
    """A thousand digits of the test file, drawn by the seed."""
    z = np.load(data / "mnist/mnist_t10k.npz")
    rows = np.random.RandomState(seed).permutation(len(z["labels"]))[:1000]
    return Labelled(z["Y"][rows].astype(float), z["labels"][rows])


def montreal(data, seed):
    """Bicycles per day at the 17 counters without missing days; the season."""
    rows = rows_of(data / "montreal/montreal_2015.csv")
    names = [name for name in rows[0] if name not in ("date", "season") and all(row[name] not in ("", "NA") for row in rows)]
    seasons = sorted({row["season"] for row in rows})
    return Labelled(numbers(rows, names), np.array([seasons.index(row["season"]) for row in rows]))


def newsgroups(data, seed):
    """Counts of 20 words in posts of three groups."""
    z = np.load(data / "newsgroups/newsgroups_3class.npz", allow_pickle=False)
    return Labelled(z["Y"].astype(float), z["labels"])


def spam(data, seed):
    """Counts of words in text messages; is it spam?"""
    z = np.load(data / "spam/sms_spam_2000.npz", allow_pickle=False)
    return Labelled(z["Y"].astype(float), z["labels"])


def yale(data, seed):
    """Grey pictures of fifteen faces, 48×64."""
    z = np.load(data / "yale/yale_48x64.npz")
    return Labelled(z["Y"].astype(float), z["labels"])


#: Smallest first; the file that the folder of the data must hold for each, and what is in it.
SETS = {
    "bridges": (bridges, "bridges/bridges.csv", "bicycles per day; columns brooklyn, manhattan, williamsburg, queensboro, and label, 1 on weekdays"),
    "montreal": (montreal, "montreal/montreal_2015.csv", "bicycles per day; a column per counter, date, and season"),
    "newsgroups": (newsgroups, "newsgroups/newsgroups_3class.npz", "Y, 2752×20 counts of words, and labels"),
    "yale": (yale, "yale/yale_48x64.npz", "Y, 165×3072 grey pixels, and labels"),
    "spam": (spam, "spam/sms_spam_2000.npz", "Y, 2000×225 counts of words, and labels"),
    "congress109": (congress109, "congress109/congress109.csv.gz", "name and 1000 phrase counts; party is in congress109members.csv.gz next to it"),
    "mnist": (mnist, "mnist/mnist_t10k.npz", "Y, 10000×784 grey pixels of the test images, and labels"),
    "cifar10": (cifar10, "cifar10/cifar10_5class_20x20.npz", "Y, 2000×400 grey pixels of five classes, and labels"),
}

#: Sets whose rows are drawn again for every seed.
DRAWN = {"mnist"}


def load(name, data, seed=0):
    """The table of this name."""
    return SETS[name][0](data, seed)


def missing(names, data):
    """What to put into the folder of the data, one sentence per set that is missing."""
    return [f"{name}: {data / SETS[name][1]} was not found ({SETS[name][2]})" for name in names if not (data / SETS[name][1]).exists()]
