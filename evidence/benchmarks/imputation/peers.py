"""The usual methods for hidden cells: each gives mean and standard deviation of every cell of a table with holes (NaN).

    python evidence/benchmarks/imputation/peers.py FOLDER NAME METHOD    # scores of one method on one table, as JSON; see run.py

A method with candidates (neighbours, rank, penalty) takes the one with the least squared error on cells hidden for
validation: a tenth of the observed cells, in the pattern of the hidden ones. Where a method gives no standard deviation,
that of its errors on the validation cells of the column is used, hidden three times over. Counts are taken as square roots, standardised.
Methods that see one column or a linear state take rows as equally spaced; interpolation uses the times.
"""

import os

# One thread, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[variable] = "1"

import csv
import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import score
from masks import MASKS

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "evidence/paper"), str(ROOT / "evidence/benchmarks")]

import ppca

# No further candidate is tried after this many CPU seconds, so that a method ends within the limit of run.py.
PATIENCE = 150

# Iterations of the GPLVM are limited to about as many as fit in these CPU seconds.
GPLVM_SECONDS = 360


def column_mean(y, times, _):
    return np.broadcast_to(np.nanmean(y, axis=0), y.shape), np.broadcast_to(np.nanstd(y, axis=0), y.shape)


def by_column(fill):
    """A method that sees one column at a time; beyond its ends, the last value is held."""

    def fit(y, times, _):
        mean = np.empty_like(y)
        for j, column in enumerate(y.T):
            seen = ~np.isnan(column)
            ends = times[seen][[0, -1]]
            mean[:, j] = fill(np.clip(times, *ends), times[seen], column[seen])
        return mean, None

    return fit


def pchip(at, times, values):
    from scipy.interpolate import PchipInterpolator

    return PchipInterpolator(times, values)(at)


def local_level(y, times, _):
    """A random walk plus noise for each column, by maximum likelihood."""
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    mean, sd = np.empty_like(y), np.empty_like(y)
    for j, column in enumerate(y.T):
        found = UnobservedComponents(column, "llevel").fit(disp=0)
        mean[:, j] = found.smoothed_state[0]
        noise = found.params[found.param_names.index("sigma2.irregular")]
        sd[:, j] = np.sqrt(found.smoothed_state_cov[0, 0] + noise)
    return mean, sd


def knn(y, times, neighbours):
    from sklearn.impute import KNNImputer

    return KNNImputer(n_neighbors=neighbours, keep_empty_features=True).fit_transform(y), None


def soft_impute(y, times, penalty, steps=300, tolerance=1e-4):
    """Least squares with a nuclear-norm penalty (Mazumder, Hastie & Tibshirani 2010); `penalty` is a fraction of the
    largest singular value."""
    known = ~np.isnan(y)
    offset = np.nanmean(y, axis=0)
    observed = np.where(known, y - offset, 0)
    threshold = penalty * np.linalg.norm(observed, 2)
    z = np.zeros_like(y)
    for _ in range(steps):
        u, s, v = np.linalg.svd(np.where(known, observed, z), full_matrices=False)
        new = (u * np.maximum(s - threshold, 0)) @ v
        moved = np.linalg.norm(new - z) / max(np.linalg.norm(z), 1e-12)
        z = new
        if moved < tolerance:
            break
    return z + offset, None


def linear(model):
    """PPCA or the linear dynamical model of evidence/paper, with one noise variance for all columns. EM that is slower than 1500 steps
    fails; at 1e-6 per cell the errors of hidden cells no longer change."""

    def fit(y, times, dim):
        f = importlib.import_module(model).fit(y, dim, tolerance=1e-6, steps=1500)
        return ppca.cells(f.loadings, f.offset, f.variance if model == "ppca" else f.noise, f.mean, f.covariance)

    return fit


def iterative(y, times, nearest):
    """Chained Bayesian ridge regressions; in wide tables each column is regressed on `nearest` others, drawn by their
    correlation. Their own standard deviations are not used: imputed predictors are functions of the column that they
    predict, so the residuals are far too small (on CMU, 90% intervals held 6% of the cells)."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(n_nearest_features=nearest if y.shape[1] > 100 else None, random_state=0).fit_transform(y), None


def gplvm(y, times, dim):
    """GPy's Bayesian GPLVM, for as many of 1000 iterations as fit in about GPLVM_SECONDS."""
    import gplvm as gpy

    begun = time.process_time()
    gpy.predict(y, dim, seed=1, iterations=10)
    iterations = int(min(1000, GPLVM_SECONDS / (time.process_time() - begun) * 10))
    mean, variance, _ = gpy.predict(y, dim, seed=1, iterations=iterations)
    return mean, np.sqrt(variance)


