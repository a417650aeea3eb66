"""Other methods on the S-curve tables: seconds, and affine R² of their positions against the truth.

    python evidence/benchmarks/peers.py --data ../shared/data [--only NAME] [--out peers.json]

Fits GPy's Bayesian GPLVM, PCA, Isomap, t-SNE, NMF, LDA and UMAP to the Gaussian, Poisson and negative binomial tables:
two latent dimensions, seed 0, one thread, and the libraries' defaults otherwise. "log1p" means that the counts were
replaced by ln(1 + y) first. A table whose file is not found is skipped, with a message. Prints a Markdown table as it
goes; --out writes the rows as JSON.

Needs the packages of evidence/benchmarks/requirements.txt.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

# One thread, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import GPy
import numpy as np
from sklearn.decomposition import NMF, PCA, LatentDirichletAllocation
from sklearn.manifold import TSNE, Isomap
from umap import UMAP

from accuracy import ROOT, affine_r2, s_curve

DIM = 2


def gplvm(iterations):
    """GPy's Bayesian GPLVM with 30 inducing points: PCA start, RBF kernel with a length-scale per axis."""

    def fit(y):
        np.random.seed(0)
        model = GPy.models.BayesianGPLVM(y - y.mean(0), DIM, num_inducing=30)
        model.optimize(max_iters=iterations)
        return np.asarray(model.X.mean)

    return fit


def pca(y):
    return PCA(DIM, random_state=0).fit_transform(y)


def isomap(y):
    return Isomap(n_components=DIM, n_jobs=1).fit_transform(y)


def tsne(y):
    return TSNE(DIM, random_state=0, n_jobs=1).fit_transform(y)


def nmf(y):
    return NMF(DIM, random_state=0).fit_transform(y)


def lda(y):
    return LatentDirichletAllocation(DIM, random_state=0, n_jobs=1).fit_transform(y)


def umap(y):
    return UMAP(n_components=DIM, random_state=0, n_jobs=1).fit_transform(y)


# Name, function, the transformations of counts to try, and whether the method takes the Gaussian table too.
METHODS = [
    ("GPy Bayesian GPLVM, 200 iterations", gplvm(200), ["log1p"], True),
    ("GPy Bayesian GPLVM, 1000 iterations (its default)", gplvm(1000), ["log1p"], True),
    ("PCA", pca, ["raw", "log1p"], True),
    ("Isomap", isomap, ["raw", "log1p"], True),
    ("t-SNE", tsne, ["raw", "log1p"], True),
    ("UMAP", umap, ["raw", "log1p"], True),
    ("NMF", nmf, ["raw"], False),
    ("LDA", lda, ["raw"], False),
]


def tasks():
    """Every (method, function, family, form) to be measured."""
    for name, fit, forms, real_values in METHODS:
        if real_values:
            yield name, fit, "gaussian", "raw"
        for family in ["poisson", "negative-binomial"]:
            for form in forms:
                yield name, fit, family, form


def measure(fit, y, truth):
    """CPU seconds, wall seconds and R² of one fit."""
    wall, cpu = time.perf_counter(), time.process_time()
    x = fit(y)
    return {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.perf_counter() - wall,
        "r2": float(affine_r2(x, truth)),
    }


def run(data, only):
    """Measures every wanted task, printing a row for each."""
    rows = []
    for name, fit, family, form in tasks():
        if only not in name:
            continue
        try:
            z = s_curve(data, family)
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}, {family}: {missing.filename} was not found", file=sys.stderr)
            continue
        y = z["Y"].astype(float)
        row = {"method": name, "family": family, "form": form}
        row |= measure(fit, np.log1p(y) if form == "log1p" else y, z["X"])
        figures = f"{row['cpu_s']:.2f} | {row['wall_s']:.2f} | {row['r2']:.4f}"
        print(f"| {name} | {family} | {form} | {figures} |", flush=True)
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--only", default="", help="methods whose name contains this")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    # Warnings of the libraries about each other's versions and about their own defaults.
    warnings.simplefilter("ignore")
    # UMAP compiles itself on its first call: call it on other data before timing.
    if args.only in "UMAP":
        umap(np.random.RandomState(0).normal(size=(100, 10)))
    print("| method | table | form | CPU s | wall s | R² |\n|---|---|---|---|---|---|", flush=True)
    rows = run(args.data, args.only)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
