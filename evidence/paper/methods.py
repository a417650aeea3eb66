"""Methods of Table 1 that are not ours, each with its package's default settings, but for the options below, and two latent dimensions.

Every method is a function of counts (N×J), the dimension and the seed, and returns positions (N×D). Packages are imported when a method
runs, so that one that is not installed is a failure of its own cells only.
"""

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

#: Of both models of GPy.
GPLVM = dict(options={"inducing": 30, "iterations": 1000}, quick={"iterations": 100}, notes={"counts": "ln(1 + y), centred"}, dear=True)


@dataclass
class Method:
    """How a method is named and run: its options, of which a quick look changes some. A dear one runs with one seed; one that is not
    random gives the same positions for all seeds."""

    title: str
    embed: Callable
    options: dict = field(default_factory=dict)
    quick: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    dear: bool = False
    random: bool = True

    def settings(self, quick=False):
        """What identifies its cells: its options, those of a quick look if asked for, and notes about its input."""
        return self.notes | self.options | (self.quick if quick else {})


def logged(y):
    """Logarithms of counts, with columns of mean 0."""
    y = np.log1p(y)
    return y - y.mean(0)


def pca(y, dim, seed):
    from sklearn.decomposition import PCA

    return PCA(dim, random_state=seed).fit_transform(y)


def nmf(y, dim, seed):
    from sklearn.decomposition import NMF

    return NMF(dim, random_state=seed).fit_transform(y)


def lda(y, dim, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(dim, random_state=seed).fit_transform(y)


def isomap(y, dim, seed):
    from sklearn.manifold import Isomap

    return Isomap(n_components=dim).fit_transform(y)


def tsne(y, dim, seed):
    from sklearn.manifold import TSNE

    return TSNE(dim, random_state=seed).fit_transform(y)


def umap(y, dim, seed):
    from umap import UMAP

    return UMAP(n_components=dim, random_state=seed, n_jobs=1).fit_transform(y)


def hpf(y, dim, seed):
    """Hierarchical Poisson factorisation; the positions are the rows' factors."""
    import pandas
    from hpfrec import HPF

    rows, columns = np.nonzero(y)
    counts = pandas.DataFrame({"UserId": rows, "ItemId": columns, "Count": y[rows, columns]})
    # The package never sees rows without counts; they stay at zero, where all such rows belong.
    # A seed of 0 would mean one from the clock.
    model = HPF(k=dim, random_seed=seed + 1, reindex=True, verbose=False, ncores=1)
    model.fit(counts)
    positions = np.zeros((len(y), dim))
    positions[np.asarray(model.user_mapping_, int)] = model.Theta
    return positions


def bayesian_gplvm(y, dim, seed, inducing, iterations):
    import GPy

    np.random.seed(seed)
    model = GPy.models.BayesianGPLVM(logged(y), dim, num_inducing=inducing)
    model.optimize(max_iters=iterations)
    return np.asarray(model.X.mean)


def sparse_gplvm(y, dim, seed, inducing, iterations):
    import GPy

    np.random.seed(seed)
    model = GPy.models.SparseGPLVM(logged(y), dim, num_inducing=inducing)
    model.optimize(max_iters=iterations)
    return np.asarray(model.X)


def baseline(name):
    """A method of `evidence/paper/baselines`."""

    def embed(y, dim, seed, **options):
        return importlib.import_module(f"baselines.{name}").embed(y, dim, seed, **options)

    return embed


def peer(name):
    """A method whose authors' code lies in the folder of --peers."""

    def embed(y, dim, seed, **options):
        return getattr(importlib.import_module("peers"), name)(y, dim, seed, **options)

    return embed


METHODS = {
    "pca": Method("PCA", pca),
    "nmf": Method("NMF", nmf),
    "hpf": Method("HPF", hpf),
    "lda": Method("LDA", lda),
    "vae": Method("VAE", baseline("vae"), dear=True),
    "dca": Method("DCA", baseline("dca"), dear=True),
    "nbvae": Method("NBVAE", baseline("nbvae"), dear=True),
    "isomap": Method("Isomap", isomap, random=False),
    "dla-gplvm": Method("DLA-GPLVM", baseline("dla_gplvm"), {"iterations": 50}, {"iterations": 10}, dear=True, random=False),
    "bayesian-gplvm": Method("Bayesian GPLVM", bayesian_gplvm, **GPLVM),
    "sparse-gplvm": Method("sparse GPLVM", sparse_gplvm, **GPLVM),
    "umap": Method("UMAP", umap),
    "tsne": Method("t-SNE", tsne),
    "advised-rflvm": Method("advisedRFLVM", peer("advised"), {"iterations": 10000}, {"iterations": 500}, dear=True),
    "srflvm": Method("SRFLVM", peer("scalable"), {"iterations": 6200}, {"iterations": 200}, dear=True),
}

sys.path.insert(0, str(Path(__file__).resolve().parent))
