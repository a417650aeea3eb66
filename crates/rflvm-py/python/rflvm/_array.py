"""Arrays that can serve as a table; anything else is rejected with a sentence that says what to do."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np

from . import _native
from ._kind import OF_NUMPY, is_missing, refusal


def as_table(X: Any) -> Any:
    """A two-dimensional array or sparse matrix of numbers that the engine can read; copied only if necessary."""
    if hasattr(X, "tocsr"):
        return checked_sparse(X)
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError(f"X is the text {X!r}, but it must be a table; read the file first, as in pandas.read_csv({str(X)!r})")
    if isinstance(X, Mapping):
        raise TypeError(f"X is a {type(X).__name__}, but it must be a table; make it a frame, as in pandas.DataFrame(X)")
    try:
        array = np.asanyarray(X)
    except ValueError:
        raise ValueError("the rows of X differ in length, so it is not a table; pad shorter rows with None, which means missing") from None
    check_shape(array, X)
    _native.check_memory(*array.shape)
    plain = of_plain_numbers(array)
    # Frames of other libraries keep their column names.
    return X if plain is array and not isinstance(X, (list, tuple)) else plain


def checked_sparse(X: Any) -> Any:
    if len(X.shape) != 2:
        raise ValueError(f"X has {len(X.shape)} axis, but a table has rows and columns. Reshape your data")
    _native.check_memory(*X.shape)
    if X.dtype.kind not in "biuf":
        check_kind(X.dtype)
    return X.astype(np.float64) if X.dtype == np.longdouble else X


def check_shape(array: np.ndarray, X: Any) -> None:
    """Reject everything but rows and columns."""
    if array.dtype.names is not None:
        fields = ", ".join(array.dtype.names[:4])
        raise TypeError(f"X is a structured array with the fields {fields}; make it a frame, as in pandas.DataFrame(X)")
    if array.ndim == 0:
        raise ValueError(f"X is {describe(X)}, but it must be a table of rows and columns")
    if array.ndim == 1:
        as_array = "X.reshape(-1, 1) makes it one column, X.reshape(1, -1) one row"
        way = "X.to_frame() makes it one column" if hasattr(X, "to_frame") else as_array
        raise ValueError(f"X has one axis with {array.shape[0]} entries, but a table has rows and columns. Reshape your data: {way}")
    if array.ndim > 2:
        shape = " × ".join(map(str, array.shape))
        raise ValueError(
            f"X has {array.ndim} axes ({shape}), but a table has two, rows and columns (found array with dim {array.ndim}). "
            "Reshape your data: X.reshape(len(X), -1) makes each X[i] a row"
        )


def check_kind(dtype: np.dtype) -> None:
    """Reject arrays that do not hold numbers."""
    kind = OF_NUMPY.get(dtype.kind, str(dtype))
    if kind == "complex":
        # scikit-learn's checks look for this phrase.
        raise ValueError(f"Complex data not supported: {refusal('X holds', kind, dtype)}")
    if kind == "text":
        raise ValueError(
            f"X holds text ({dtype}); convert it with X.astype(float), or pass a frame, whose text columns likelihood='auto' treats as categories"
        )
    raise ValueError(refusal("all columns of X hold", kind, dtype))


def of_plain_numbers(array: np.ndarray) -> np.ndarray:
    """Numbers as the engine reads them: in native byte order, and at most double precision."""
    dtype = array.dtype
    if dtype.kind == "O":
        return of_objects(array)
    if dtype.kind not in "biuf":
        check_kind(dtype)
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return array.astype(np.float64)
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def of_objects(array: np.ndarray) -> np.ndarray:
    """Python objects as numbers, None as missing; an error names the first object that is not a number."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    numbers = np.empty(array.shape)
    for place, cell in np.ndenumerate(np.ma.getdata(array)):
        try:
            numbers[place] = np.nan if is_missing(cell) else float(cell)
        except (TypeError, ValueError) as error:
            row, column = (int(i) + 1 for i in place)
            where = f"row {row}, column {column} of X"
            raise type(error)(f"{where} holds {describe(cell)}, which is not a number ({error}); correct it, or give None if it is missing") from None
    return np.ma.MaskedArray(numbers, np.ma.getmaskarray(array)) if np.ma.isMaskedArray(array) else numbers


def describe(cell: Any) -> str:
    """A short description of an object, on one line."""
    text = " ".join(repr(cell).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
