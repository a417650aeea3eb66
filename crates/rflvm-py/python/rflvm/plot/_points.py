"""Points and ellipses, and the colours of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.offsetbox import AnchoredOffsetbox, AuxTransformBox, TextArea, VPacker
from matplotlib.patches import Polygon

from .._colour import GREY, INK, PLAIN, Class, classes
from ._of import place_of

#: Corners of an ellipse.
CORNERS = 48
#: Beyond this number, points have no edges and are drawn in random order, so that no class covers the others.
MANY = 600
#: Beyond this number, points are rasterised in vector files.
HEAVY = 2000


@dataclass
class Look:
    """The colours of rows: by class, by number, or all the same."""

    groups: list[Class]
    #: A colour map, with the numbers.
    shade: Any = None
    title: str = ""

    def rgba(self, rows: int) -> np.ndarray:
        """The colour of each row."""
        if self.shade is not None:
            return self.shade.to_rgba(self.shade.get_array())
        colours = np.tile(to_rgba(PLAIN), (rows, 1))
        for group in self.groups:
            colours[group.rows] = to_rgba(group.colour)
        return colours


def look_of_rows(model: Any, labels: Any, values: Any, cmap: Any) -> Look:
    """Classes by label, or colours by value."""
    rows = model.embedding_.shape[0]
    if values is not None:
        is_column = isinstance(values, (str, int, np.integer))
        numbers = model._fit.table()[:, place_of(model.columns_, values)] if is_column else np.asarray(values, dtype=float)
        if numbers.shape != (rows,):
            raise ValueError(f"values has the shape {numbers.shape}, but the fit has {rows} rows, and needs one number per row")
        shade = plt.cm.ScalarMappable(cmap=plt.get_cmap(cmap).with_extremes(bad=GREY))
        shade.set_array(np.ma.masked_invalid(numbers))
        shade.autoscale_None()
        return Look([], shade, str(getattr(values, "name", None) or (values if isinstance(values, str) else "")))
    labels = model._labels if labels is None else labels
    if labels is None:
        return Look([])
    if len(labels) != rows:
        raise ValueError(f"labels has {len(labels)} entries, but the fit has {rows} rows")
    return Look(classes(labels))


def add_points(ax: Axes, places: np.ndarray, look: Look, points: dict) -> None:
    """One point per row; the more there are, the smaller and fainter."""
    count = len(places)
    style: dict[str, Any] = {"s": float(np.clip(6000.0 / count, 3.0, 26.0)), "zorder": 2}
    if count > MANY:
        style.update(linewidths=0.0, alpha=float(np.clip(1500.0 / count, 0.25, 0.85)))
    else:
        style.update(linewidths=0.4, edgecolors="white")
    if count > HEAVY:
        style["rasterized"] = True
    style.update(points)
    if look.shade is not None and places.shape[1] == 3:
        # 3D axes omit points without a value, unless each has its own colour.
        ax.scatter(*places.T, **{"c": look.rgba(count), **style})
    elif look.shade is not None:
        style = {"c": look.shade.get_array(), "cmap": look.shade.cmap, "norm": look.shade.norm, "plotnonfinite": True, **style}
        ax.scatter(*places.T, **style)
    elif not look.groups:
        ax.scatter(*places.T, **{"color": PLAIN, **style})
    elif count > MANY:
        # In one call and in random order, so that the last class does not cover the others.
        order = np.random.default_rng(0).permutation(count)
        ax.scatter(*places[order].T, **{"c": look.rgba(count)[order], **style})
        for group in look.groups:
            ax.scatter(*np.empty((places.shape[1], 0)), label=group.name, **{"color": group.colour, **style})
    else:
        for group in look.groups:
            ax.scatter(*places[group.rows].T, label=group.name, **{"color": group.colour, "marker": group.marker, **style})


def corners_of(covariance: np.ndarray, radius: float) -> np.ndarray:
    """Ellipses about 0, one for each covariance."""
    lengths, turns = np.linalg.eigh(covariance)
    root = turns * np.sqrt(np.maximum(lengths, 0.0))[:, np.newaxis, :]
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.swapaxes(root @ (radius * np.stack([np.cos(angle), np.sin(angle)])), 1, 2)


def add_ellipses(ax: Axes, mean: np.ndarray, covariance: np.ndarray, radius: float, colours: np.ndarray) -> None:
    """One ellipse per row, all in one collection."""
    corners = mean[:, np.newaxis, :] + corners_of(covariance, radius)
    inside, edge = colours.copy(), colours.copy()
    # The more they overlap, the fainter they are.
    lengths = np.linalg.eigvalsh(covariance)
    span = np.ptp(corners.reshape(-1, 2), axis=0).prod()
    cover = np.pi * radius**2 * np.sqrt(np.maximum(lengths.prod(axis=1), 0.0)).sum() / max(span, 1e-300)
    inside[:, 3], edge[:, 3] = np.clip(0.15 / max(cover, 1e-9), 0.0, 0.12), np.clip(0.8 / max(cover, 1e-9), 0.1, 0.6)
    ellipses = PolyCollection(corners, facecolors=inside, edgecolors=edge, linewidths=0.6, zorder=1, label="_ellipses")
    ax.add_collection(ellipses, autolim=False)
    ax.update_datalim(corners.reshape(-1, 2))


def add_typical_ellipse(ax: Axes, mean: np.ndarray, covariance: np.ndarray, radius: float, level: float) -> None:
    """In the emptiest corner, on the scale of the picture: the ellipse of a row whose uncertainty is the median one."""
    sizes = np.linalg.det(covariance)
    typical = covariance[np.argsort(sizes)[len(sizes) // 2]]
    box = AuxTransformBox(ax.transData)
    box.add_artist(Polygon(corners_of(typical[np.newaxis], radius)[0], facecolor="none", edgecolor=INK, linewidth=0.9))
    words = TextArea(f"{level:.0%} of a typical row", textprops={"fontsize": "x-small", "color": INK})
    side, end = emptiest_corner(mean)
    parts: Any = [words, box] if end == "upper" else [box, words]
    packed = VPacker(children=parts, align=side, pad=0, sep=2)
    ax.add_artist(AnchoredOffsetbox(f"{end} {side}", child=packed, frameon=False, borderpad=0.3, zorder=1))


def emptiest_corner(places: np.ndarray) -> tuple[Any, str]:
    """The corner of the picture with the fewest points."""
    low, high = places.min(axis=0), places.max(axis=0)
    x, y = ((places - low) / np.maximum(high - low, 1e-300)).T
    sides, ends = {"right": x > 0.6, "left": x < 0.4}, {"upper": y > 0.6, "lower": y < 0.4}
    return min(((side, end) for side in sides for end in ends), key=lambda corner: (sides[corner[0]] & ends[corner[1]]).sum())
