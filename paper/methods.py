"""Methods of Table 1 that are not ours, each with its package's default settings and two latent dimensions.

Every method is a function of counts (N×J), the dimension and the seed, and returns positions (N×D). Packages are imported when a method
runs, so that one that is not installed is a failure of its own cells only.
"""

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

LOG = {"counts": "ln(1 + y), centred"}


@dataclass
class Method:
    """How a method is named, run and described; a dear one runs with one seed."""

    title: str
    embed: Callable
    settings: dict = field(default_factory=dict)
    dear: bool = False


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


def bayesian_gplvm(y, dim, seed):
    import GPy

    np.random.seed(seed)
    model = GPy.models.BayesianGPLVM(logged(y), dim, num_inducing=30)
    model.optimize(max_iters=1000)
    return np.asarray(model.X.mean)


def sparse_gplvm(y, dim, seed):
    import GPy

    np.random.seed(seed)
    model = GPy.models.SparseGPLVM(logged(y), dim, num_inducing=30)
    model.optimize(max_iters=1000)
    return np.asarray(model.X)


def baseline(name):
    """A method of `paper/baselines`."""

    def embed(y, dim, seed):
        return importlib.import_module(f"baselines.{name}").embed(y, dim, seed)

    return embed


def peer(name):
    """A method whose authors' code lies in the folder of --peers."""

    def embed(y, dim, seed):
        return getattr(importlib.import_module("peers"), name)(y, dim, seed)

    return embed


METHODS = {
    "pca": Method("PCA", pca),
    "nmf": Method("NMF", nmf),
    "hpf": Method("HPF", hpf),
    "lda": Method("LDA", lda),
    "vae": Method("VAE", baseline("vae"), dear=True),
    "dca": Method("DCA", baseline("dca"), dear=True),
    "nbvae": Method("NBVAE", baseline("nbvae"), dear=True),
    "isomap": Method("Isomap", isomap),
    "dla-gplvm": Method("DLA-GPLVM", baseline("dla_gplvm"), dear=True),
    "bayesian-gplvm": Method("Bayesian GPLVM", bayesian_gplvm, LOG | {"inducing": 30, "iterations": 1000}, dear=True),
    "sparse-gplvm": Method("sparse GPLVM", sparse_gplvm, LOG | {"inducing": 30, "iterations": 1000}, dear=True),
    "umap": Method("UMAP", umap),
    "tsne": Method("t-SNE", tsne),
    "advised-rflvm": Method("advisedRFLVM", peer("advised"), {"iterations": 10000}, dear=True),
    "srflvm": Method("SRFLVM", peer("scalable"), {"iterations": 6200}, dear=True),
}

sys.path.insert(0, str(Path(__file__).resolve().parent))
