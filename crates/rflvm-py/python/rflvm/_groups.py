"""The groups of settings, from the engine's table of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union

from ._group import Group

# From here on written by `make settings`.
