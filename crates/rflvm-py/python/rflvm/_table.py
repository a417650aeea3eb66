"""Input of tables: from the user's data to the single copy that the engine works on.

Arrays, sparse matrices and frames of pandas, polars and pyarrow are read in place or column by column, and files by tiles; none is converted
as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from . import _native
from ._by_name import cells_in_order
from ._disk import OnDisk
from ._kind import TAKEN, cells_of, dtype_of, is_missing, kind_of, refusal
from ._like import Like, library_of


@dataclass
class Column:
    """A column of the user's table, and the corresponding columns of the model."""

    name: str
    family: str
    #: The levels of a category, with one column per level; None for a column of numbers.
    levels: Optional[list[str]] = None
    #: The levels of an ordered category in one column, which holds their places from 1.
    order: Optional[list[str]] = None
    #: What it holds, if its family was chosen accordingly.
    holds: Optional[str] = None

    @property
    def names(self) -> list[str]:
        """Names of the columns of the model."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]


@dataclass
class Layout:
    """What the columns of a table mean: learned in `fit`, applied to new rows."""

    columns: list[Column]
    named: bool
    #: The user's frame, whose library and dtypes results have too; None for an array.
    like: Optional[Like] = None

    @property
    def names(self) -> list[str]:
        """Names of the columns of the model."""
        return [name for column in self.columns for name in column.names]

    @property
    def is_uniform(self) -> bool:
        """Whether all columns are numbers of one family."""
        return all(c.levels is None and c.order is None and c.family == self.columns[0].family for c in self.columns)

    def places(self) -> Iterator[tuple[Column, slice]]:
        """The columns of the user's table, each with its columns of the model."""
        first = 0
        for column in self.columns:
            yield column, slice(first, first + len(column.names))
            first += len(column.names)

    def families(self) -> list[tuple[str, str, str, str]]:
        """Column, family, number of ordered levels and block, as the engine takes them; each category is a separate block."""
        found = []
        for column in self.columns:
            levels = "" if column.order is None else str(len(column.order))
            block = "" if column.levels is None else column.name
            found += [(name, column.family, levels, block) for name in column.names]
        return found

    def to_json(self) -> dict:
        """The form stored in python.json."""
        columns = [[c.name, c.family, c.levels, c.order, c.holds] for c in self.columns]
        return {"columns": columns, "named": self.named, "like": None if self.like is None else self.like.to_json()}

    @staticmethod
    def from_json(stored: Mapping) -> Layout:
        """What `to_json` wrote."""
        like = stored.get("like")
        return Layout([Column(*c) for c in stored["columns"]], stored["named"], None if like is None else Like.from_json(like))


@dataclass
class Rows:
    """Rows as the engine takes them, with their names."""

    values: _native.Values
    count: int
    ids: Optional[list[str]] = None
    #: Labels of the rows and columns of a pandas frame, and names of the rows of a file.
    index: Any = None
    columns: Any = None


def series_of(X: Any) -> list[tuple[Any, Any]]:
    """Names and columns of a frame."""
    if library_of(X) == "pandas":
        return [(name, X.iloc[:, j]) for j, name in enumerate(X.columns)]
    if library_of(X) == "polars":
        return [(name, X.get_column(name)) for name in X.columns]
    return [(name, X.column(j)) for j, name in enumerate(X.column_names)]


def check_names(X: Any) -> None:
    """Reject a frame with duplicate column names."""
    seen: set[str] = set()
    for name in X.column_names if library_of(X) == "pyarrow" else X.columns:
        if str(name) in seen:
            raise ValueError(f"two columns are called '{name}'; rename one of them")
        seen.add(str(name))


def numbers_of(series: Any, name: str, library: Optional[str]) -> np.ndarray:
    """A column as an array of numbers, NaN where a cell is missing."""
    kind, dtype = kind_of(series), dtype_of(series)
    if kind not in TAKEN:
        raise ValueError(refusal(f"column {name!r} holds", kind, dtype, name))
    try:
        if library == "pandas":
            is_plain = isinstance(series.dtype, np.dtype) and dtype.kind in "biuf" and dtype.isnative and dtype.itemsize <= 8
            if is_plain and dtype != np.float16:
                return series.to_numpy()
            return series.to_numpy(dtype=float, na_value=np.nan)
        if library == "polars":
            return series.to_numpy() if not series.null_count() and str(dtype) in ("Float32", "Float64") else series.cast(float).to_numpy()
        # pyarrow casts booleans to floats only by way of integers.
        column = series.cast("uint8") if kind == "bool" else series
        return column.cast("float64").to_numpy()
    except Exception as error:
        if not isinstance(error, (TypeError, ValueError)) and type(error).__module__.split(".")[0] not in ("polars", "pyarrow"):
            raise
        reason = " ".join(str(error).split())
        raise ValueError(f"column '{name}' does not hold numbers only ({reason}); convert it, or leave it out") from None


