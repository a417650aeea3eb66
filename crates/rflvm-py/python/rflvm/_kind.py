"""What a column holds: booleans, integers, real numbers, categories, text, or something that no family accepts."""

from __future__ import annotations

import datetime
from numbers import Integral, Number, Real
from typing import Any, Optional

import numpy as np

#: Kinds of NumPy dtypes.
OF_NUMPY = {"b": "bool", "u": "unsigned", "i": "signed", "f": "float", "c": "complex", "M": "date", "m": "span", "U": "text", "S": "text"}
#: Prefixes of dtype names in pandas, polars and pyarrow; the first match counts.
OF_NAMES = (
    (("category", "categorical", "enum", "dictionary"), "category"),
    (("bool",), "bool"),
    (("uint",), "unsigned"),
    (("interval",), "intervals"),
    (("int",), "signed"),
    (("float", "double", "halffloat", "decimal", "null"), "float"),
    (("datetime", "date", "timestamp", "period"), "date"),
    (("timedelta", "duration", "time"), "span"),
    (("str", "large_string", "utf8"), "text"),
)
#: Kinds that can be fitted.
TAKEN = ("bool", "unsigned", "signed", "float", "category", "text")


def kind_of(series: Any) -> str:
    """bool, unsigned, signed, float, category, text, date, span (a duration), complex, or the name of the dtype."""
    dtype = dtype_of(series)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return OF_NUMPY.get(dtype.kind, str(dtype))
    name = str(dtype).lower()
    if name == "object":
        return kind_of_objects(cells_of(series))
    return next((kind for starts, kind in OF_NAMES if name.startswith(starts)), name)


def dtype_of(series: Any) -> Any:
    """The dtype of a column; for a sparse column, the dtype of its cells."""
    dtype = series.type if hasattr(series, "type") else series.dtype
    return getattr(dtype, "subtype", dtype) if type(dtype).__name__ == "SparseDtype" else dtype


def kind_of_objects(cells: list) -> str:
    """The kind of a column of Python objects, determined from all of its cells."""
    seen = [cell for cell in cells if not is_missing(cell)]

    def are(*kinds: type) -> bool:
        return all(isinstance(cell, kinds) for cell in seen)

    if seen and are(bool, np.bool_):
        return "bool"
    if are(Integral) and seen:
        return "signed"
    if are(Real) or are(Number) and not any(isinstance(cell, complex) for cell in seen):
        return "float"
    if are(datetime.date, np.datetime64) or all(type(cell).__name__ == "Period" for cell in seen):
        return "date"
    if are(datetime.timedelta, datetime.time, np.timedelta64):
        return "span"
    if are(str, Real):
        return "text"
    odd = next(cell for cell in seen if not isinstance(cell, (str, Real)))
    return f"objects of the type {type(odd).__name__}"


def cells_of(series: Any) -> list:
    """The cells of a column as Python objects."""
    return series.to_pylist() if hasattr(series, "to_pylist") else series.to_list()


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas.NA, the last of which is not even true or false."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or not_itself(cell)


def not_itself(cell: Any) -> bool:
    unlike = cell != cell
    return bool(unlike) if isinstance(unlike, (bool, np.bool_)) else False


def refusal(what: str, kind: str, dtype: Any, name: Optional[str] = None) -> str:
    """Why a column, or a whole array, cannot be fitted; and what to do."""
    column = "X" if name is None else f"X[{name!r}]"
    if kind == "date":
        hint = "and fit the columns of numbers" if name is None else "and leave the column out of X"
        return f"{what} dates ({dtype}), which are not numbers to fit; give them as times={column if name else '…'}, {hint}"
    if kind == "span":
        return (
            f"{what} lengths of time ({dtype}), which have no unit that the model could know; divide them by one, such as "
            f"{column} / numpy.timedelta64(1, 's'), or give that as times= if it says when rows were observed"
        )
    if kind == "complex":
        return f"{what} complex numbers ({dtype}), which no family takes; fit their real and imaginary parts as separate columns"
    shown = kind if str(dtype) == "object" else dtype
    return f"{what} {shown}, which no family takes; convert it to numbers, or leave it out"
