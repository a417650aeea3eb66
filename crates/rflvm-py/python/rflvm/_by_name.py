"""What is given besides a table, in the order of the table: matched by name where both name their rows, and otherwise by position."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


def labels_of(values: Any) -> Any:
    """The labels of the rows of a series or a frame of pandas; None for anything else."""
    return values.index if type(values).__module__.split(".")[0] == "pandas" and hasattr(values, "iloc") else None


def rows_in_order(values: Any, wanted: Any, what: str, of: str = "X") -> Any:
    """A series or frame with one row per row of a table, in the order of the labels of the table."""
    found = places(labels_of(values), wanted, what, "row", of)
    return values if found is None else values.iloc[found]


def cells_in_order(values: Any, rows: Any, columns: Any, what: str) -> Any:
    """A frame with the cells of a table, in the order of its rows and columns; an array is left as it is."""
    values = rows_in_order(values, rows, what)
    own = values.columns if labels_of(values) is not None and hasattr(values, "columns") else None
    found = places(own, columns, what, "column", "X")
    return values if found is None else values.iloc[:, found]


def places(own: Any, wanted: Any, what: str, kind: str, of: str) -> Optional[np.ndarray]:
    """Where each wanted label is among a thing's own; None if they are the same, or if one side has no names."""
    if own is None or wanted is None or len(own) != len(wanted):
        # The lengths are compared by whoever needs them.
        return None
    import pandas

    are_texts = isinstance(wanted, list)
    own, wanted = pandas.Index(own), pandas.Index(wanted)
    if own.equals(wanted) or is_counted(own) and not is_number(wanted) or is_counted(wanted) and not is_number(own):
        return None
    # Names in stores and files are text.
    own = own.map(str) if are_texts else own
    by_position = f"give {what}.to_numpy() to match {kind}s by position"
    for index in (own, wanted):
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(f"the {kind}s of {what} are named otherwise than those of {of}, and two are called {twice!r}; {by_position}")
    found = own.get_indexer(wanted)
    if (found < 0).any():
        raise ValueError(f"{what} has no {kind} {wanted[int(np.argmin(found))]!r}, which {of} has; give it the same names, or {by_position}")
    return found


def is_counted(index: Any) -> bool:
    """Whether these are pandas' own labels, 0, 1, 2, …, which are names only next to other numbers."""
    return type(index).__name__ == "RangeIndex" and index.equals(type(index)(len(index)))


def is_number(index: Any) -> bool:
    return getattr(index.dtype, "kind", "O") in "iu"
