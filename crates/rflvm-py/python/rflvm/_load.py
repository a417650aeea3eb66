"""Fits in folders, as models."""

from __future__ import annotations

import os
from typing import Optional, Union

from . import _settings
from ._estimator import RFLVM
from ._folder import Folder


def load(path: Union[str, os.PathLike], *, n_jobs: Optional[int] = None) -> RFLVM:
    """Open the fit in a folder, made by Python or by the program: finished, interrupted, or still running."""
    model = RFLVM(n_jobs=n_jobs, store=os.fspath(path))
    model._adopt(Folder(path))
    settings = model._settings_now()
    families = dict(zip(model._fit.columns, model._fit.families))
    model.set_params(likelihood=settings.get("likelihood") or families, **_settings.parameters(settings))
    model._learn()
    return model
