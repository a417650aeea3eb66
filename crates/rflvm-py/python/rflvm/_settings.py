"""From parameters to the settings of the program, word by word; ranges are the engine's to check."""

from __future__ import annotations

import os
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from ._estimator import RFLVM

#: Parameters that are one of a few words.
CHOICES = {
    "kernel": ("learned", "rbf"),
    "time_form": ("automatic", "dense", "state-space", "inducing"),
    "start": ("pca", "random", "map"),
    "instructions": ("best", "avx2", "baseline"),
}


def threads(model: RFLVM) -> int:
    """Threads of the engine; 0 for all cores."""
    if model.n_jobs is None or model.n_jobs == -1:
        return 0
    if not isinstance(model.n_jobs, Integral) or isinstance(model.n_jobs, bool) or model.n_jobs == 0:
        raise ValueError(f"n_jobs is {model.n_jobs!r}, but it must be a whole number other than 0, or None for all cores")
    return int(model.n_jobs) if model.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(model.n_jobs))


def seed(model: RFLVM) -> int:
    """The seed, as given or drawn from where scikit-learn draws its own."""
    if isinstance(model.random_state, Integral) and not isinstance(model.random_state, bool):
        if model.random_state < 0:
            raise ValueError(f"random_state is {model.random_state}, but a seed is not negative")
        return int(model.random_state)
    return int(check_random_state(model.random_state).randint(2**31 - 1))


def settings(model: RFLVM, seed: int, has_times: bool, has_sequences: bool, has_offset: bool) -> dict:
    """The parameters in the words of config.toml, checked as far as their types go; their ranges are the engine's to check."""
    if model.offset not in (None, "none", "size-factors"):
        raise ValueError(f"offset is {model.offset!r}, but it must be None or 'size-factors'; give numbers to fit")
    for name, known in CHOICES.items():
        if getattr(model, name) not in known:
            raise ValueError(f"there is no {name} {getattr(model, name)!r}; known are {', '.join(known)}")
    if has_offset and model.offset == "size-factors":
        raise ValueError("offset is given as numbers and as size-factors; choose one of them")
    path = {
        "time-kernel": model.time_kernel,
        "time-trend": bool(model.time_trend),
        "time-form": model.time_form,
        "inducing": whole(model.inducing, "inducing"),
    }
    return {
        "offset": "offset" if has_offset else model.offset or "none",
        "time": "time" if has_times else None,
        "sequence": "sequence" if has_sequences else None,
        "model": {
            "latent-dim": model.n_components if isinstance(model.n_components, str) else whole(model.n_components, "n_components"),
            "features": whole(model.n_features, "n_features"),
            "kernel": model.kernel,
            "length-scale": number(model.length_scale, "length_scale"),
            "amplitude": model.amplitude if isinstance(model.amplitude, str) else repr(number(model.amplitude, "amplitude")),
        },
        "path": path if has_times else {},
        "run": {
            "warmup": whole(model.warmup, "warmup"),
            "draws": whole(model.draws, "draws"),
            "thin": whole(model.thin, "thin"),
            "chains": whole(model.chains, "chains"),
            "seed": seed,
            "threads": threads(model),
            "instructions": model.instructions,
            "start": model.start,
            "keep": [str(name) for name in model.keep],
            "checkpoint": number(model.checkpoint, "checkpoint"),
        },
    }


def whole(value: Any, name: str) -> int:
    """A parameter that must be a whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}, but it must be a whole number")
    if value < 0:
        raise ValueError(f"{name} is {value}, but it must not be negative")
    return int(value)


def number(value: Any, name: str) -> float:
    """A parameter that must be a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}, but it must be a number") from None
