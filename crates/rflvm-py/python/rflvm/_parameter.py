"""Validation of single parameters: type, and a sensible size."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Optional


def whole(value: Any, name: str, *, least: int = 0, most: Optional[int] = None) -> int:
    """A parameter that must be a whole number."""
    if not isinstance(value, Integral) or is_truth(value):
        raise TypeError(f"{name} is {value!r}, but it must be a whole number")
    number = int(value)
    if number < 0:
        raise ValueError(f"{name} is {number}, but it must not be negative")
    if number < least:
        raise ValueError(f"{name} is {number}, but it must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{name} is {number}, but it must be at most {most}")
    return number


def number(value: Any, name: str) -> float:
    """A parameter that must be a finite number."""
    if not isinstance(value, Real) or is_truth(value):
        raise TypeError(f"{name} is {value!r}, but it must be a number")
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}, but it must be a finite number")
    return float(value)


def truth(value: Any, name: str) -> bool:
    """A parameter that must be True or False."""
    if not is_truth(value):
        raise TypeError(f"{name} is {value!r}, but it must be True or False")
    return bool(value)


def is_truth(value: Any) -> bool:
    """Whether a value is True or False, of Python or of NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def names(value: Any, name: str) -> list[str]:
    """A parameter that must be a list of names."""
    if isinstance(value, str) or not hasattr(value, "__iter__") or not all(isinstance(part, str) for part in value):
        raise TypeError(f"{name} is {value!r}, but it must be a list of names, such as ['w', 'beta', 'theta']")
    return [str(part) for part in value]
