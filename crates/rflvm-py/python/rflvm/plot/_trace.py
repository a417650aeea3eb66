"""Traces and rank plots of the quantities by which convergence is judged."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._draw import draw, line, over_time

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
    chains, count = model.posterior_.chains, len(drawn[0][0])

    def panel(name: str, draws: np.ndarray) -> dict:
        lines = [line(range(count), own, name=i, look="trace") for i, own in enumerate(draws)]
        return {"label": name, "heading": title_of(name, told.get(name)), "lines": lines}

    about = {"names": [f"chain {chain + 1}" for chain in chains], "ranks": ranks, "note": "chains that agree overlap, and their ranks are even"}
    picture = over_time(np.arange(1.0, count + 1), [panel(*one) for one in zip(names, drawn)], across="draw", **about)
    axs = draw(picture, axs, **lines)
    return axs.reshape(len(names), 2) if ranks else axs


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
    return f"{title}: R̂ {told['r_hat']:.2f}, ESS {told['ess_bulk']:.0f}"