def codes_of(series: Any, column: Column, levels: list[str]) -> np.ndarray:
    """The place of each cell among the levels, from 0; NaN where it is missing."""
    cells = cells_of(series)
    place = {level: i for i, level in enumerate(levels)}
    codes = np.empty(len(cells))
    for n, cell in enumerate(cells):
        if is_missing(cell):
            codes[n] = np.nan
        elif (text := text_of(cell, place)) in place:
            codes[n] = place[text]
        else:
            known = ", ".join(list(place)[:8])
            raise ValueError(f"row {n + 1}, column '{column.name}': the fit does not know '{cell}'; known are {known}")
    return codes


def put_categories(values: _native.Values, series: Any, column: Column, first: int) -> None:
    """One column per level: 1 where the cell has that level, NaN in all columns where the cell is missing."""
    levels = column.levels or []
    codes = codes_of(series, column, levels)
    for i in range(len(levels)):
        values.column(first + i, np.where(np.isnan(codes), np.nan, (codes == i).astype(float)))


def text_of(cell: Any, levels: Mapping) -> str:
    """A cell of a category as text; numbers that are groups may be floats."""
    text = str(cell)
    return text if text in levels or not isinstance(cell, (float, np.floating)) or not float(cell).is_integer() else str(int(cell))


def check_whole(cells: Any, what: str) -> None:
    """Refuse whole numbers that would be rounded."""
    if cells.dtype.kind in "iu" and cells.dtype.itemsize == 8 and cells.size and (cells.max() > 2**53 or cells.min() < -(2**53)):
        raise ValueError(f"{what} holds whole numbers beyond 2^53, which would be rounded; subtract a constant, or leave them out")


def read(X: Any, layout: Layout, mask: Optional[Any] = None) -> Rows:
    """The rows of a table, with the columns of the layout in its order."""
    if library_of(X) is not None:
        rows = read_frame(X, layout)
    else:
        rows = Rows(_native.Values(X.shape[0], X.shape[1]), X.shape[0])
        if isinstance(X, OnDisk):
            X.fill(rows.values)
            rows.ids = None if X.ids is None else [str(name) for name in X.ids]
            rows.index = rows.ids
        elif hasattr(X, "tocsr"):
            csr = X.tocsr()
            rows.values.sparse(np.asarray(csr.data, dtype=float), csr.indices.astype(np.int64, copy=False), csr.indptr.astype(np.int64, copy=False))
        else:
            check_whole(X, "X")
            rows.values.fill(np.ma.getdata(X))
            if np.ma.isMaskedArray(X):
                rows.values.hide(np.ma.getmaskarray(X))
    if mask is not None:
        hide(rows, layout, np.asarray(cells_in_order(mask, rows.index, rows.columns, "mask")))
    return rows


def hide(rows: Rows, layout: Layout, mask: np.ndarray) -> None:
    """Mark cells as missing; for a category, in all of its columns."""
    if mask.dtype != bool:
        raise TypeError(f"mask holds {mask.dtype}, but it must hold True (missing) and False")
    wide = [len(column.names) for column in layout.columns]
    if mask.ndim == 2 and mask.shape[1] == len(wide) < sum(wide):
        mask = np.repeat(mask, wide, axis=1)
    if mask.ndim != 2:
        raise ValueError(f"mask has {mask.ndim} axes, but it must have the shape of X")
    rows.values.hide(mask)


def read_frame(X: Any, layout: Layout) -> Rows:
    """The rows of a frame."""
    library, series = library_of(X), {str(name): column for name, column in series_of(X)}
    count = len(next(iter(series.values())))
    rows = Rows(_native.Values(count, len(layout.names)), count)
    if library == "pandas":
        rows.index, rows.columns = X.index, X.columns
        if type(X.index).__name__ != "RangeIndex":
            rows.ids = [str(name) for name in X.index]
    for column, places in layout.places():
        if column.order is not None:
            rows.values.column(places.start, codes_of(series[column.name], column, column.order) + 1)
        elif column.levels is None:
            cells = numbers_of(series[column.name], column.name, library)
            check_whole(cells, f"column '{column.name}'")
            rows.values.column(places.start, cells)
        else:
            put_categories(rows.values, series[column.name], column, places.start)
    return rows
