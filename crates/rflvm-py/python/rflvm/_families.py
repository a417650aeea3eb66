"""The family of each column: as requested, or according to what the column holds."""

from __future__ import annotations

from functools import partial
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _native
from ._disk import OnDisk
from ._kind import OF_NUMPY, TAKEN, dtype_of, kind_of, refusal
from ._like import Field, Like, library_of
from ._table import Column, Layout, numbers_of, series_of
from ._warn import warn

#: Families of non-negative integers.
COUNTS = _native.COUNTS
#: Families of text and categories.
CATEGORIES = _native.CATEGORIES
#: Families of ordered levels.
LEVELS = _native.LEVELS
#: The family of columns of text, unless another is requested.
OF_TEXT = "multinomial"
#: The families of a table in a file, which is not read to choose them.
BY_KIND = {"bool": "bernoulli", "unsigned": "negative-binomial", "float": "gaussian"}
#: How many columns to name in a message; beyond that, it gives their number.
SOME = 12


def learn(X: Any, likelihood: Union[str, Mapping], names: Optional[Sequence[str]] = None) -> Layout:
    """What the columns of a table mean, according to the requested likelihood and their kinds."""
    likelihood = canonical(likelihood)
    if isinstance(X, OnDisk):
        names = X.names
    if library_of(X) is None:
        labels = [str(j + 1) for j in range(X.shape[1])] if names is None else [str(name) for name in names]
        return Layout(columns_of_array(X, likelihood, labels), named=names is not None)
    wanted = {} if isinstance(likelihood, str) else {str(name): family for name, family in likelihood.items()}
    for_all = likelihood if isinstance(likelihood, str) and likelihood != "auto" else None
    check_kinds(X)
    columns, fields, choice, ordered = [], [], Choice(len(X)), []
    for label, series in series_of(X):
        name, field = str(label), Field.of(label, series)
        family = wanted.pop(name, None) or for_all
        is_ordered = bool(getattr(field.dtype, "ordered", False)) and field.values is not None
        # The order of two levels says nothing.
        has_order = is_ordered and len(field.values or ()) > 2
        if family is None and has_order:
            family = "ordinal"
        check_texts(name, field, family or OF_TEXT, len(series), is_ordered)
        if field.values is not None and family in LEVELS:
            columns.append(Column(name, family, order=field.levels))
        else:
            columns.append(Column(name, family or OF_TEXT, field.levels))
            if has_order:
                ordered.append(name)
        fields.append(field)
        if family is None:
            choice.add(columns[-1], field.kind, partial(numbers_of, series, name, library_of(X)))
    if wanted:
        raise ValueError(f"likelihood names a column '{next(iter(wanted))}' that the table does not have")
    for column, cells in choice.conclude(has_groups=True):
        # Groups that are numbers.
        field = fields[columns.index(column)]
        field.values = [int(value) for value in np.unique(cells[~np.isnan(cells)])]
        column.levels = field.levels
    if ordered:
        warn(
            f"{listed(ordered)} ordered categories, whose order the family multinomial does not use; "
            f"the family ordinal does, as in likelihood={{{ordered[0]!r}: 'ordinal'}}"
        )
    return Layout(columns, named=True, like=Like(library_of(X) or "", fields))


def check_kinds(X: Any) -> None:
    """Reject columns that no family accepts, such as dates: say what to do about the first, and name the others."""
    found = [(str(label), kind_of(series), dtype_of(series)) for label, series in series_of(X)]
    refused = [(name, kind, dtype) for name, kind, dtype in found if kind not in TAKEN]
    if refused:
        (name, kind, dtype), others = refused[0], [name for name, _, _ in refused[1:]]
        also = f"; {listed(others)} values that cannot be fitted, too" if others else ""
        raise ValueError(f"{refusal(f'column {name!r} holds', kind, dtype, name)}{also}")


def canonical(likelihood: Any) -> Union[str, Mapping]:
    """A likelihood, or the likelihoods of several columns, by their canonical names."""
    check_likelihood(likelihood)
    if isinstance(likelihood, str):
        return "auto" if likelihood.lower() == "auto" else _native.canonical(likelihood)
    return {column: _native.canonical(family) for column, family in likelihood.items()}


def check_likelihood(likelihood: Any) -> None:
    """A family, or families by column."""
    if isinstance(likelihood, str):
        return
    if not isinstance(likelihood, Mapping):
        raise TypeError(f"likelihood is {likelihood!r}, but it must be the name of a family, 'auto', or a mapping from columns to families")
    for column, family in likelihood.items():
        if not isinstance(family, str):
            raise TypeError(f"likelihood of column {column!r} is {family!r}, but it must be the name of a family")


