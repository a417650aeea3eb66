"""Covariates of rows, in the form that the engine takes: one list of texts per covariate."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._by_name import rows_in_order
from ._kind import is_missing, kind_of

#: Ends the name of a covariate that is a category.
CATEGORY = ":category"


def columns_of(covariates: Any) -> dict[str, Any]:
    """The columns of a frame, a mapping, an array or a series, by name."""
    if isinstance(covariates, Mapping):
        return {str(name): values for name, values in covariates.items()}
    if hasattr(covariates, "column_names"):
        return {str(name): covariates[name].to_pylist() for name in covariates.column_names}
    if hasattr(covariates, "columns"):
        return {str(name): covariates[name] for name in covariates.columns}
    array = covariates if hasattr(covariates, "dtype") else np.asarray(covariates)
    if len(getattr(array, "shape", (0,))) == 1:
        return {str(getattr(array, "name", None) or "covariate"): array}
    if len(array.shape) != 2:
        raise ValueError(f"covariates have the shape {array.shape}, but they must be rows × covariates")
    return {f"covariate{c + 1}": array[:, c] for c in range(array.shape[1])}


def texts_of_covariates(covariates: Any, rows: int, known: Sequence[str] = (), index: Any = None) -> tuple[list[str], list[list[str]]]:
    """Names of the covariates, marked if they are categories, and their cells; `known` are those of a fit, marked likewise.

    `index` holds the labels of the rows, if they have any.
    """
    names, cells = [], []
    for name, values in columns_of(covariates).items():
        values = rows_in_order(values, index, "covariates")
        is_grouped = name + CATEGORY in known or hasattr(values, "dtype") and kind_of(values) in ("category", "text", "bool")
        values = values.to_list() if hasattr(values, "to_list") else list(values)
        if len(values) != rows:
            raise ValueError(f"the covariate '{name}' has {len(values)} entries, but there are {rows} rows")
        is_number = not is_grouped and all(is_missing(value) or is_real(value) for value in values)
        names.append(name if is_number else name + CATEGORY)
        cells.append(["" if is_missing(value) else repr(float(value)) if is_number else str(value) for value in values])
    return names, cells


def in_order_of(known: Sequence[str], covariates: Any, rows: int, index: Any = None) -> list[list[str]]:
    """Covariates of new rows in the order of those of the fit; an array has them in that order."""
    wanted = [name.removesuffix(CATEGORY) for name in known]
    columns = columns_of(covariates)
    if not hasattr(covariates, "columns") and not isinstance(covariates, Mapping) and len(columns) == len(wanted):
        columns = dict(zip(wanted, columns.values()))
    names, cells = texts_of_covariates(columns, rows, known, index)
    plain = [name.removesuffix(CATEGORY) for name in names]
    lacking = [name for name in wanted if name not in plain]
    if lacking:
        raise ValueError(f"the covariate '{lacking[0]}' of the fit is not given for the new rows; there are {', '.join(plain)}")
    return [cells[plain.index(name)] for name in wanted]


def settings_of(covariates: Optional[Mapping]) -> list[str]:
    """Covariates of a single row, as NAME=VALUE."""
    if covariates is None:
        return []
    if not isinstance(covariates, Mapping):
        raise TypeError(f"covariates is a {type(covariates).__name__}, but it must be a mapping, such as {{'batch': 'A'}}")
    return [f"{name}={value}" for name, value in covariates.items()]


def of_points(covariates: Any, rows: int, known: Sequence[str]) -> dict[str, list]:
    """Covariates of points, in words of the engine: one value for all of them, or one per point."""
    if covariates is None:
        return {}
    if not isinstance(covariates, Mapping) and not hasattr(covariates, "columns"):
        raise TypeError(
            f"covariates is a {type(covariates).__name__}, but it must be a mapping, such as {{'batch': 'A'}}, or a frame with one row per position"
        )
    columns = columns_of(covariates)
    common = {name: value for name, value in columns.items() if isinstance(value, str) or not hasattr(value, "__len__")}
    names, cells = texts_of_covariates({name: value for name, value in columns.items() if name not in common}, rows, known)
    return {"covariates": settings_of(common), "names": [name.removesuffix(CATEGORY) for name in names], "cells": cells}


def is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
