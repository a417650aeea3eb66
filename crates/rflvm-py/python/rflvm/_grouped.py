"""Parameters of the estimator that are groups of settings, and parameters by their earlier names."""

from __future__ import annotations

import copy
from typing import Any

from . import _groups, _settings
from ._group import Group
from ._warn import warn

#: The groups, by the parameter that takes them.
GROUPS: dict[str, type[Group]] = {name: getattr(_groups, title) for name, title in _settings.CLASSES.items()}
#: Earlier names of parameters: their group, if they are in one now, and their name.
EARLIER: dict[str, tuple[str, str]] = {
    old: ("" if entry["is_parameter"] else entry["group"], entry["parameter"]) for entry in _settings.TABLE for old in entry["earlier"]
}


class Grouped:
    """What `BaseEstimator` does with parameters, for parameters in groups too. A group that is None has its defaults."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` adds those in groups, as `sampling__draws`."""
        found = super().get_params(deep=False)  # type: ignore[misc]
        for name in GROUPS if deep else ():
            group = self._group(name)
            if isinstance(group, Group):
                found.update({f"{name}__{part}": value for part, value in group.get_params().items()})
        return found

    def set_params(self, **params: Any) -> Any:
        """Change parameters by name; `sampling__draws` is `draws` of the group `sampling`."""
        own: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        earlier: dict[str, Any] = {}
        for name, value in params.items():
            group, is_part, part = name.partition("__")
            if is_part and group in GROUPS:
                parts.setdefault(group, {})[part] = value
            elif name in EARLIER:
                earlier[name] = value
            else:
                own[name] = value
        super().set_params(**own)  # type: ignore[misc]
        for group, values in parts.items():
            self._change(group, values)
        self._rename(earlier)
        return self

    def _group(self, name: str) -> Any:
        """A group, with its defaults if there is none."""
        group = getattr(self, name)
        return GROUPS[name]() if group is None else group

    def _change(self, name: str, values: dict[str, Any]) -> None:
        """Change a group of this model alone: others may share it."""
        group = copy.copy(self._group(name))
        if not isinstance(group, GROUPS[name]):
            raise _settings.no_group(name, group)
        setattr(self, name, group.set_params(**values))

    def _rename(self, earlier: dict[str, Any], *, warns: bool = True) -> None:
        """Take over parameters by their earlier names."""
        told = []
        for old, value in earlier.items():
            if old not in EARLIER:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {old!r}; settings are in the groups {', '.join(GROUPS)}")
            group, name = EARLIER[old]
            if group:
                self._change(group, {name: value})
            else:
                setattr(self, name, value)
            told.append(f"{old} is now {in_words(group, name)}")
        if told and warns:
            warn(f"{'; '.join(told)}. The earlier names will be removed in version 0.4", FutureWarning)

    def __getattr__(self, name: str) -> Any:
        if name not in EARLIER:
            # With its own message.
            return object.__getattribute__(self, name)
        group, new = EARLIER[name]
        warn(f"{name} is now {in_words(group, new)}. The earlier name will be removed in version 0.4", FutureWarning)
        return getattr(self._group(group) if group else self, new)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in EARLIER:
            self._rename({name: value})
        else:
            super().__setattr__(name, value)

    def __setstate__(self, state: dict) -> None:
        # Models that version 0.2 pickled have all parameters by their earlier names.
        earlier = {name: value for name, value in state.items() if name in EARLIER and not is_unset(value)}
        absent = {} if "latent_dim" in state else dict.fromkeys(GROUPS)
        super().__setstate__({**absent, **{name: value for name, value in state.items() if name not in EARLIER}})  # type: ignore[misc]
        self._rename(earlier, warns=False)


def is_unset(value: Any) -> bool:
    """Whether a parameter that was deprecated in version 0.2 was not given there."""
    return isinstance(value, str) and value == "deprecated"


def in_words(group: str, name: str) -> str:
    """Where a parameter is now, as it is typed."""
    return f"{group}=rflvm.{_settings.CLASSES[group]}({name}=…)" if group else name
