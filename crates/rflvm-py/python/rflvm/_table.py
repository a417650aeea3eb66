"""Tables in: from whatever a user has to the one copy that the engine works on.

Arrays, sparse matrices and frames of pandas, polars and pyarrow are read column by column or as they lie; none is converted as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _native

#: Families that take whole numbers from zero on.
COUNTS = ("poisson", "negative-binomial", "zero-inflated-poisson", "binomial", "bernoulli", "multinomial")
#: The family of a column of which only its kind is known.
BY_KIND = {
    "bool": "bernoulli",
    "unsigned": "negative-binomial",
    "float": "gaussian",
    "category": "multinomial",
    "text": "multinomial",
}


@dataclass
class Column:
    """A column of the user's table, and the columns that the model makes of it."""

    name: str
    family: str
    #: The names of a category's values, one column each; None for a column of numbers.
    levels: Optional[list[str]] = None

    @property
    def names(self) -> list[str]:
        """Names of the columns of the model."""
        return [self.name] if self.levels is None else [f"{self.name}={level}" for level in self.levels]


@dataclass
class Layout:
    """What the columns of a table mean: learnt in `fit`, used again for new rows."""

    columns: list[Column]
    named: bool
    #: The library of the user's frame, whose kind answers have too.
    frame: Optional[str] = None

    @property
    def names(self) -> list[str]:
        return [name for column in self.columns for name in column.names]

    @property
    def is_uniform(self) -> bool:
        """Whether all columns are numbers of one family."""
        return all(c.levels is None and c.family == self.columns[0].family for c in self.columns)

    def blocks(self) -> str:
        """The families column by column, as the program reads them; each category is a block of its own."""
        lines = ["column,likelihood,block"]
        for i, column in enumerate(self.columns):
            block = "" if column.levels is None else str(i)
            lines += [f"{quoted(name)},{column.family},{block}" for name in column.names]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict:
        columns = [[c.name, c.family, c.levels] for c in self.columns]
        return {"columns": columns, "named": self.named, "frame": self.frame}

    @staticmethod
    def from_json(stored: Mapping) -> Layout:
        return Layout([Column(*c) for c in stored["columns"]], stored["named"], stored["frame"])


@dataclass
class Rows:
    """Rows as the engine takes them, and what is known of them beside their cells."""

    values: _native.Values
    count: int
    ids: Optional[list[str]] = field(default=None)


