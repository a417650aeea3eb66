"""Build columns of pandas, polars and pyarrow of a given dtype; store dtypes as text, for fits that are loaded later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

if TYPE_CHECKING:
    from ._like import Field


def objects(field: Field, column: np.ndarray) -> list:
    """The cells as Python objects, None where they are missing."""
    if field.values is not None:
        return [None if np.isnan(place) else field.values[int(place)] for place in column]
    if field.kind == "bool":
        return [None if np.isnan(cell) else bool(cell >= 0.5) for cell in column]
    if is_whole(field, column):
        return [None if np.isnan(cell) else int(cell) for cell in column]
    return [None if np.isnan(cell) else float(cell) for cell in column]


def is_whole(field: Field, column: np.ndarray) -> bool:
    """Whether a column of integers can remain a column of integers."""
    seen = column[~np.isnan(column)]
    return field.kind in ("signed", "unsigned") and bool((seen == np.round(seen)).all())


def in_pandas(field: Field, column: np.ndarray) -> Any:
    """A column as pandas has it."""
    import pandas

    if isinstance(field.dtype, pandas.CategoricalDtype):
        return pandas.Categorical(objects(field, column), dtype=field.dtype)
    has_holes = bool(np.isnan(column).any())
    if field.kind == "float" and field.values is None:
        return pandas.array(column, dtype="Float64" if str(field.dtype) == "object" and has_holes else as_float(field.dtype))
    cells = objects(field, column)
    if field.kind in ("signed", "unsigned") and not is_whole(field, column):
        return pandas.array(column, dtype="float64")
    wider = {"bool": "boolean", "signed": "Int64", "unsigned": "UInt64", "float": "float64"}.get(field.kind, "object")
    plain = isinstance(field.dtype, np.dtype) and field.kind != "text"
    try:
        if str(field.dtype) == "object":
            return pandas.Series(cells, dtype=object).array
        # A plain dtype cannot represent missing cells.
        return pandas.array(cells, dtype=wider if plain and has_holes else field.dtype)
    except (OverflowError, TypeError, ValueError):
        return pandas.array(cells, dtype=wider if has_holes or not plain else wider.lower())


def as_float(dtype: Any) -> Any:
    """The dtype of a column of real numbers; float64 for Python objects."""
    return np.dtype("float64") if str(dtype) == "object" else dtype


def in_polars(field: Field, column: np.ndarray) -> Any:
    """A column as polars has it."""
    import polars

    cells = objects(field, column)
    if field.values is not None:
        return polars.Series("", [None if cell is None else str(cell) for cell in cells], dtype=polars.String).cast(field.dtype)
    try:
        return polars.Series("", cells, dtype=field.dtype, strict=True)
    except (OverflowError, TypeError, polars.exceptions.PolarsError):
        return polars.Series("", cells, dtype=polars.Int64 if is_whole(field, column) else polars.Float64)


def in_pyarrow(field: Field, column: np.ndarray) -> Any:
    """A column as pyarrow has it."""
    import pyarrow

    cells = objects(field, column)
    try:
        return pyarrow.array(cells, type=field.dtype)
    except (OverflowError, TypeError, pyarrow.ArrowException):
        return pyarrow.array(cells, type=pyarrow.int64() if is_whole(field, column) else None)


def text_of_polars() -> Any:
    """The dtype of text in polars."""
    import polars

    return polars.String


def text_of_pyarrow() -> Any:
    """The type of text in pyarrow."""
    import pyarrow

    return pyarrow.string()


TEXT: dict[str, Callable[[], Any]] = {"pandas": lambda: np.dtype(object), "polars": text_of_polars, "pyarrow": text_of_pyarrow}
BUILDERS: dict[str, Callable[[Any, np.ndarray], Any]] = {"pandas": in_pandas, "polars": in_polars, "pyarrow": in_pyarrow}


def frame(library: str, labels: list, columns: list, index: Any) -> Any:
    """A frame from finished columns."""
    if library == "pandas":
        import pandas

        # By position, since labels may be of any type.
        made = pandas.DataFrame(dict(enumerate(columns)), index=index)
        made.columns = pandas.Index(labels)
        return made
    if library == "polars":
        import polars

        return polars.DataFrame([column.alias(str(label)) for label, column in zip(labels, columns)])
    import pyarrow

    return pyarrow.table(columns, names=[str(label) for label in labels])


def written(library: str, field: Field) -> dict:
    """A field as JSON; values that JSON cannot represent become text."""

    def plain(value: Any) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        return value if isinstance(value, (bool, int, float, str)) else str(value)

    values = None if field.values is None else [plain(value) for value in field.values]
    ordered = bool(getattr(field.dtype, "ordered", False))
    return {"label": plain(field.label), "kind": field.kind, "values": values, "dtype": str(field.dtype), "ordered": ordered}


def read_dtype(library: str, stored: dict) -> Any:
    """The dtype that a text describes; a plain dtype of the same kind if it cannot be reconstructed."""
    text, values = stored["dtype"], stored["values"]
    if library == "pandas":
        import pandas

        if stored["kind"] == "category" and text == "category":
            return pandas.CategoricalDtype(values, ordered=stored["ordered"])
        try:
            return pandas.api.types.pandas_dtype(text)
        except TypeError:
            return np.dtype({"float": "float64", "signed": "int64", "unsigned": "uint64", "bool": "bool"}.get(stored["kind"], "object"))
    if library == "polars":
        import polars

        if text.startswith("Enum"):
            return polars.Enum([str(value) for value in values])
        return getattr(polars, text.split("(")[0], polars.String if values is not None else polars.Float64)
    import pyarrow

    if stored["kind"] in ("category", "text"):
        return pyarrow.dictionary(pyarrow.int32(), pyarrow.string()) if text.startswith("dictionary") else pyarrow.string()
    try:
        return pyarrow.type_for_alias(text)
    except ValueError:
        return pyarrow.float64()
