"""Frames like the user's: the library, names and dtypes of a table, so that results can have the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _build
from ._kind import cells_of, is_missing, kind_of


def library_of(X: Any) -> Optional[str]:
    """The library of a frame: pandas, polars or pyarrow; None for anything else."""
    module = type(X).__module__.split(".")[0]
    is_frame = type(X).__name__ in ("DataFrame", "LazyFrame", "Table")
    return module if module in ("pandas", "polars", "pyarrow") and is_frame else None


@dataclass
class Field:
    """One column of a frame."""

    #: The label of the column; pandas allows more than text.
    label: Any
    dtype: Any
    kind: str
    #: The values of a category or text, in the order of the levels of the model.
    values: Optional[list] = None

    @staticmethod
    def of(label: Any, series: Any) -> Field:
        """The field of a column."""
        kind = kind_of(series)
        dtype = series.type if hasattr(series, "type") else series.dtype
        return Field(label, dtype, kind, values_of(series, label) if kind in ("category", "text") else None)

    @property
    def levels(self) -> Optional[list[str]]:
        """The values as texts."""
        return None if self.values is None else [str(value) for value in self.values]


def values_of(series: Any, name: Any) -> list:
    """The distinct values of a column of categories or text, in order."""
    has_order = hasattr(series, "cat") and hasattr(series.cat, "categories")
    values = list(series.cat.categories) if has_order else [cell for cell in cells_of(series) if not is_missing(cell)]
    seen: dict[str, Any] = {}
    for value in values:
        other = seen.setdefault(str(value), value)
        if other != value:
            raise ValueError(
                f"column '{name}' holds {other!r} and {value!r}, which are written alike; convert the column to text, or rename one of them"
            )
    return values if has_order else [seen[text] for text in sorted(seen)]


@dataclass
class Like:
    """A frame without its rows."""

    library: str
    fields: list[Field]

    def labels(self) -> list:
        """Names of the columns."""
        return [field.label for field in self.fields]

    @staticmethod
    def of(X: Any, series: Sequence[tuple[Any, Any]], known: Optional[Like], levels: Sequence[Optional[list[str]]]) -> Like:
        """The frame X, whose categories have the values of the `known` fit, or at least its levels."""
        library, fields = library_of(X) or "", []
        for j, (label, column) in enumerate(series):
            field, own = Field.of(label, column), levels[j]
            if own is not None and not set(own) <= set(field.levels or ()):
                # A frame with few rows may lack some values, or all.
                is_same = known is not None and known.library == library
                field = replace(known.fields[j], label=label) if known is not None and is_same else Field(label, _build.TEXT[library](), "text", own)
            elif own is not None:
                by_text = {str(value): value for value in field.values or ()}
                field.values = [by_text[level] for level in own]
            fields.append(field)
        return Like(library, fields)

    def frame(self, columns: Sequence[np.ndarray], index: Any = None) -> Any:
        """A frame of these columns, each with its original dtype if that can represent the values.

        Numbers are passed as floats, booleans as 0 and 1, categories and text as indices of their values; NaN is missing.
        """
        made = [_build.BUILDERS[self.library](field, column) for field, column in zip(self.fields, columns)]
        return _build.frame(self.library, self.labels(), made, index)

    def to_json(self) -> dict:
        """The form stored in python.json."""
        return {"library": self.library, "fields": [_build.written(self.library, field) for field in self.fields]}

    @staticmethod
    def from_json(stored: Mapping) -> Like:
        """What `to_json` wrote."""
        library = stored["library"]
        read = [_build.read_dtype(library, written) for written in stored["fields"]]
        return Like(library, [Field(w["label"], dtype, w["kind"], w["values"]) for w, dtype in zip(stored["fields"], read)])


def of_floats(library: Optional[str], array: np.ndarray, names: list, index: Any = None) -> Any:
    """Numbers in a frame of a library; the array itself if there is none."""
    if library is None:
        return array
    if library == "pandas":
        import pandas

        return pandas.DataFrame(array, columns=names, index=index)
    if library == "polars":
        import polars

        return polars.DataFrame(array, schema=[str(name) for name in names])
    import pyarrow

    return pyarrow.table({str(name): array[:, j] for j, name in enumerate(names)})
