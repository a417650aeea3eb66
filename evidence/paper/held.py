"""A stricter rule than Table 1's: rows that a method has not seen, placed by it among those that it has, and judged by their nearest neighbour.

    python evidence/paper/held.py [--sets bridges montreal congress109] [--methods pca poisson] [--splits 10]

In the paper's rule all rows shape the map, and only labels are held out. Here a fifth of the rows is held out of the fit, at random and
again for every split, the same for all methods; ours places them by `rflvm transform`, others by their `transform` (t-SNE, HPF and
GPLVMs have none that is practical). Cells are kept in OUT/held and not run again. Differences between methods are paired by split, with
90% intervals by the corrected t statistic of Nadeau and Bengio (2003), because the splits share most of their rows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import labelled
import ours
import program
from cell import positions, spent
from cells import Cells

SHARE = 0.2


def placed_by(build):
    """A method of scikit-learn's kind, as a function of the rows seen, the new ones and the seed."""

    def place(seen, new, seed):
        model = build(seed)
        return model.fit_transform(seen), model.transform(new)

    return place


def pca(seed):
    from sklearn.decomposition import PCA

    return PCA(2, random_state=seed)


def nmf(seed):
    from sklearn.decomposition import NMF

    return NMF(2, random_state=seed)


def lda(seed):
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(2, random_state=seed)


def isomap(seed):
    from sklearn.manifold import Isomap

    return Isomap(n_components=2)


def umap(seed):
    from umap import UMAP

    return UMAP(n_components=2, random_state=seed, n_jobs=1)


PLACED = {build.__name__: placed_by(build) for build in (pca, nmf, lda, isomap, umap)}


def transformed(seen, new, family, seed, args):
    """The same by our program."""
    form = ours.FAMILIES[family][1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "seen.npy", form(seen))
        np.save(folder / "new.npy", form(new, seen))
        words = ours.fit(args.program, folder / "seen.npy", family, seed, ours.settings(args), args.threads, folder / "fit", keep="w,beta,theta")
        subprocess.run(words, check=True)
        subprocess.run([args.program, "transform", folder / "fit", folder / "new.npy", "--out", folder / "new.csv"], check=True, capture_output=True)
        return positions(folder / "fit/embedding.csv"), positions(folder / "new.csv")


def accuracy(seen, labels, new, truth):
    """Share of the new rows whose nearest neighbour among the rows seen has their label."""
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(1).fit(seen, labels).score(new, truth))


def run(row, args):
    """One split by one method."""
    table = labelled.load(row["set"], args.data, row["seed"])
    new = np.random.default_rng(row["seed"]).random(len(table.y)) < SHARE
    seen, held = table.y[~new], table.y[new]
    row = row | {"rows": len(seen), "new": len(held), "columns": seen.shape[1], "machine": args.machine}
    wall, cpu = time.time(), spent()
    try:
        if row["method"] in ours.FAMILIES:
            x, z = transformed(seen, held, row["method"], row["seed"], args)
        else:
            x, z = PLACED[row["method"]](seen, held, row["seed"])
    except Exception as error:
        return row | {"failed": f"{type(error).__name__}: {error}"}
    row |= {"wall": round(time.time() - wall, 2), "cpu": round(spent() - cpu, 2)}
    return row | {"accuracy": accuracy(x, table.labels[~new], z, table.labels[new])}


def difference(ours_, theirs):
    """Mean of paired differences, and its 90% interval, corrected for splits that share rows."""
    from scipy.stats import t

    gaps = np.asarray(ours_) - np.asarray(theirs)
    if len(gaps) < 2:
        return gaps.mean(), np.nan
    error = np.sqrt((1 / len(gaps) + SHARE / (1 - SHARE)) * gaps.var(ddof=1))
    return gaps.mean(), t.ppf(0.95, len(gaps) - 1) * error


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*PLACED, *ours.FAMILIES]
    program.places(parser)
    ours.arguments(parser, warmup=300, draws=300)
    parser.add_argument("--out", type=Path, default=program.ROOT / "evidence/paper/results", help="folder of the results")
    parser.add_argument("--sets", nargs="+", choices=labelled.SETS, default=["bridges", "montreal", "newsgroups", "spam", "congress109"])
    parser.add_argument("--methods", nargs="+", choices=everything, default=everything)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--machine", default=f"{os.cpu_count()}-core machine", help="the machine, in words")
    return parser.parse_args()


def main():
    args = parsed()
    absent = labelled.missing(args.sets, args.data)
    if absent:
        sys.exit("put these files into the folder of the data, or name another folder with --data:\n  " + "\n  ".join(absent))
    cells = Cells(args.out / "held", "held")
    for split in range(args.splits):
        for name in args.sets:
            for method in args.methods:
                row = {"set": name, "method": method, "seed": split, "settings": ours.settings(args) if method in ours.FAMILIES else {}}
                if cells.find(row) is None:
                    row = run(row, args)
                    cells.add(row)
                    print(name, method, split, row.get("failed") or f"{row['accuracy']:.4f}, {row['wall']:.1f} s", flush=True)


if __name__ == "__main__":
    main()
