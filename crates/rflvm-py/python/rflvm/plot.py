"""Pictures of a fit, one line each, by matplotlib.

>>> rflvm.plot.latent(model, labels=species)
>>> rflvm.plot.trace(model)

Each function draws into the Axes that it is given, or into a new figure, and returns them.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Optional, Sequence, Union

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from sklearn.utils.validation import check_is_fitted

from ._colour import GREY, INK, PALETTE, PLAIN, STYLES, Class, classes

__all__ = ["imputed", "kernel", "latent", "paths", "trace"]

#: Corners of an ellipse.
CORNERS = 48
#: Rows from which on single ones may lie beyond the picture.
MANY = 200


def latent(
    model: Any,
    *,
    labels: Any = None,
    values: Any = None,
    axes: Union[int, Sequence[int]] = (0, 1),
    level: Optional[float] = 0.9,
    ax: Optional[Axes] = None,
    legend: bool = True,
    cmap: Any = "viridis",
    **points: Any,
) -> Axes:
    """Where the rows are: posterior means of their positions, each with the ellipse that holds `level` of its posterior.

    Parameters
    ----------
    model : RFLVM
        A fitted model.
    labels : one a row, default=None
        Classes to colour by, with a legend; those of the fit, where it was made with labels.
    values : one number a row, or a column of the table by name or place, default=None
        Numbers to colour by, with a colour bar.
    axes : two latent axes, or one, counted from 0, default=(0, 1)
        Which to show. One axis, as of a model that has no more, is shown with intervals, rows in order of their position.
    level : float or None, default=0.9
        Share of each row's posterior within its ellipse or interval; None leaves these out.
    ax : Axes, default=None
        Where to draw.
    legend : bool, default=True
        Whether to draw a legend or colour bar.
    cmap : default="viridis"
        Colour map of the values.
    **points
        More for `Axes.scatter`, such as `s=10`.
    """
    check_is_fitted(model)
    shown = chosen_axes(axes, model.embedding_.shape[1])
    if labels is not None and values is not None:
        raise ValueError("labels and values are both given, but points have one colour; choose one of them")
    ax = new_axes() if ax is None else ax
    mean, spread = model.embedding_[:, shown], model.embedding_cov_[:, shown][:, :, shown]
    groups, shade = colours_of_rows(model, labels, values, cmap)
    colours: Any = shade.to_rgba(shade.get_array()) if shade is not None else rgba_of(groups, len(mean))
    if len(shown) == 2:
        places = mean
        if level is not None:
            add_ellipses(ax, mean, spread, radius(level, 2), colours)
    else:
        places = np.column_stack([mean[:, 0], np.argsort(np.argsort(mean[:, 0], kind="stable"))])
        if level is not None:
            reach = radius(level, 1) * np.sqrt(spread[:, 0, 0])
            thin = 0.4 if len(mean) > 300 else 1.0
            ax.hlines(places[:, 1], mean[:, 0] - reach, mean[:, 0] + reach, colors=colours, alpha=0.5, linewidth=thin, zorder=1)
    add_points(ax, places, groups, shade, points)
    dress(ax, shown)
    if legend and shade is not None:
        ax.figure.colorbar(shade, ax=ax, label=getattr(values, "name", None) or (values if isinstance(values, str) else ""))
    elif legend and groups:
        beside(ax)
    return ax


def paths(model: Any, *, level: float = 0.9, axs: Any = None, **lines: Any) -> np.ndarray:
    """Each latent axis over time, one line a sequence, with the band that holds `level` of the posterior at each time.

    `axs` are Axes to draw into, one a latent axis; `**lines` goes to `Axes.plot`. Dates have an axis of dates.
    """
    check_is_fitted(model)
    if model._fit.timeline is None:
        raise ValueError("the rows of this fit have no times, so there are no paths; fit again with times, or draw plot.latent")
    times = times_of(model)
    mean, reach = model.embedding_, radius(level, 1) * model.embedding_std_
    axs = panels(axs, mean.shape[1], (7.0, 2.2), sharex=True)
    sequences = model._fit.sequences or [""] * len(mean)
    parts = split(sequences)
    is_many, faint = len(parts) > len(PALETTE), float(np.clip(0.7 / len(parts), 0.02, 0.2))
    for d, ax in enumerate(axs):
        for i, (name, rows) in enumerate(parts.items()):
            rows = rows[np.argsort(times[rows], kind="stable")]
            style: dict[str, Any] = {"label": name, "color": PLAIN, "linewidth": 0.6}
            if not is_many:
                style.update(color=PALETTE[i], linestyle=STYLES[i % len(STYLES)], linewidth=1.2)
            style.update(lines)
            ax.plot(times[rows], mean[rows, d], **style)
            low, high = mean[rows, d] - reach[rows, d], mean[rows, d] + reach[rows, d]
            ax.fill_between(times[rows], low, high, color=style["color"], alpha=faint, linewidth=0)
        ax.set_ylabel(f"latent axis {d + 1}")
        ax.margins(x=0.01)
    dress_times(axs[-1], times)
    if len(parts) > 1 and not is_many:
        beside(axs[0], title="sequence")
    return axs


def kernel(model: Any, *, ax: Optional[Axes] = None, **lines: Any) -> Axes:
    """The kernel that was learnt: how alike two rows are by their distance, along each latent axis and over all directions.

    Lines are posterior means, bands their 5% to 95%. `**lines` goes to `Axes.plot`.
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