@dataclass
class Method:
    """`fit(y, times, candidate)` gives mean and sd, or None for it."""

    label: str
    fit: Callable
    candidates: tuple = (None,)
    timed: bool = False
    rank: bool = False


METHODS = {
    "mean": Method("column mean", column_mean),
    "linear": Method("linear interpolation", by_column(np.interp), timed=True),
    "pchip": Method("PCHIP", by_column(pchip), timed=True),
    "level": Method("local level", local_level, timed=True),
    "knn3": Method("k-NN, k = 3", knn, (3,)),
    "knn": Method("k-NN, k chosen", knn, (1, 2, 3, 5, 10, 20, 40)),
    "soft": Method("soft-impute", soft_impute, tuple(0.5 / 1.6**k for k in range(14))),
    "ppca": Method("PPCA", linear("ppca"), (1, 2, 3, 5, 8, 12, 16, 24, 32, 40), rank=True),
    "ldm": Method("linear dynamical model", linear("ldm"), (3, 5, 8, 12, 16, 24), timed=True, rank=True),
    "iterative": Method("IterativeImputer", iterative, (50,)),
    "gplvm": Method("Bayesian GPLVM (GPy)", gplvm, ("dim",)),
}


def spread(errors):
    """Root mean square of each column's errors; of all, where a column has none."""
    count = (~np.isnan(errors)).sum(0)
    return np.sqrt(np.where(count > 0, np.nansum(errors**2, axis=0) / np.maximum(count, 1), np.nanmean(errors**2)))


def errors_of(method, y, times, held, candidate):
    """Errors of the `held` cells, hidden from the method; NaN elsewhere."""
    mean, _ = method.fit(np.where(held, np.nan, y), times, candidate)
    return np.where(held, y - mean, np.nan)


def choose(method, y, times, held):
    """The candidate with the least squared error on the `held` cells; the search ends after two that are no better."""
    # A model of rank D needs more columns than that.
    candidates = [c for c in method.candidates if not method.rank or c < min(y.shape)]
    if len(candidates) == 1:
        return candidates[0]
    begun, best, worse = time.process_time(), None, 0
    for candidate in candidates:
        try:
            error = np.nanmean(errors_of(method, y, times, held, candidate) ** 2)
        except (RuntimeError, np.linalg.LinAlgError):
            if best is None:
                raise
            break
        if best is None or error < best[0]:
            best, worse = (error, candidate), 0
        else:
            worse += 1
        if worse == 2 or time.process_time() - begun > PATIENCE:
            break
    return best[1]


def impute(method, y, times, mask):
    """Mean and standard deviation of every cell, the candidate taken, and what the standard deviation is from."""
    held = [mask.cells(~np.isnan(y), np.random.default_rng(k), share=0.1) for k in range(3)]
    chosen = choose(method, y, times, held[0])
    mean, sd = method.fit(y, times, chosen)
    if sd is not None:
        return mean, sd, chosen, "method"
    errors = np.concatenate([errors_of(method, y, times, cells, chosen) for cells in held])
    return mean, np.broadcast_to(spread(errors), y.shape), chosen, "validation"


def run(folder, case, name):
    """Scores of a method on a prepared table."""
    table, mask, _ = case.split("-")
    facts = json.loads((folder / "about.json").read_text())[table]
    with open(folder / f"{case}.csv") as file:
        cells = np.array([[float(v or "nan") for v in line] for line in list(csv.reader(file))[1:]])
    times, y = cells[:, 0], cells[:, 1:]
    method = METHODS[name]
    if name == "gplvm":
        method.candidates = (facts["dim"],)
    unit = np.nanstd(y, axis=0)
    offset, scale = 0, 1
    if facts["counts"]:
        y = np.sqrt(y)
        offset, scale = np.nanmean(y, axis=0), np.nanstd(y, axis=0)
        y = (y - offset) / scale
    begun = time.process_time()
    mean, sd, chosen, source = impute(method, y, times, MASKS[mask])
    seconds = round(time.process_time() - begun, 1)
    hidden = np.load(folder / f"{case}.npz")
    at = hidden["row"], hidden["column"]
    mean, sd = (mean * scale + offset)[at], np.maximum(sd * scale, 1e-6)[at]
    if not (np.isfinite(mean) & np.isfinite(sd)).all():
        raise ValueError("a hidden cell has no prediction")
    found = (score.counts if facts["counts"] else score.real)(hidden["truth"], mean, sd, unit[hidden["column"]])
    return found | {"chosen": chosen, "sd_from": source, "seconds": seconds}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(run(Path(sys.argv[1]), *sys.argv[2:4])))