def quoted(text: str) -> str:
    """A cell of a .csv file."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def kind_of_frame(X: Any) -> Optional[str]:
    """Which library a frame is of; None for anything else."""
    module = type(X).__module__.split(".")[0]
    is_frame = type(X).__name__ in ("DataFrame", "LazyFrame", "Table")
    return module if module in ("pandas", "polars", "pyarrow") and is_frame else None


def canonical(likelihood: Union[str, Mapping]) -> Union[str, Mapping]:
    """A likelihood, or those of several columns, by the names that they are stored by."""
    if isinstance(likelihood, str):
        return "auto" if likelihood.lower() == "auto" else _native.canonical(likelihood)
    return {column: _native.canonical(family) for column, family in likelihood.items()}


def learn(X: Any, likelihood: Union[str, Mapping], names: Optional[Sequence[str]]) -> Layout:
    """What the columns of a table mean, by the likelihood that was asked for and by their kinds."""
    likelihood = canonical(likelihood)
    frame = kind_of_frame(X)
    if frame is None:
        labels = [str(j + 1) for j in range(X.shape[1])] if names is None else [str(name) for name in names]
        families = families_of_array(X, likelihood, labels)
        return Layout([Column(n, f) for n, f in zip(labels, families)], named=names is not None)
    columns = []
    wanted = {} if isinstance(likelihood, str) else {str(name): family for name, family in likelihood.items()}
    for_all = likelihood if isinstance(likelihood, str) and likelihood != "auto" else None
    for name, series in series_of(X):
        kind = kind_of(series)
        family = wanted.pop(name, None) or for_all or family_by_kind(kind, name)
        levels = levels_of(series) if kind in ("category", "text") else None
        if levels is not None and family != "multinomial":
            raise ValueError(
                f"column '{name}' holds {'categories' if kind == 'category' else 'text'}, which only the family multinomial takes; "
                "leave the column out, or give likelihood='auto'"
            )
        if kind == "text" and levels is not None and 2 * len(levels) > len(series):
            raise ValueError(
                f"column '{name}' holds {len(levels)} different texts in {len(series)} rows, which look like names of the rows; "
                "leave the column out, or make it one of categories"
            )
        columns.append(Column(name, family, levels))
    if wanted:
        raise ValueError(f"likelihood names a column '{next(iter(wanted))}' that the table does not have")
    return Layout(columns, named=True, frame=frame)


def families_of_array(X: Any, likelihood: Union[str, Mapping], names: list[str]) -> list[str]:
    """The family of each column of an array; a mapping names columns by their place or name."""
    if isinstance(likelihood, str) and likelihood != "auto":
        return [likelihood] * len(names)
    kind = {"b": "bool", "u": "unsigned", "f": "float"}.get(X.dtype.kind, "signed")
    wanted = {} if isinstance(likelihood, str) else dict(likelihood)
    families = []
    for j, name in enumerate(names):
        family = wanted.pop(j, None) or wanted.pop(name, None)
        families.append(family if family is not None else family_by_kind(kind, name))
    if wanted:
        raise ValueError(f"likelihood names a column '{next(iter(wanted))}' that the table does not have")
    return families


def family_by_kind(kind: str, name: str) -> str:
    family = BY_KIND.get(kind)
    if family is None:
        what = "signed whole numbers" if kind == "signed" else kind
        raise ValueError(
            f"column '{name}' holds {what}, from which its family does not follow; "
            f"give likelihood={{'{name}': 'gaussian'}} or another family, or make counts unsigned"
        )
    return family


def series_of(X: Any) -> Iterator[tuple[str, Any]]:
    """Names and columns of a frame; twice the same name is refused."""
    kind = kind_of_frame(X)
    if kind == "pandas":
        pairs = [(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    elif kind == "polars":
        X = X.collect() if type(X).__name__ == "LazyFrame" else X
        pairs = [(name, X.get_column(name)) for name in X.columns]
    else:
        pairs = [(name, X.column(j)) for j, name in enumerate(X.column_names)]
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(f"two columns are called '{name}'; rename one of them")
        seen.add(name)
    return iter(pairs)


def kind_of(series: Any) -> str:
    """bool, unsigned, signed, float, category, text, or what else a column holds."""
    name = str(series.type if hasattr(series, "type") else series.dtype).lower()
    if name.startswith(("category", "categorical", "enum", "dictionary")):
        return "category"
    if name.startswith("bool"):
        return "bool"
    if name.startswith("uint"):
        return "unsigned"
    if name.startswith("int"):
        return "signed"
    if name.startswith(("float", "double", "halffloat", "decimal")):
        return "float"
    if name.startswith(("str", "string", "large_string", "utf8", "object")):
        return "text" if name != "object" or not is_numeric_object(series) else "float"
    return name


def is_numeric_object(series: Any) -> bool:
    """Whether a column of Python objects is one of numbers."""
    from numbers import Number

    return all(is_missing(cell) or isinstance(cell, (Number, np.generic)) for cell in cells_of(series))


def cells_of(series: Any) -> list:
    """The cells of a column as Python objects."""
    return series.to_pylist() if hasattr(series, "to_pylist") else series.to_list()


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas.NA, the last of which is not even true or false."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def levels_of(series: Any) -> list[str]:
    """The values of a column of categories or text, in their order."""
    if hasattr(series, "cat") and hasattr(series.cat, "categories"):
        return [str(level) for level in series.cat.categories]
    return sorted({str(cell) for cell in cells_of(series) if not is_missing(cell)})


def numbers_of(series: Any, name: str, library: Optional[str]) -> np.ndarray:
    """A column as an array of numbers, NaN where a cell is missing."""
    try:
        if library == "pandas":
            is_plain = isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf"
            return series.to_numpy() if is_plain else series.to_numpy(dtype=float, na_value=np.nan)
        if library == "polars":
            return series.to_numpy() if not series.null_count() and kind_of(series) == "float" else series.cast(float).to_numpy()
        # A truth value becomes a number before it becomes a float.
        column = series.cast("uint8") if kind_of(series) == "bool" else series
        return column.cast("float64").to_numpy()
    except (TypeError, ValueError) as error:
        raise ValueError(f"column '{name}' does not hold numbers only ({error}); convert it, or leave it out") from None


def put_categories(values: _native.Values, series: Any, column: Column, first: int) -> None:
    """One column for each level: 1 where it is there, NaN in all of them where the cell is missing."""
    cells = cells_of(series)
    place = {level: i for i, level in enumerate(column.levels or [])}
    codes = np.empty(len(cells))
    for n, cell in enumerate(cells):
        if is_missing(cell):
            codes[n] = np.nan
        elif str(cell) in place:
            codes[n] = place[str(cell)]
        else:
            known = ", ".join(list(place)[:8])
            raise ValueError(f"row {n + 1}, column '{column.name}': the fit does not know '{cell}'; known are {known}")
    for i in range(len(place)):
        values.column(first + i, np.where(np.isnan(codes), np.nan, (codes == i).astype(float)))


def read(X: Any, layout: Layout, mask: Optional[Any] = None) -> Rows:
    """The rows of a table whose columns are those of the layout, in its order."""
    if kind_of_frame(X) is not None:
        rows = read_frame(X, layout)
    else:
        rows = Rows(_native.Values(X.shape[0], X.shape[1]), X.shape[0])
        if hasattr(X, "tocsr"):
            csr = X.tocsr()
            rows.values.sparse(
                np.asarray(csr.data, dtype=float), csr.indices.astype(np.int64, copy=False), csr.indptr.astype(np.int64, copy=False)
            )
        else:
            rows.values.fill(np.ma.getdata(X))
            if np.ma.isMaskedArray(X):
                rows.values.hide(np.ma.getmaskarray(X))
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(f"mask holds {mask.dtype}, but it must hold True (missing) and False")
        rows.values.hide(mask)
    return rows


def read_frame(X: Any, layout: Layout) -> Rows:
    library, series = kind_of_frame(X), dict(series_of(X))
    count = len(next(iter(series.values())))
    rows = Rows(_native.Values(count, len(layout.names)), count)
    if library == "pandas" and type(X.index).__name__ != "RangeIndex":
        rows.ids = [str(name) for name in X.index]
    first = 0
    for column in layout.columns:
        if column.levels is None:
            rows.values.column(first, numbers_of(series[column.name], column.name, library))
        else:
            put_categories(rows.values, series[column.name], column, first)
        first += len(column.names)
    return rows


def texts_of_times(times: Any, rows: int) -> list[str]:
    """Times as the program reads them: numbers to the last bit, dates by ISO 8601."""
    values = times.to_list() if hasattr(times, "to_list") else list(times)
    if len(values) != rows:
        raise ValueError(f"times has {len(values)} entries, but the table has {rows} rows")
    return [text_of_time(value, n) for n, value in enumerate(values)]


def text_of_time(value: Any, n: int) -> str:
    """One time."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[ms]")) if value.dtype != np.dtype("datetime64[D]") else str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"row {n + 1}: the time is {value}, but times are numbers or dates")
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"row {n + 1}: the time is {value!r}, but times are numbers or dates") from None


def texts_of(values: Any, rows: int, what: str) -> list[str]:
    """One text a row."""
    texts = [str(value) for value in values]
    if len(texts) != rows:
        raise ValueError(f"{what} has {len(texts)} entries, but the table has {rows} rows")
    return texts


def as_frame(array: np.ndarray, layout: Layout, index: Optional[Any] = None) -> Any:
    """An answer in the kind of frame that the table was: pandas or polars; an array for anything else."""
    if layout.frame == "pandas":
        import pandas

        return pandas.DataFrame(array, columns=layout.names, index=index)
    if layout.frame == "polars":
        import polars

        return polars.DataFrame(array, schema=layout.names)
    return array
