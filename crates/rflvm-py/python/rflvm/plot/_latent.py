"""Positions of the rows, with their uncertainty."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Optional, Sequence, Union

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from ._of import radius
from ._panel import beside, new_axes, panels
from ._points import Look, add_ellipses, add_points, add_typical_ellipse, look_of_rows

#: Up to this number, each row has an ellipse; more would cover each other.
FEW = 100


def latent(
    model: Any,
    *,
    labels: Any = None,
    values: Any = None,
    axes: Union[str, int, Sequence[int]] = (0, 1),
    level: Optional[float] = 0.9,
    ax: Any = None,
    legend: bool = True,
    cmap: Any = "viridis",
    **points: Any,
) -> Any:
    """Posterior means of the positions of the rows, with their uncertainty.

    Up to 100 rows, each row has an ellipse that contains the fraction `level` of its posterior. For more rows, a typical ellipse is
    drawn in a corner.

    Parameters
    ----------
    model : RFLVM
        A fitted model.
    labels : one per row, default=None
        Classes to colour by, with a legend. By default the labels of the fit, if it has any.
    values : one number per row, or a column of the table by name or place, default=None
        Numbers to colour by, with a colour bar.
    axes : two latent axes, or one, counted from 0; "pairs"; or "3d"; default=(0, 1)
        Which to show. A single axis is shown with intervals, rows in order of their position. "pairs" draws a panel for each pair of
        axes; "3d" draws the first three, without uncertainty.
    level : float or None, default=0.9
        Fraction of each row's posterior within its ellipse or interval; None leaves these out.
    ax : Axes, or an array of them for "pairs", default=None
        Where to draw; for "3d", Axes with projection="3d".
    legend : bool, default=True
        Whether to draw a legend or colour bar.
    cmap : default="viridis"
        Colour map of the values.
    **points
        Further arguments of `Axes.scatter`, such as `s=10`.

    Returns
    -------
    Axes, or an array of them for "pairs"
    """
    check_is_fitted(model)
    if labels is not None and values is not None:
        raise ValueError("labels and values are both given, but points have one colour; choose one of them")
    there = model.embedding_.shape[1]
    look = look_of_rows(model, labels, values, cmap)
    if isinstance(axes, str):
        if axes not in ("pairs", "3d"):
            raise ValueError(f"axes is {axes!r}, but it must be one or two numbers, 'pairs', or '3d'")
        if there < (3 if axes == "3d" else 2):
            raise ValueError(f"axes is {axes!r}, but this fit has {there} latent {'axis' if there == 1 else 'axes'}")
        if axes == "3d":
            return in_space(model, look, ax, legend, points)
        pairs = list(combinations(range(there), 2))
        axs = panels(ax, len(pairs), (4.2, 3.8), columns=min(3, len(pairs)))
        for n, (pair, panel) in enumerate(zip(pairs, axs)):
            in_plane(model, list(pair), look, level, panel, points)
            if legend and n == len(pairs) - 1:
                explain(panel, look)
        return axs
    shown = chosen_axes(axes, there)
    ax = new_axes() if ax is None else ax
    (in_plane if len(shown) == 2 else in_order)(model, shown, look, level, ax, points)
    if legend:
        explain(ax, look)
    return ax


def in_plane(model: Any, shown: list[int], look: Look, level: Optional[float], ax: Axes, points: dict) -> None:
    """Two axes on the same scale, since distances matter."""
    mean, spread = model.embedding_[:, shown], model.embedding_cov_[:, shown][:, :, shown]
    if level is not None and len(mean) <= FEW:
        add_ellipses(ax, mean, spread, radius(level, 2), look.rgba(len(mean)))
    add_points(ax, mean, look, points)
    ax.set(xlabel=f"latent axis {shown[0] + 1}", ylabel=f"latent axis {shown[1] + 1}")
    is_shared = len(ax.get_shared_x_axes().get_siblings(ax)) > 1 and len(ax.get_shared_y_axes().get_siblings(ax)) > 1
    ax.set_aspect("equal", adjustable="box" if is_shared else "datalim")
    if level is not None and len(mean) > FEW:
        add_typical_ellipse(ax, mean, spread, radius(level, 2), level)


def in_order(model: Any, shown: list[int], look: Look, level: Optional[float], ax: Axes, points: dict) -> None:
    """One axis, rows in order of their position, with intervals."""
    mean, spread = model.embedding_[:, shown[0]], model.embedding_cov_[:, shown[0], shown[0]]
    places = np.column_stack([mean, np.argsort(np.argsort(mean, kind="stable"))])
    if level is not None:
        reach = radius(level, 1) * np.sqrt(spread)
        thin, colours = 0.4 if len(mean) > 300 else 1.0, list(map(tuple, look.rgba(len(mean))))
        ax.hlines(places[:, 1], mean - reach, mean + reach, colors=colours, alpha=0.5, linewidth=thin, zorder=1)
    add_points(ax, places, look, points)
    ax.set(xlabel=f"latent axis {shown[0] + 1}", ylabel="rows, in order of position")


def in_space(model: Any, look: Look, ax: Any, legend: bool, points: dict) -> Axes:
    """The first three axes."""
    ax = new_axes((6.4, 5.6), subplot_kw={"projection": "3d"}) if ax is None else ax
    if not hasattr(ax, "set_zlabel"):
        raise ValueError("ax has two axes; make it with projection='3d', as in plt.subplots(subplot_kw={'projection': '3d'})")
    add_points(ax, model.embedding_[:, :3], look, points)
    ax.set(xlabel="latent axis 1", ylabel="latent axis 2", zlabel="latent axis 3")
    ax.set_aspect("equal")
    if legend:
        explain(ax, look, pad=0.12, shrink=0.7)
    return ax


def explain(ax: Axes, look: Look, **how: Any) -> None:
    """A colour bar, or a legend."""
    if look.shade is not None:
        ax.figure.colorbar(look.shade, ax=ax, label=look.title, **how)
    elif look.groups:
        beside(ax)


def chosen_axes(axes: Any, there: int) -> list[int]:
    """One or two latent axes; the first if the model has only one."""
    shown = [int(axes)] if np.ndim(axes) == 0 else [int(d) for d in axes]
    if there == 1 and shown == [0, 1]:
        return [0]
    if len(shown) not in (1, 2):
        raise ValueError(f"axes is {axes!r}, but a picture shows one or two axes; axes='pairs' and axes='3d' show more")
    for d in shown:
        if not 0 <= d < there:
            raise ValueError(f"axes asks for axis {d}, but the axes of this fit are 0 to {there - 1}")
    return shown