def trace(
    model: Any, names: Union[str, Sequence[str]] = ("lp", "log_likelihood", "alpha", "w2"), *, axs: Any = None, **lines: Any
) -> np.ndarray:
    """Draws of some quantities, a panel each, a line a chain: healthy chains overlap and look like noise.

    `names` are those of `posterior_`, one number a draw, or with a place such as "distance[0]". Titles have R̂ and effective draws
    (bulk) where `diagnostics_` has them. `axs` are Axes to draw into, one a name; `**lines` goes to `Axes.plot`.
    """
    check_is_fitted(model)
    names = [names] if isinstance(names, str) else list(names)
    drawn = [draws_of(model, name) for name in names]
    told = {quantity["name"]: quantity for quantity in model.diagnostics_["quantities"]}
    axs = panels(axs, len(names), (7.0, 1.8), sharex=True)
    for ax, name, draws in zip(axs, names, drawn):
        for i, (chain, line) in enumerate(zip(model.posterior_.chains, draws)):
            style: dict[str, Any] = {"color": PALETTE[i % len(PALETTE)], "linewidth": 0.7, "alpha": 0.85}
            style["label"] = f"chain {chain + 1}"
            ax.plot(np.arange(1, len(line) + 1), line, **{**style, **lines})
        ax.set_title(title_of(name, told.get(name)), loc="left", fontsize="medium")
        ax.margins(x=0.0)
    axs[-1].set_xlabel("draw")
    if len(model.posterior_.chains) > 1:
        beside(axs[0])
    return axs


def imputed(
    model: Any,
    column: Union[str, int],
    *,
    truth: Any = None,
    sequence: Any = None,
    ax: Optional[Axes] = None,
    **points: Any,
) -> Axes:
    """One column of the fitted table by row, or by time: what was observed, and what the fit says of the missing cells.

    Parameters
    ----------
    model : RFLVM
        A fitted model.
    column : str or int
        The column, by name or by place, counted from 0.
    truth : one number a row, or the whole table, default=None
        What the missing cells are known to be, drawn hollow.
    sequence : default=None
        Show the rows of one sequence only.
    ax : Axes, default=None
        Where to draw.
    **points
        More for the points of the observed cells, as `Axes.plot` takes it.
    """
    check_is_fitted(model)
    j = place_of(model, column)
    mean, low, high = (np.asarray(part)[:, j] for part in model.impute(return_interval=True))
    seen = model._fit.table()[:, j]
    known = None if truth is None else column_of(truth, j, len(seen))
    times = times_of(model) if model._fit.timeline is not None else np.arange(len(seen))
    rows = rows_of_sequence(model, sequence)
    there, hole = rows[~np.isnan(seen[rows])], rows[np.isnan(seen[rows])]
    ax = new_axes((7.0, 3.2)) if ax is None else ax
    small = 4.0 if len(rows) <= 300 else 2.0
    style: dict[str, Any] = {"marker": ".", "linestyle": "", "color": GREY, "markersize": 1.5 * small}
    ax.plot(times[there], seen[there], **{**style, "label": "observed", "zorder": 1, **points})
    if len(hole):
        ax.vlines(times[hole], low[hole], high[hole], color=PLAIN, linewidth=1.0, alpha=0.5, zorder=2)
        ax.plot(times[hole], mean[hole], "s", color=PLAIN, markersize=small, zorder=3, label="missing: mean, 5% to 95%")
    if known is not None:
        hollow: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": 0.8}
        ax.plot(times[hole], known[hole], "o", markersize=1.4 * small, **hollow, zorder=4, label="truth")
    ax.set_ylabel(model.columns_[j] if model._layout.named else f"column {model.columns_[j]}")
    if model._fit.timeline is None:
        ax.set_xlabel("row")
    else:
        dress_times(ax, times)
    ax.margins(x=0.01)
    ax.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return ax


# What is shown.


