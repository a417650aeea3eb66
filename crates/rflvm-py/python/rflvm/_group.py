"""A group of settings: a parameter of the estimator that has parameters itself, in the way of scikit-learn."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Group:
    """Settings that belong together. `clone`, `set_params(sampling__draws=…)` and a grid search see into it."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Any:
        """Change settings by name."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no setting {name!r}; it has {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(self))  # type: ignore[arg-type]
        changed = (f"{name}={value!r}" for name, value, default in values if repr(value) != repr(default))
        return f"{type(self).__name__}({', '.join(changed)})"
