"""Traces and rank plots of the quantities by which convergence is judged."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._colour import GREY, PALETTE
from ._panel import beside

#: Quantities shown by default, if the fit has them. A rotation of the latent space changes none of them.
LOOKED_AT = ("lp", "log_likelihood", "distance", "f_cell", "w2", "alpha", "time_scale", "axes_in_use")
#: Descriptions of the quantities.
WORDS = {
    "lp": "log joint density",
    "log_likelihood": "log-likelihood",
    "distance": "distance between two rows",
    "f_cell": "linear predictor of a cell",
    "w2": "kernel: sum of squared frequencies",
    "alpha": "kernel: concentration of the Dirichlet process",
    "clusters": "kernel: clusters in use",
    "time_scale": "length-scale over time",
    "axes_in_use": "latent axes in use",
}
#: Bars of a histogram of ranks.
BINS = 20


def trace(model: Any, names: Union[None, str, Sequence[str]] = None, *, ranks: bool = True, axs: Any = None, **lines: Any) -> np.ndarray:
    """Traces of some quantities, one line per chain, and next to each trace a rank plot.

    Chains that have converged overlap and look like noise, and their ranks among all draws are uniform: all bars are near the dashed
    line. A chain with too many low or high ranks explores a different region than the others.

    Parameters
    ----------
    model : RFLVM
        A fitted model.
    names : str or sequence of str, default=None
        Quantities of `posterior_` with one number per draw, or one element such as "distance[0]". By default `lp` (the log joint
        density), `log_likelihood`, the worst mixing of the distances between rows and of the linear predictors of cells, `w2` (the sum of
        squared frequencies of the kernel) and `alpha` (the concentration of the Dirichlet process over frequencies); with times also
        the length-scale, and with latent_dim="auto" the axes in use.
    ranks : bool, default=True
        Whether to draw rank plots next to the traces.
    axs : array of Axes, default=None
        Where to draw: one row per name, with two Axes for a trace and its ranks, or one without ranks.
    **lines
        Further arguments of `Axes.plot`, for the traces.

    Returns
    -------
    array of Axes, names × 2; one-dimensional without ranks
    """
    check_is_fitted(model)
    told = {quantity["name"].split(",")[0]: quantity for quantity in model.diagnostics_["quantities"]}
    names = looked_at(model, told) if names is None else [names] if isinstance(names, str) else list(names)
    drawn = [draws_of(model, name) for name in names]
    grid = grid_of(axs, len(names), ranks)
    for n, (name, draws) in enumerate(zip(names, drawn)):
        left = grid[n, 0]
        for i, (chain, line) in enumerate(zip(model.posterior_.chains, draws)):
            style: dict[str, Any] = {"color": PALETTE[i % len(PALETTE)], "linewidth": 0.7, "alpha": 0.85}
            style["label"] = f"chain {chain + 1}"
            left.plot(np.arange(1, len(line) + 1), line, **{**style, **lines})
        left.set_title(title_of(name, told.get(name)), loc="left", fontsize="medium")
        left.margins(x=0.0)
        if grid.shape[1] == 2:
            add_ranks(grid[n, 1], draws)
    grid[-1, 0].set_xlabel("draw")
    if grid.shape[1] == 2:
        grid[-1, 1].set_xlabel("rank among all draws")
    if len(model.posterior_.chains) > 1:
        beside(grid[0, -1], handles=grid[0, 0].lines)
    return grid if ranks else grid[:, 0]


def looked_at(model: Any, told: dict) -> list[str]:
    """The quantities of a fit; of those with several elements, the one that mixes worst."""
    found = []
    for name in LOOKED_AT:
        own = [quantity for quantity in told if quantity == name or quantity.startswith(f"{name}[")]
        # Constants, such as α under a fixed kernel, are left out.
        moving = [quantity for quantity in own if told[quantity]["sd"]]
        if moving:
            found.append(max(moving, key=lambda quantity: told[quantity]["r_hat"] or 0.0))
    return found


def add_ranks(ax: Any, draws: np.ndarray) -> None:
    """Histograms of each chain's ranks among the draws of all chains (Vehtari et al. 2021)."""
    ranks = np.argsort(np.argsort(draws.ravel(), kind="stable")).reshape(draws.shape)
    bins = int(np.clip(draws.shape[1] // 5, 2, BINS))
    edges = np.linspace(0, draws.size, bins + 1)
    for i, own in enumerate(ranks):
        heights = np.histogram(own, edges)[0]
        ax.stairs(heights, edges, color=PALETTE[i % len(PALETTE)], linewidth=1.0, fill=False, baseline=None)
        ax.stairs(heights, edges, color=PALETTE[i % len(PALETTE)], alpha=0.15, fill=True)
    ax.axhline(draws.shape[1] / bins, color=GREY, linestyle="--", linewidth=1.0, zorder=0)
    ax.set_ylim(0, None)
    ax.set_yticks([])
    ax.margins(x=0.0)


def grid_of(axs: Any, count: int, ranks: bool) -> np.ndarray:
    """One row of Axes per quantity; or the Axes that were passed."""
    width = 2 if ranks else 1
    if axs is None:
        how: dict[str, Any] = {"squeeze": False, "layout": "constrained", "sharex": "col"}
        shape = {"width_ratios": [3, 1]} if ranks else {}
        return plt.subplots(count, width, figsize=(9.5 if ranks else 7.0, 0.6 + 1.5 * count), gridspec_kw=shape, **how)[1]
    axs = np.atleast_1d(np.asarray(axs, dtype=object)).ravel()
    if len(axs) != count * width:
        each = f"{count} names, each with ranks" if ranks else f"{count} names"
        raise ValueError(f"axs holds {len(axs)} Axes, but {count * width} are needed ({each})")
    return axs.reshape(count, width)


def draws_of(model: Any, name: str) -> np.ndarray:
    """Chains × draws of one quantity."""
    stem, _, place = name.partition("[")
    draws = model.posterior_[stem]
    if place:
        draws = draws.reshape(*draws.shape[:2], -1)[:, :, int(place.rstrip("]"))]
    if draws.ndim != 2:
        raise ValueError(f"'{name}' is not one number per draw but {draws[0, 0].size}; name one of them, such as '{name}[0]'")
    return draws


def title_of(name: str, told: Optional[dict]) -> str:
    """The quantity in words, and how well it has mixed."""
    words = WORDS.get(name.split("[")[0])
    title = name if words is None else f"{name} ({words})"
    if told is None or told.get("r_hat") is None:
        return title
    return rf"{title}:  $\widehat{{R}}$ {told['r_hat']:.2f}, ESS {told['ess_bulk']:.0f}"
