"""Colours that remain distinguishable with colour blindness and in grey: the palette of the program's pictures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _table

#: Okabe–Ito without its black and pale yellow, then six of Tol's muted colours.
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
    "#332288", "#999933", "#882255", "#44aa99", "#ddcc77", "#117733",
)  # fmt: skip
#: Shapes tell classes apart where colours do not.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
PLAIN, GREY, INK = PALETTE[0], "#a3a8ae", "#2b2f33"
SOFT, GRID, RIM = "#6b7178", "#e9ecef", "#c9ced3"


class Class(NamedTuple):
    """The rows that share a label, as a legend names and shows them."""

    name: str
    colour: str
    marker: str
    rows: np.ndarray


def classes(labels: Any) -> list[Class]:
    """The classes of some labels, in the order of a categorical, else by name: a class keeps its colour when rows are shuffled.

    Beyond twelve classes, which colours cannot tell apart, the rarest become "other". Rows without a label come last.
    """
    given = np.array([None if is_missing(label) else str(label) for label in labels], dtype=object)
    names = [name for name in ordered(labels) if (given == name).any()]
    if len(names) > len(PALETTE):
        common = sorted(names, key=lambda name: -(given == name).sum())[: len(PALETTE) - 1]
        names = [name for name in names if name in common]
    found = [Class(name, colour, marker, np.flatnonzero(given == name)) for name, colour, marker in zip(names, PALETTE, MARKERS)]
    missing = np.array([label is None for label in given], dtype=bool)
    other = ~missing & ~np.isin(given.astype(str), names)
    for name, rows in (("other", other), ("(no label)", missing)):
        if rows.any():
            found.append(Class(name, GREY, ".", np.flatnonzero(rows)))
    return found


def ordered(labels: Any) -> list[str]:
    """Distinct labels in their order: numbers by value, and `class 2` before `class 10`."""
    categories = getattr(getattr(labels, "cat", labels), "categories", None)
    if categories is not None:
        return [str(category) for category in categories]
    return sorted({str(label) for label in labels if not is_missing(label)}, key=natural)


def is_missing(label: Any) -> bool:
    """Whether a label is missing or blank."""
    return _table.is_missing(label) or not str(label).strip()


def natural(name: str) -> tuple:
    try:
        return ("", float(name), name)
    except ValueError:
        stem = name.rstrip("0123456789")
        return (stem, float(name[len(stem) :] or -1), name)
