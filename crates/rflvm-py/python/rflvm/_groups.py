"""The groups of settings, from the engine's table of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union

from ._group import Group

# From here on written by `make settings`.


@dataclass(repr=False, kw_only=True)
class Model(Group):
    """The map from positions to columns, and its kernel.

    Parameters
    ----------
    features : int, default=100
        Random features M, an even number: sine and cosine of M/2 frequencies.
    kernel : {"learned", "rbf"}, default="learned"
        Kernel: learned with the frequencies, or a fixed RBF kernel with the given length-scale.
    length_scale : float, default=1.0
        Length-scale of the fixed RBF kernel.
    linear : {"none", "learned"}, default="none"
        Linear part of the map, besides the kernel.
    amplitude : float, "learned", "shared" or "default", default="default"
        Signal strength, the prior variance of the weights: a number for all columns, "learned" (one per column), "shared" (one per block),
        or "default" for that of each family: shared for gaussian, isotropic and student-t, 1 for the others.
    """

    features: int = 100
    kernel: str = "learned"
    length_scale: float = 1.0
    linear: str = "none"
    amplitude: Union[float, str] = "default"


@dataclass(repr=False, kw_only=True)
class Paths(Group):
    """How positions change over time.

    Parameters
    ----------
    time_kernel : {"rbf", "matern12", "matern32", "matern52", "cauchy", "random-walk", "integrated-random-walk", "seasonal", "matern12+seasonal", "matern32+seasonal", "matern52+seasonal", "random-walk+seasonal", "integrated-random-walk+seasonal"}, default="matern52"
        Kernel over time: how similar the positions at two times are.
    time_trend : bool, default=False
        Whether to add a straight line in time to each path.
    time_form : {"automatic", "dense", "state-space", "inducing"}, default="automatic"
        How the covariance of a path is represented.
    period : float or None, default=None
        Period of a seasonal kernel, in the units of the times; days for dates.
    column_process : {"auto", "none", "matern12", "matern32", "matern52", "random-walk", "integrated-random-walk", "seasonal", "matern12+seasonal", "matern32+seasonal", "matern52+seasonal", "random-walk+seasonal", "integrated-random-walk+seasonal"}, default="auto"
        Column processes: what is smooth over time in a column but not explained by the positions. Their kernel; or none; or auto: matern12
        or matern32, whichever suits the columns better, if all columns are gaussian, isotropic or student-t, and none otherwise.
    inducing : int, default=64
        Inducing points per sequence, where they are used.
    """

    time_kernel: str = "matern52"
    time_trend: bool = False
    time_form: str = "automatic"
    period: Optional[float] = None
    column_process: str = "auto"
    inducing: int = 64


@dataclass(repr=False, kw_only=True)
class Sampling(Group):
    """How many chains are sampled, for how long, and where they begin.

    Parameters
    ----------
    warmup : int, default=300
        Warm-up sweeps per chain, before draws are kept.
    draws : int, default=200
        Draws kept per chain.
    thin : int, default=1
        Sweeps per kept draw.
    chains : int, default=8
        Number of chains; of each mode if several are sampled. Convergence can be judged from two or more.
    init : {"spread", "search", "pca", "random", "map"}, default="spread"
        Where chains begin.
    init_effort : float, default=0.2
        Sweeps of the search for modes, as a share of the warm-up of all chains of a mode. With fewer than 20 sweeps per start there is no
        search, and chains begin at principal components.
    modes : int, default=1
        How many of the modes that the search finds are sampled, the chosen one first. Predictions combine them by stacking weights;
        positions are those of the first.
    keep : sequence of str, default=("w", "beta", "theta")
        What is stored of each draw besides the positions: any of "w", "beta", "theta", "f". Predictions need the first three.
    """

    warmup: int = 300
    draws: int = 200
    thin: int = 1
    chains: int = 8
    init: str = "spread"
    init_effort: float = 0.2
    modes: int = 1
    keep: Sequence[str] = ("w", "beta", "theta")


@dataclass(repr=False, kw_only=True)
class Compute(Group):
    """Where and how chains are computed; the draws do not depend on most of it.

    Parameters
    ----------
    device : str, default="cpu"
        Where the table of a chain is held, and what touches all of its cells is computed: cpu, cuda (chains share the cards of the machine;
        cuda:1 is the second card alone), or auto, a card if there is one that can.
    precision : {"double", "mixed"}, default="double"
        In which precision a card computes what touches each cell. Not used on the CPU, which computes in float64.
    instructions : {"best", "avx2", "baseline"}, default="best"
        The most advanced instruction set that may be used. Draws are identical to the last bit only between machines that use the same one,
        since fused instructions round sums differently.
    checkpoint : float, default=30.0
        Seconds between checkpoints.
    """

    device: str = "cpu"
    precision: str = "double"
    instructions: str = "best"
    checkpoint: float = 30.0
