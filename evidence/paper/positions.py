"""Positions for the figures, by each method, kept in OUT/figures so that a picture can be drawn again at once.

A file is named after its table, method, seed and settings. A method that fails gives no positions, and its message is printed.
"""

import importlib
import shutil
import sys

import numpy as np

import program
from methods import METHODS

#: Methods of the figures over time, by their file in evidence/paper/baselines.
PATHS = {"gpdm": "gpdm", "rnn": "rnn", "ukf": "ukf", "deep-gp": "deep_gp"}
TITLES = {"gpdm": "GPDM", "rnn": "RNN", "ukf": "UKF", "deep-gp": "deep GP", "map-gplvm": "MAP-GPLVM", "rflvm": "RFLVM", "dynamic": "dynamic RFLVM"}


def title(method):
    """The method's name in a picture."""
    return TITLES.get(method) or METHODS[method].title


def kept(name, args, work):
    """The array of `work()`, read from its file if it has been computed; None if it fails."""
    path = args.out / "figures" / f"{name}.npy"
    if path.exists() and not args.again:
        return np.load(path)
    try:
        found = np.asarray(work(), float)
    except Exception as error:  # Whatever a method raises is its result.
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, found)
    print(f"{name}: done", flush=True)
    return found


def folder_of(name, args):
    """Where the fit of a table lies, which predictions need."""
    folder = args.out / "figures" / f"{name}-{args.warmup}-{args.draws}-{args.chains}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fitted(name, y, dim, args, family, time=None, kernel=None):
    """The folder of rflvm's fit of a table, which is fitted unless it is there."""
    folder = folder_of(f"{name}-{family}{'-' + kernel if kernel else ''}", args)
    done = folder / "done"  # A fit that was stopped also has its positions.
    if not done.exists() or args.again:
        shutil.rmtree(folder / "fit", ignore_errors=True)
        program.fit(folder, y, dim, 1, args, time, kernel, family)
        done.touch()
    return folder


def of(table, method, y, dim, args, times=None, family="poisson"):
    """Positions of the rows of `y` by a method."""
    if method in ("rflvm", "dynamic"):
        time, kernel = (times, "rbf") if method == "dynamic" else (None, None)
        work = lambda: program.positions(fitted(table, y, dim, args, family, time, kernel))  # noqa: E731
        return kept(f"{table}-{method}-{args.warmup}-{args.draws}-{args.chains}", args, work)
    if method in PATHS:
        module = importlib.import_module(f"baselines.{PATHS[method]}")
        return kept(f"{table}-{method}", args, lambda: module.path(y, times, dim, 0))
    if method == "map-gplvm":
        return kept(f"{table}-{method}", args, lambda: importlib.import_module("baselines.map_gplvm").embed(y, dim, 0))
    chosen = METHODS[method]
    return kept(f"{table}-{method}", args, lambda: chosen.embed(y, dim, 0, **chosen.options))
