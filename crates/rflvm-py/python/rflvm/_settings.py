"""From parameters to the settings of the program, word by word.

Types are checked here, and whether a number is of any use at all; other ranges are the engine's to check.
"""

from __future__ import annotations

import os
import re
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from ._parameter import MOST, names, number, truth, whole

if TYPE_CHECKING:
    from ._estimator import RFLVM

#: Parameters that are one of a few words.
CHOICES = {
    "kernel": ("learned", "rbf"),
    "time_kernel": ("rbf", "matern12", "matern32", "matern52", "cauchy"),
    "time_form": ("automatic", "dense", "state-space", "inducing"),
    "start": ("pca", "random", "map"),
    "instructions": ("best", "avx2", "baseline"),
}
#: Seeds are numbers of 64 bits.
SEEDS = 2**64


def threads(model: RFLVM) -> int:
    """Threads of the engine; 0 for all cores."""
    given = model.n_jobs
    if given is None or given == -1 and not isinstance(given, bool):
        return 0
    if not isinstance(given, Integral) or isinstance(given, bool) or given == 0:
        raise ValueError(f"n_jobs is {given!r}, but it must be a whole number other than 0, or None for all cores")
    if given > MOST["n_jobs"]:
        raise ValueError(f"n_jobs is {given}, but it must be at most {MOST['n_jobs']}")
    return int(given) if given > 0 else max(1, (os.cpu_count() or 1) + 1 + int(given))


def seed(model: RFLVM) -> int:
    """The seed, as given or drawn from where scikit-learn draws its own."""
    given = model.random_state
    if isinstance(given, Integral) and not isinstance(given, bool):
        if not 0 <= int(given) < SEEDS:
            raise ValueError(f"random_state is {given}, but a seed is a whole number from 0 to {SEEDS - 1}")
        return int(given)
    if isinstance(given, np.random.Generator):
        return int(given.integers(2**31 - 1))
    try:
        return int(check_random_state(given).randint(2**31 - 1))
    except ValueError:
        sentence = f"random_state is {given!r}, but it must be a whole number, a RandomState, a Generator, or None"
        raise ValueError(sentence) from None


def settings(model: RFLVM, seed: int, columns: int, *, has_times: bool, has_sequences: bool, has_offset: bool) -> dict:
    """The parameters in the words of config.toml, for a table of so many columns."""
    if model.offset is not None and (not isinstance(model.offset, str) or model.offset not in ("none", "size-factors")):
        raise ValueError(f"offset is {model.offset!r}, but it must be None or 'size-factors'; give numbers to fit")
    for name, known in CHOICES.items():
        if not isinstance(getattr(model, name), str) or getattr(model, name) not in known:
            raise ValueError(f"unknown {name} {getattr(model, name)!r}; choose one of {', '.join(known)}")
    if has_offset and model.offset == "size-factors":
        raise ValueError("offset is given as numbers and as size-factors; choose one of them")
    path = {
        "time-kernel": model.time_kernel,
        "time-trend": truth(model.time_trend, "time_trend"),
        "time-form": model.time_form,
        "inducing": whole(model.inducing, "inducing"),
    }
    return {
        "offset": "offset" if has_offset else model.offset or "none",
        "time": "time" if has_times else None,
        "sequence": "sequence" if has_sequences else None,
        "model": {
            "latent-dim": axes(model.n_components, columns),
            "features": whole(model.n_features, "n_features"),
            "kernel": model.kernel,
            "length-scale": number(model.length_scale, "length_scale"),
            "amplitude": model.amplitude if isinstance(model.amplitude, str) else repr(number(model.amplitude, "amplitude")),
        },
        "path": path if has_times else {},
        "run": {
            "warmup": whole(model.warmup, "warmup"),
            "draws": whole(model.draws, "draws", least=1),
            "thin": whole(model.thin, "thin", least=1),
            "chains": whole(model.chains, "chains", least=1),
            "seed": seed,
            "threads": threads(model),
            "instructions": model.instructions,
            "start": model.start,
            "keep": names(model.keep, "keep"),
            "checkpoint": number(model.checkpoint, "checkpoint"),
        },
    }


def axes(value: Any, columns: int) -> Any:
    """The latent dimension: a number, or a word."""
    if isinstance(value, str):
        if not re.fullmatch(r"auto(:[1-9]\d{0,8})?", value):
            raise ValueError(f"n_components is {value!r}, but it must be a whole number, 'auto', or 'auto:K' to begin with K axes")
        return value
    if not 1 <= whole(value, "n_components") <= columns:
        raise ValueError(f"n_components is {value}, but it must lie between 1 and the number of columns, {columns}")
    return int(value)
