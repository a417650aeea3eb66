"""Draws pictures as the engine describes them: panels with axes and marks, a key and notes. The program draws the same as SVG."""

from __future__ import annotations

import json
from typing import Any, Optional, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from .. import _native
from .._colour import GRID, INK, RIM, SOFT

#: Inches and points per pixel of the description.
INCH, POINT = 1 / 96, 0.75
DASHED = (0, (5, 3))


def over_time(times: Any, panels: Sequence[dict], **more: Any) -> dict:
    """The picture of values over time: each panel has lines, whose values are of the times at the places in `rows`."""
    times = np.asarray(times)
    texts = times.astype("datetime64[us]").astype(str).tolist() if times.dtype.kind == "M" else [float(time) for time in times]
    return json.loads(_native.picture_over_time(json.dumps({"across": "time", "times": texts, "panels": list(panels), **more})))


def line(rows: Any, values: Any, *bands: Any, **more: Any) -> dict:
    """A line of such a panel; each band is a pair of arrays."""
    return {"rows": [int(n) for n in rows], "values": known(values), "bands": [[known(low), known(high)] for low, high in bands], **more}


def known(values: Any) -> list:
    return [float(value) if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]


def draw(picture: dict, axs: Any = None, panels: Optional[int] = None, **lines: Any) -> np.ndarray:
    """Draws the panels of a picture, or the first few, into a new figure or into the given Axes; `lines` change how lines look."""
    shown = picture["panels"][:panels]
    is_own = axs is None
    if is_own:
        axs = new_axes(picture, shown)
    axs = np.atleast_1d(np.asarray(axs, dtype=object)).ravel()
    if len(axs) != len(shown):
        raise ValueError(f"axs holds {len(axs)} Axes, but {len(shown)} are needed")
    for ax, panel in zip(axs, shown):
        dress(ax, panel)
        if not is_own:
            above = [words["text"] for words in panel["words"] if words["at"][1] < panel["top"]]
            ax.set_title("\n".join(above), loc="left", fontsize=12 * POINT, color=INK)
        for mark in panel["marks"]:
            DRAWN[mark["kind"]](ax, mark, panel["across"]["origin"], lines)
    if picture["key"]:
        handles = [
            Line2D([], [], color=entry["colour"], linewidth=3 * POINT, linestyle=DASHED if entry["is_dashed"] else "-", label=entry["name"])
            for entry in picture["key"]
        ]
        # To the right of the first panels, where it covers nothing.
        last = max(i for i, panel in enumerate(shown) if panel["top"] == shown[0]["top"])
        axs[last].legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    return axs


def new_axes(picture: dict, shown: list) -> list:
    """Axes in the places of the panels, with the title and the notes around them."""
    width, height = picture["size"]
    figure = plt.figure(figsize=(width * INCH, height * INCH))
    left = picture["left"] / width
    figure.text(left, 1 - 28 / height, picture["title"], fontsize=16 * POINT, fontweight="bold", color=INK)
    for i, note in enumerate(picture["notes"]):
        figure.text(left, 1 - (picture["notes_top"] + 15 * i) / height, note, fontsize=10.5 * POINT, color=SOFT)
    axs = []
    for panel in shown:
        place = (panel["left"] / width, 1 - (panel["top"] + panel["height"]) / height, panel["width"] / width, panel["height"] / height)
        ax = figure.add_axes(place)
        axs.append(ax)
        for words in panel["words"]:
            x, y = words["at"]
            figure.text(x / width, 1 - y / height, words["text"], fontsize=words["size"] * POINT, color=words["colour"])
    return axs


def dress(ax: Any, panel: dict) -> None:
    """Limits, ticks, labels and frame."""
    for side, span, axis, limits in (("across", "x", ax.xaxis, ax.set_xlim), ("up", "y", ax.yaxis, ax.set_ylim)):
        about = panel[side]
        ticks = placed([place for place, _ in about["ticks"]], about["origin"])
        axis.set_ticks(ticks, labels=[text for _, text in about["ticks"]])
        limits(*placed([panel[span]["low"], panel[span]["high"]], about["origin"]))
        axis.set_label_text(about["label"], color=INK, fontsize=13 * POINT)
    ax.tick_params(length=0, labelsize=12 * POINT, labelcolor=SOFT)
    ax.grid(color=GRID)
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_color(RIM)


def placed(days: Any, origin: Optional[str]) -> np.ndarray:
    """Dates, where numbers are days since a date."""
    days = numbers(days)
    if origin is None:
        return days
    return np.datetime64(origin.removeprefix("days since ").replace(" ", "T"), "us") + np.round(days * 86_400e6).astype("timedelta64[us]")


def numbers(values: Any) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def draw_line(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    own = {
        "color": mark["colour"],
        "linewidth": mark["width"] * POINT,
        "linestyle": DASHED if mark["is_dashed"] else "-",
        "label": mark["name"] or None,
    }
    ax.plot(placed(mark["x"], origin), numbers(mark["y"]), **{**own, **style})


def draw_dots(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    fill = "none" if mark["is_hollow"] else mark["colour"]
    look = {"markersize": 2 * mark["radius"] * POINT, "markerfacecolor": fill, "markeredgecolor": mark["colour"], "markeredgewidth": 0.75}
    ax.plot(placed(mark["x"], origin), numbers(mark["y"]), "o", **look, label=mark["name"] or None)


def draw_band(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    low, high = numbers(mark["low"]), numbers(mark["high"])
    colour = style.get("color", mark["colour"])
    ax.fill_between(placed(mark["x"], origin), low, high, color=colour, alpha=mark["opacity"], linewidth=0)


def draw_intervals(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    ax.vlines(
        placed(mark["x"], origin),
        numbers(mark["low"]),
        numbers(mark["high"]),
        color=mark["colour"],
        alpha=mark["opacity"],
        linewidth=mark["width"] * POINT,
    )


def draw_bars(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    edges = [*mark["low"], *mark["high"][-1:]]
    if mark["is_hollow"]:
        ax.stairs(mark["height"], edges, color=mark["colour"], alpha=mark["opacity"], linewidth=POINT, baseline=None)
    else:
        ax.bar(
            mark["low"], mark["height"], np.diff(edges), align="edge", color=mark["colour"], alpha=mark["opacity"], edgecolor="white", linewidth=0.4
        )


def draw_region(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    ax.axvspan(mark["low"], mark["high"], color=mark["colour"], alpha=mark["opacity"], linewidth=0)


def draw_rule(ax: Any, mark: dict, origin: Optional[str], style: dict) -> None:
    look = {"color": mark["colour"], "linewidth": mark["width"] * POINT, "linestyle": DASHED if mark["is_dashed"] else "-"}
    ax.axvline(mark["x"], **look) if mark["y"] is None else ax.axhline(mark["y"], **look, zorder=0)


DRAWN = {
    "line": draw_line,
    "dots": draw_dots,
    "band": draw_band,
    "intervals": draw_intervals,
    "bars": draw_bars,
    "region": draw_region,
    "rule": draw_rule,
}