def chosen_axes(axes: Any, there: int) -> list[int]:
    """One or two latent axes; the first of a model that has but one."""
    shown = [int(axes)] if np.ndim(axes) == 0 else [int(d) for d in axes]
    if there == 1 and shown == [0, 1]:
        return [0]
    if len(shown) not in (1, 2):
        raise ValueError(f"axes is {axes!r}, but a picture shows one or two axes")
    for d in shown:
        if not 0 <= d < there:
            raise ValueError(f"axes asks for axis {d}, but the axes of this fit are 0 to {there - 1}")
    return shown


def radius(level: float, axes: int) -> float:
    """How many standard deviations of a Gaussian of one or two axes hold a share of it."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}, but it must be a share between 0 and 1")
    return float(np.sqrt(-2.0 * np.log1p(-level))) if axes == 2 else NormalDist().inv_cdf(0.5 + level / 2.0)


def place_of(model: Any, column: Union[str, int]) -> int:
    """The place of a column of the model."""
    if isinstance(column, str):
        if column in model.columns_:
            return model.columns_.index(column)
        levels = [name for name in model.columns_ if name.startswith(f"{column}=")]
        of = f"it holds categories; name one of {', '.join(levels[:8])}" if levels else "the fit has no such column"
        raise ValueError(f"column is '{column}', but {of}")
    if not 0 <= column < len(model.columns_):
        raise ValueError(f"column is {column}, but the columns of this fit are 0 to {len(model.columns_) - 1}")
    return int(column)


def column_of(truth: Any, j: int, rows: int) -> np.ndarray:
    """One number a row, from a column or from the table that holds it."""
    cells = np.asarray(truth)
    cells = np.asarray(cells[:, j] if cells.ndim == 2 else cells, dtype=float)
    if len(cells) != rows:
        raise ValueError(f"truth has {len(cells)} rows, but the table has {rows}")
    return cells


def times_of(model: Any) -> np.ndarray:
    """Times of the rows, as numbers or dates."""
    times, unit = model._fit.timeline
    times = np.asarray(times, dtype=float)
    if unit is None:
        return times
    origin = np.datetime64(unit[len("days since ") :].replace(" ", "T"), "us")
    return origin + np.round(times * 86_400e6).astype("timedelta64[us]")


def split(sequences: Sequence[str]) -> dict[str, np.ndarray]:
    """The rows of each sequence, sequences in the order in which they first come."""
    names = np.asarray(sequences)
    return {name: np.flatnonzero(names == name) for name in dict.fromkeys(sequences)}


def rows_of_sequence(model: Any, sequence: Any) -> np.ndarray:
    if sequence is None:
        return np.arange(model.embedding_.shape[0])
    parts = split(model._fit.sequences or [])
    if str(sequence) not in parts:
        known = f"known are {', '.join(list(parts)[:8])}" if parts else "its rows have no sequences"
        raise ValueError(f"sequence is '{sequence}', which this fit does not have; {known}")
    return parts[str(sequence)]


def draws_of(model: Any, name: str) -> np.ndarray:
    """Chains × draws of one number."""
    stem, _, place = name.partition("[")
    draws = model.posterior_[stem]
    if place:
        draws = draws.reshape(*draws.shape[:2], -1)[:, :, int(place.rstrip("]"))]
    if draws.ndim != 2:
        raise ValueError(f"'{name}' is not one number a draw but {draws[0, 0].size}; name one of them, such as '{name}[0]'")
    return draws


def title_of(name: str, told: Optional[dict]) -> str:
    if told is None or told.get("r_hat") is None:
        return name
    return rf"{name}:  $\widehat{{R}}$ {told['r_hat']:.2f}, ESS {told['ess_bulk']:.0f}"


# How it is shown.


def colours_of_rows(model: Any, labels: Any, values: Any, cmap: Any) -> tuple[list[Class], Any]:
    """Classes by label, or a map from values to colours that holds the values."""
    rows = model.embedding_.shape[0]
    if values is not None:
        is_column = isinstance(values, (str, int, np.integer))
        numbers = model._fit.table()[:, place_of(model, values)] if is_column else np.asarray(values, dtype=float)
        if numbers.shape != (rows,):
            raise ValueError(f"values has the shape {numbers.shape}, but the fit has {rows} rows, and takes one number each")
        shade = plt.cm.ScalarMappable(cmap=plt.get_cmap(cmap).with_extremes(bad=GREY))
        shade.set_array(np.ma.masked_invalid(numbers))
        shade.autoscale_None()
        return [], shade
    labels = model._fit.labels if labels is None else labels
    if labels is None:
        return [], None
    if len(labels) != rows:
        raise ValueError(f"labels has {len(labels)} entries, but the fit has {rows} rows")
    return classes(labels), None


def rgba_of(groups: list[Class], rows: int) -> np.ndarray:
    """The colour of each row."""
    from matplotlib.colors import to_rgba

    colours = np.tile(to_rgba(PLAIN), (rows, 1))
    for group in groups:
        colours[group.rows] = to_rgba(group.colour)
    return colours


def add_ellipses(ax: Axes, mean: np.ndarray, covariance: np.ndarray, radius: float, colours: np.ndarray) -> None:
    """One ellipse a row, all in one collection: thousands are still quick."""
    lengths, turns = np.linalg.eigh(covariance)
    root = turns * np.sqrt(np.maximum(lengths, 0.0))[:, np.newaxis, :]
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    circle = radius * np.stack([np.cos(angle), np.sin(angle)])
    corners = mean[:, np.newaxis, :] + np.swapaxes(root @ circle, 1, 2)
    inside, edge = colours.copy(), colours.copy()
    # Of many rows, the few that are hardly known do not rule the limits.
    tail = 2.5 if len(mean) > MANY else 0.0
    middle = np.percentile(corners.reshape(-1, 2), [tail, 100.0 - tail], axis=0)
    # The more of them lie over each other, the fainter they are.
    span = np.ptp(middle, axis=0).prod()
    cover = np.pi * radius**2 * np.sqrt(np.maximum(lengths.prod(axis=1), 0.0)).sum() / max(span, 1e-300)
    inside[:, 3], edge[:, 3] = np.clip(0.3 / max(cover, 1e-9), 0.004, 0.12), np.clip(1.5 / max(cover, 1e-9), 0.02, 0.6)
    ellipses = PolyCollection(corners, facecolors=inside, edgecolors=edge, linewidths=0.6, zorder=1, label="_ellipses")
    ax.add_collection(ellipses, autolim=False)
    ax.update_datalim(middle)


def add_points(ax: Axes, places: np.ndarray, groups: list[Class], shade: Any, points: dict) -> None:
    is_crowded = len(places) > 600
    style: dict[str, Any] = {"s": float(np.clip(6000.0 / len(places), 6.0, 26.0)), "zorder": 2}
    style.update({"linewidths": 0.0} if is_crowded else {"linewidths": 0.4, "edgecolors": "white"})
    style.update(points)
    if shade is not None:
        style = {"c": shade.get_array(), "cmap": shade.cmap, "norm": shade.norm, "plotnonfinite": True, **style}
        ax.scatter(places[:, 0], places[:, 1], **style)
    elif not groups:
        ax.scatter(*places.T, **{"color": PLAIN, **style})
    for group in groups:
        ax.scatter(*places[group.rows].T, label=group.name, **{"color": group.colour, "marker": group.marker, **style})


def dress(ax: Axes, shown: list[int]) -> None:
    """Names of the axes; distances are what counts, so both have one scale."""
    ax.set_xlabel(f"latent axis {shown[0] + 1}")
    if len(shown) == 1:
        ax.set_ylabel("rows, in order of position")
        return
    ax.set_ylabel(f"latent axis {shown[1] + 1}")
    is_shared = len(ax.get_shared_x_axes().get_siblings(ax)) > 1 and len(ax.get_shared_y_axes().get_siblings(ax)) > 1
    ax.set_aspect("equal", adjustable="box" if is_shared else "datalim")


def dress_times(ax: Axes, times: np.ndarray) -> None:
    if times.dtype.kind == "M":
        locator = AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    ax.set_xlabel("time")


def beside(ax: Axes, **how: Any) -> None:
    """A legend to the right of the picture, where it covers nothing; its marks are large enough to be told apart."""
    legend = ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), **how)
    # Named otherwise before matplotlib 3.7.
    marks: Any = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
    for mark in marks:
        if hasattr(mark, "set_sizes"):
            mark.set_sizes([30.0])
        elif hasattr(mark, "set_linewidth"):
            mark.set_linewidth(1.5)


def new_axes(size: tuple[float, float] = (6.4, 4.8)) -> Axes:
    """Of a figure whose layout leaves room for what stands beside the picture."""
    return plt.subplots(figsize=size, layout="constrained")[1]


def panels(axs: Any, count: int, size: tuple[float, float], **how: Any) -> np.ndarray:
    """One Axes each, above each other; or those that were given."""
    if axs is None:
        figure, axs = plt.subplots(count, 1, figsize=(size[0], 0.6 + size[1] * count), squeeze=False, layout="constrained", **how)
        return axs[:, 0]
    axs = np.atleast_1d(np.asarray(axs, dtype=object)).ravel()
    if len(axs) != count:
        raise ValueError(f"axs holds {len(axs)} Axes, but {count} are to be drawn; give as many")
    return axs
