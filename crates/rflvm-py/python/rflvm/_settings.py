"""From parameters to the settings of config.toml, and back. Which there are is the engine's to say; see `_native.settings`."""

from __future__ import annotations

import json
import os
import re
from numbers import Integral
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional

import numpy as np
from sklearn.utils import check_random_state

from . import _native
from ._parameter import names, number, truth, whole

if TYPE_CHECKING:
    from ._estimator import RFLVM

#: One entry per setting that Python has: `name`, `group` and `class` of the group, `parameter`, whether it `is_parameter` of the estimator itself,
#: `earlier` names, `kind`, `default`, `range`, `choices`.
TABLE: list[dict] = json.loads(_native.settings())
#: The class of each group.
CLASSES: dict[str, str] = {entry["group"]: entry["class"] for entry in TABLE if not entry["is_parameter"]}
#: All priors, as they are if none is given.
DEFAULT_PRIORS: dict = json.loads(_native.priors("{}"))
#: Seeds are 64-bit integers.
SEEDS = 2**64


def of(model: RFLVM, entry: dict) -> Any:
    """The value of a setting."""
    if entry["is_parameter"]:
        return getattr(model, entry["parameter"])
    group = model._group(entry["group"])
    if type(group).__name__ != entry["class"]:
        raise no_group(entry["group"], group)
    return getattr(group, entry["parameter"])


def no_group(name: str, value: Any) -> TypeError:
    """A parameter that must be a group of settings is not."""
    return TypeError(f"{name} is {value!r}, but it must be a group of settings such as rflvm.{CLASSES[name]}(), or None")


def threads(model: RFLVM) -> int:
    """Number of threads; 0 for all cores."""
    given, (_, most) = model.n_jobs, range_of("n_jobs")
    if given is None or given == -1 and not isinstance(given, bool):
        return 0
    if not isinstance(given, Integral) or isinstance(given, bool) or given == 0:
        raise ValueError(f"n_jobs is {given!r}, but it must be a whole number other than 0, or None for all cores")
    if given > most:
        raise ValueError(f"n_jobs is {given}, but it must be at most {most}")
    return int(given) if given > 0 else max(1, (os.cpu_count() or 1) + 1 + int(given))


def range_of(parameter: str) -> tuple[int, int]:
    """The smallest and the largest value of a parameter."""
    least, most = next(entry["range"] for entry in TABLE if entry["parameter"] == parameter)
    return int(least), int(most)


def seed(model: RFLVM) -> int:
    """The seed, as given or drawn in the way of scikit-learn."""
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
    """The parameters as settings of config.toml, for a table with a given number of columns."""
    own: dict[str, Callable[[Any], Any]] = {
        "likelihood": lambda _: None,
        "trials": lambda _: None,
        "offset": lambda given: "offset" if has_offset else offset(given),
        "latent_dim": lambda given: axes(given, columns),
        "amplitude": amplitude,
        "period": lambda given: None if given is None else number(given, "period"),
        "random_state": lambda _: seed,
        "n_jobs": lambda _: threads(model),
    }
    written: dict[str, Any] = {"model": {}, "paths": {}, "sampling": {}, "compute": {}, "priors": priors(model.priors)}
    for entry in TABLE:
        parameter, group = entry["parameter"], entry["group"]
        given = of(model, entry)
        value = own[parameter](given) if parameter in own else checked(entry, given)
        (written[group] if group else written)[entry["name"]] = value
    if has_offset and offset(model.offset) == "size-factors":
        raise ValueError("offset is given as numbers and as size-factors; choose one of them")
    written["time"] = "time" if has_times else None
    written["sequence"] = "sequence" if has_sequences else None
    if not has_times:
        written["paths"] = {}
    return written


def checked(entry: dict, value: Any) -> Any:
    """A parameter of the kind that the engine expects."""
    name, kind = entry["parameter"], entry["kind"]
    if kind == "whole":
        least, most = entry["range"] or (0, None)
        return whole(value, name, least=int(least), most=None if most is None else int(most))
    if kind == "number":
        return number(value, name)
    if kind == "truth":
        return truth(value, name)
    if kind == "names":
        return names(value, name)
    if isinstance(value, str) and not entry["choices"]:  # the engine reads it
        return value
    if not isinstance(value, str) or value not in entry["choices"]:
        choices = f"choose one of {', '.join(entry['choices'])}" if entry["choices"] else "it must be text"
        raise ValueError(f"unknown {name} {value!r}; {choices}")
    return value


def offset(value: Any) -> str:
    """How offsets are found, where they are not given as numbers."""
    if value is not None and (not isinstance(value, str) or value not in ("none", "size-factors")):
        raise ValueError(f"offset is {value!r}, but it must be None or 'size-factors'; give numbers to fit")
    return value or "none"


def amplitude(value: Any) -> str:
    """The amplitude: a number, or a word."""
    return value if isinstance(value, str) else repr(number(value, "amplitude"))


def priors(value: Any) -> Optional[dict]:
    """The priors that are given, with names as in config.toml; the engine has the defaults of the others."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"priors is {value!r}, but it must be a mapping such as {{'noise': {{'shape': 2, 'rate': 0.5}}}}, or None")
    try:
        text = json.dumps(hyphenated(value), allow_nan=False, default=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"priors is {value!r}, but all of its values must be finite numbers ({error})") from None
    _native.priors(text)
    return json.loads(text)


def hyphenated(value: Any) -> Any:
    """A mapping, and those within, with names as in config.toml: `student_t` is student-t."""
    if not isinstance(value, Mapping):
        return value
    return {str(name).replace("_", "-"): hyphenated(inner) for name, inner in value.items()}


def axes(value: Any, columns: int) -> Any:
    """The latent dimension: a number, or "auto"."""
    if isinstance(value, str):
        if not re.fullmatch(r"auto(:[1-9]\d{0,8})?", value):
            raise ValueError(f"latent_dim is {value!r}, but it must be a whole number, 'auto', or 'auto:K' to start with K axes")
        return value
    if not 1 <= whole(value, "latent_dim") <= columns:
        raise ValueError(f"latent_dim is {value}, but it must be between 1 and {columns}, the number of columns")
    return int(value)


def parameters(settings: dict) -> dict:
    """The parameters of a fit with these settings, groups included, all but its likelihood and `n_jobs`."""
    found: dict[str, Any] = {}
    for entry in TABLE:
        stored = (settings.get(entry["group"]) or {}) if entry["group"] else settings
        value, parameter = stored.get(entry["name"]), entry["parameter"]
        name = parameter if entry["is_parameter"] else f"{entry['group']}__{parameter}"
        if parameter in ("likelihood", "n_jobs"):
            continue
        if parameter == "offset":
            found[name] = value if value == "size-factors" else None
        elif parameter == "trials":
            found[name] = int(value) if value and value.isdigit() else None
        elif parameter == "amplitude" and value is not None:
            found[name] = value if value.isalpha() else float(value)
        elif value is not None:
            found[name] = tuple(value) if entry["kind"] == "names" else value
    stored = settings.get("priors")
    found["priors"] = None if stored == DEFAULT_PRIORS else stored
    return found
