"""Conversion of times: to the text that the program reads, and back to numbers or dates as they were given."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any, Optional, Sequence

import numpy as np

from . import _native
from ._kind import is_missing

#: A quarter as the program writes it.
QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
#: The suffix of a date with a time zone.
ZONE = re.compile(r"(Z|[+-]\d\d:\d\d)$")


@dataclass
class Clock:
    """How times were given, so that new times are returned in the same form."""

    #: NumPy's unit of dates, such as "D" or "ns"; None to infer it from the text.
    unit: Optional[str] = None
    #: The name of the time zone, if the dates have one.
    zone: Optional[str] = None

    @staticmethod
    def of(times: Any) -> Clock:
        """The clock of some times."""
        if times is None:
            return Clock()
        dtype = getattr(times, "dtype", None)
        unit = np.datetime_data(dtype)[0] if isinstance(dtype, np.dtype) and dtype.kind == "M" else getattr(dtype, "unit", None)
        zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
        if unit is None and dtype is None and all(type(time) is datetime.date for time in times):
            unit = "D"
        return Clock(unit if isinstance(unit, str) else None, None if zone is None else str(zone))

    def read(self, texts: Sequence[str]) -> tuple[np.ndarray, Optional[str]]:
        """Times written by the program, as numbers or dates (in UTC if they have a time zone), and the time zone."""
        try:
            return np.array([float(text) for text in texts]), None
        except ValueError:
            pass
        quarters = [QUARTER.fullmatch(text) for text in texts]
        texts = [text if part is None else f"{part[1]}-{3 * int(part[2]) - 2:02d}-01" for text, part in zip(texts, quarters)]
        texts = [f"{text}-01" if len(text) == 7 else text for text in texts]
        found = [ZONE.search(text) for text in texts]
        bare = [text if zone is None else text[: zone.start()] for text, zone in zip(texts, found)]
        # The program writes dates to the microsecond.
        has_micros = any(len(text.rpartition(".")[2]) > 3 for text in bare if "." in text)
        unit = self.unit or ("D" if all(len(text) == 10 for text in bare) else "us" if has_micros else "ms")
        ahead = np.array([0 if zone is None else minutes(zone.group()) for zone in found], dtype="timedelta64[m]")
        dates = (np.array(bare, dtype="datetime64[us]") - ahead).astype(f"datetime64[{unit}]")
        if not found or found[0] is None:
            return dates, None
        return dates, self.zone or ("UTC" if minutes(found[0].group()) == 0 else f"UTC{found[0].group()}")


def minutes(zone: str) -> int:
    """Minutes that a time zone is ahead of UTC."""
    if zone == "Z":
        return 0
    ahead = 60 * int(zone[1:3]) + int(zone[4:6])
    return -ahead if zone[0] == "-" else ahead


def texts_of_times(times: Any, rows: int) -> list[str]:
    """Times as text for the program: numbers with full precision, dates in ISO 8601. A frame has a column per part, such as year and quarter."""
    if hasattr(times, "columns"):
        names = list(getattr(times, "column_names", times.columns))
        if len(names) > 1:
            return _native.joined_times([str(name) for name in names], [texts_of_times(times[name], rows) for name in names])
        times = times[names[0]]
    values = times.to_list() if hasattr(times, "to_list") else times.to_pylist() if hasattr(times, "to_pylist") else list(times)
    if len(values) != rows:
        raise ValueError(f"times has {len(values)} entries, but the table has {rows} rows")
    return [text_of_time(value, n) for n, value in enumerate(values)]


def text_of_time(value: Any, n: int) -> str:
    """The time of row n as text."""
    if isinstance(value, str):
        return value
    if value is not None and is_missing(value) and not isinstance(value, float):
        raise ValueError(f"row {n + 1}: the time is missing; fill it in, or leave the row out")
    if isinstance(value, np.datetime64):
        short = value.astype("datetime64[ms]")
        return str(short) if short == value and value.dtype != np.dtype("datetime64[D]") else str(value)
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        raise TypeError(
            f"row {n + 1}: the time is a duration, {value}, whose unit the model cannot know; "
            "divide the times by one, such as times / numpy.timedelta64(1, 's')"
        )
    if hasattr(value, "to_timestamp"):
        # Use the start of a pandas period.
        value = value.to_timestamp()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"row {n + 1}: the time is {value}, but times are numbers or dates")
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"row {n + 1}: the time is {value!r}, but times are numbers or dates") from None


def texts_of(values: Any, rows: int, what: str) -> list[str]:
    """One text per row."""
    texts = [str(value) for value in values]
    if len(texts) != rows:
        raise ValueError(f"{what} has {len(texts)} entries, but the table has {rows} rows")
    return texts
