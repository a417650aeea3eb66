"""The learned kernel."""

from __future__ import annotations

from typing import Any, Optional

from matplotlib.axes import Axes

from .._colour import GREY, INK, PALETTE, STYLES
from ._panel import beside, new_axes


def kernel(model: Any, *, ax: Optional[Axes] = None, **lines: Any) -> Axes:
    """The learned kernel: similarity of two rows as a function of their distance, along each latent axis and over all directions.

    Lines are posterior means, bands extend from 5% to 95%. `**lines` is passed to `Axes.plot`.
    """
    curves = model.kernel_curves()["kernel"]
    ax = new_axes() if ax is None else ax
    for i, (name, curve) in enumerate(curves.items()):
        is_all = name == "all"
        colour = INK if is_all else PALETTE[i % len(PALETTE)]
        label = "all directions" if is_all else f"along axis {name[1:]}"
        dashes = "-" if is_all else STYLES[1 + i % (len(STYLES) - 1)]
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.5, "label": label}
        ax.fill_between(curve["at"], curve["lower"], curve["upper"], color=colour, alpha=0.35 / len(curves), linewidth=0)
        ax.plot(curve["at"], curve["mean"], **{**style, **lines})
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
    ax.set(xlabel="distance δ", ylabel="kernel k(δ)")
    ax.margins(x=0.0)
    beside(ax)
    return ax
