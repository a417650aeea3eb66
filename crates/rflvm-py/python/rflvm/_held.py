"""The fit that belongs to a model: kept in a folder, opened on demand."""

from __future__ import annotations

import json
from typing import Any, Optional

import numpy as np

from . import _native, _settings
from ._folder import Folder
from ._posterior import Posterior
from ._table import Column, Layout
from ._times import Clock

#: Where Python keeps what only Python needs.
ABOUT = "python.json"


class Held:
    """The fit and draws of a model. Both are opened on demand, so that a model can be unpickled without its folder."""

    _folder: Folder
    _layout: Layout
    _clock: Clock
    _cells: Optional[dict]
    #: What the draws depend on, which tells whether the folder still holds this fit.
    _origin: Optional[str]
    _fit_: Optional[_native.Fit]
    _drawn_: Optional[_native.Answers]

    @property
    def _fit(self) -> _native.Fit:
        if self._fit_ is None:
            self._fit_ = self._opened()
        return self._fit_

    def _opened(self) -> _native.Fit:
        """The fit in the folder, which must be that of this model."""
        self._folder.check()
        fit = _native.Fit.open(self._folder.path, threads=_settings.threads(self))  # type: ignore[arg-type]
        if getattr(self, "_origin", None) not in (None, fit.origin()):
            raise self._replaced()
        return fit

    def _replaced(self) -> OSError:
        return OSError(
            f"the folder {self._folder.path} holds another fit by now, which replaced that of this model; open it with rflvm.load, "
            "or fit again, into another folder"
        )

    def _check_kept(self) -> None:
        """Raise OSError if the folder no longer holds this fit."""
        self._folder.check()
        if not self._fit.is_kept():
            raise self._replaced()

    @property
    def _drawn(self) -> _native.Answers:
        # Draws are read from the folder on every request.
        self._check_kept()
        if self._drawn_ is None:
            self._drawn_ = self._fit.drawn()
        return self._drawn_

    @property
    def posterior_(self) -> Posterior:
        """All draws, by name."""
        if not hasattr(self, "embedding_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no posterior_")
        return Posterior(self._drawn)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __getstate__(self) -> dict:
        state: Any = super().__getstate__()  # type: ignore[misc]
        # The engine's objects are reopened from the folder.
        return {name: None if name in ("_fit_", "_drawn_", "_job_") else value for name, value in state.items()}

    def _settings_now(self) -> dict:
        """The settings of the fit, as in config.toml."""
        return json.loads(self._fit.settings())

    def _count(self) -> int:
        """Number of draws, over all chains in use."""
        return len(self._drawn.used) * self._drawn.size[1]

    def _about(self) -> dict:
        """What Python needs in order to load the fit later."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "layout": self._layout.to_json(),
            "n_features_in": int(self.n_features_in_),  # type: ignore[attr-defined]
            "feature_names_in": None if names is None else [str(name) for name in names],
            "clock": [self._clock.unit, self._clock.zone],
            "cells": self._cells,
        }

    def _adopt(self, folder: Folder) -> None:
        """Take over the fit in a folder."""
        self._folder, self._fit_, self._drawn_, self._origin = folder, None, None, None
        self._origin = self._fit.origin()
        self.seed_ = self._settings_now()["sampling"]["seed"]
        about = folder.path / ABOUT
        stored: dict[str, Any] = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
        self._clock, self._cells = Clock(*stored.get("clock", ())), stored.get("cells")
        if stored:
            self._layout = Layout.from_json(stored["layout"])
            names = stored["feature_names_in"]
        else:
            pairs = zip(self._fit.columns, self._fit.families)
            self._layout = Layout([Column(n, f) for n, f in pairs], self._fit.named)
            names = list(self._fit.columns) if self._fit.named else None
        self.n_features_in_ = stored.get("n_features_in", len(self._fit.columns))
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
