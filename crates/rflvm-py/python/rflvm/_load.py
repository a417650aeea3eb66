"""Load the fit in a folder as a model."""

from __future__ import annotations

import os
from typing import Optional, Union

from ._estimator import RFLVM
from ._folder import Folder


def load(path: Union[str, os.PathLike], *, n_jobs: Optional[int] = None) -> RFLVM:
    """Load the fit in a folder, made by Python or by the program: finished, interrupted, or still running."""
    model = RFLVM(n_jobs=n_jobs, store=os.fspath(path))
    model._adopt(Folder(path))
    settings = model._settings_now()
    run, shape, paths = settings["run"], settings["model"], settings.get("path") or {}
    trials = settings.get("trials") or ""
    families = {name: family for name, family in zip(model._fit.columns, model._fit.families)}
    model.set_params(
        n_components=shape["latent-dim"],
        likelihood=settings["likelihood"] if settings.get("likelihood") else families,
        n_features=shape["features"],
        kernel=shape["kernel"],
        length_scale=shape["length-scale"],
        amplitude=shape["amplitude"] if shape["amplitude"] == "learned" else float(shape["amplitude"]),
        offset=settings["offset"] if settings["offset"] == "size-factors" else None,
        trials=int(trials) if trials.isdigit() else None,
        **{name.replace("-", "_"): value for name, value in paths.items() if value is not None},
        random_state=run["seed"],
        keep=tuple(run["keep"]),
        **{name: run[name] for name in ("warmup", "draws", "thin", "chains", "start", "checkpoint", "instructions")},
    )
    model._learn()
    return model