def columns_of_array(X: Any, likelihood: Union[str, Mapping], names: list[str]) -> list[Column]:
    """The columns of an array with their families; a mapping names columns by their place or name."""
    if isinstance(likelihood, str) and likelihood != "auto":
        return [Column(name, likelihood) for name in names]
    kind = OF_NUMPY.get(X.dtype.kind, str(X.dtype))
    wanted = {} if isinstance(likelihood, str) else dict(likelihood)
    if isinstance(X, OnDisk) and kind == "signed":
        raise ValueError(f"X is a table of {X.dtype} in a file, which may be counts or not; name their family, as in likelihood='poisson'")
    table = X.tocsc() if hasattr(X, "tocsr") else X
    columns, choice = [], Choice(X.shape[0])
    for j, name in enumerate(names):
        family = wanted.pop(j, None) or wanted.pop(name, None)
        columns.append(Column(name, family or BY_KIND.get(kind, OF_TEXT)))
        if family is None and not isinstance(X, OnDisk):
            choice.add(columns[-1], kind, partial(dense_column, table, j))
    if wanted:
        raise ValueError(f"likelihood names a column '{next(iter(wanted))}' that the table does not have")
    choice.conclude(has_groups=False)
    return columns


def dense_column(X: Any, j: int) -> np.ndarray:
    """The cells of a column, NaN where they are missing."""
    return X[:, [j]].toarray().ravel() if hasattr(X, "tocsr") else np.ma.filled(np.ma.asarray(X[:, j], dtype=float), np.nan)


class Choice:
    """Families by the values of columns, as the program chooses them; then by their dtypes."""

    def __init__(self, rows: int) -> None:
        self._kinds = _native.Kinds(rows)
        self._columns: list[tuple[Column, str, Any]] = []

    def add(self, column: Column, kind: str, cells: Any) -> None:
        """A column whose family is to be chosen; `cells` returns its numbers."""
        if column.levels is not None:
            self._kinds.levels(len(column.levels))
        elif kind == "bool":
            self._kinds.truth()
        else:
            self._kinds.number(np.asarray(cells(), dtype=float))
        self._columns.append((column, kind, cells))

    def conclude(self, has_groups: bool) -> list[tuple[Column, np.ndarray]]:
        """Set the families, and what columns hold. Returns the columns of numbers that are categories, with their cells."""
        groups, floats = [], []
        for (column, kind, cells), (family, holds) in zip(self._columns, self._kinds.suited(has_groups)):
            column.family, column.holds = family, holds
            if column.family in CATEGORIES and column.levels is None:
                groups.append((column, np.asarray(cells(), dtype=float)))
            if kind == "float" and column.holds == "counts":
                floats.append(column)
        if floats:
            first = floats[0]
            warn(
                f"{listed([column.name for column in floats])} counts, as floats, which likelihood='auto' fits as {first.family}; "
                f"if they are measurements, name their family, as in likelihood={{{first.name!r}: 'gaussian'}}"
            )
        return groups


def listed(names: list[str]) -> str:
    """Some columns as the subject of a sentence."""
    shown = ", ".join(repr(name) for name in names[:SOME])
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return f"column {shown} holds" if len(names) == 1 else f"columns {shown}{more} hold"


def check_texts(name: str, field: Field, family: str, rows: int, is_ordered: bool) -> None:
    """Categories and text need the multinomial, or if they have an order the ordinal; and names of rows cannot be fitted."""
    if field.values is None or family in LEVELS and is_ordered:
        return
    if family in LEVELS:
        raise ValueError(
            f"column '{name}' holds {'categories' if field.kind == 'category' else 'text'} without an order, which {family} needs; "
            "make it an ordered categorical of pandas, or give it the family multinomial"
        )
    if family not in CATEGORIES:
        raise ValueError(
            f"column '{name}' holds {'categories' if field.kind == 'category' else 'text'}, which only the family {', '.join(CATEGORIES)} takes; "
            "leave the column out, or give likelihood='auto'"
        )
    if field.kind == "text" and 2 * len(field.values) > rows:
        raise ValueError(
            f"column '{name}' holds {len(field.values)} different texts in {rows} rows, which look like names of the rows; "
            "leave the column out, or make it categorical"
        )
