"""Warnings that point to the user's line, however deep in the package they originate."""

from __future__ import annotations

import sys
import warnings


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn on behalf of the first caller outside this package and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("rflvm", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
