"""A fit as a web page, and as a few lines in a notebook."""

from __future__ import annotations

import json
import os
from html import escape
from pathlib import Path
from typing import Any, Optional, Sequence, Union

import numpy as np

from ._by_name import rows_in_order
from ._learned import Learned
from ._parameter import whole

#: Points of the picture in a notebook.
POINTS = 1500
#: Its side, in pixels.
SIDE = 220


class Reporting(Learned):
    """The report."""

    embedding_: np.ndarray

    def report(
        self,
        path: Union[str, os.PathLike] = "report.html",
        *,
        labels: Optional[Sequence] = None,
        label_name: str = "label",
        image: Optional[tuple[int, int]] = None,
        title: Optional[str] = None,
    ) -> Path:
        """Write an interactive report: one web page that opens in any browser, needs no network, and can be sent to others.

        Parameters
        ----------
        path : path, default="report.html"
            The file to write; its name must end in .html.
        labels : one per row, default=None
            What rows are coloured by at first: names of classes, or numbers.
        label_name : str, default="label"
            The name of the labels.
        image : (height, width), default=None
            The shape of the picture that each row is, if rows are pictures: one column per pixel, row by row from the top left.
        title : str, default=None
            The title of the page; by default the name of the table.

        Returns
        -------
        Path
            The file.
        """
        self._check_fitted()
        file = Path(path)
        if file.suffix != ".html":
            raise ValueError(f"path is {str(path)!r}, but a report is a web page; give a name that ends in .html")
        count = self.embedding_.shape[0]
        labels = rows_in_order(labels, self._index_of_fit(), "labels", "the fitted table")
        if labels is not None and len(labels) != count:
            raise ValueError(f"labels has {len(labels)} values, but the fit has {count} rows; give one for each row")
        shape = None if image is None else (whole(image[0], "image", least=1), whole(image[1], "image", least=1))
        named = None if labels is None else (str(label_name), ["" if text is None else str(text) for text in labels])
        # A table in memory has no name.
        is_unnamed = title is None and json.loads(self._fit.settings()).get("table") == "draws.zarr"
        name = "Latent positions" if is_unnamed else title
        page = self._drawn.report(title=name, labels=named, image=shape)
        # Complete or not at all: a browser may be looking at an older one.
        part = file.with_name(f".{file.name}.part")
        part.write_text(page, encoding="utf-8")
        part.replace(file)
        return file

    def _repr_html_(self) -> str:
        """A small picture of the positions and the verdict, where notebooks show a fitted model; scikit-learn's diagram before."""
        if not hasattr(self, "embedding_"):
            return super()._html_repr()  # type: ignore[misc]
        words = escape(self.diagnostics_["words"])
        rows, axes = self.embedding_.shape
        about = f"{rows} rows × {len(self.columns_)} columns, {axes} latent {'axis' if axes == 1 else 'axes'}"
        return (
            f'<div style="display:flex;gap:1em;align-items:center;max-width:46em">{thumbnail(self.embedding_)}'
            f"<div><b>{escape(type(self).__name__)}</b><br>{about}<br><i>{words}</i><br>"
            "<code>report()</code> writes an interactive page.</div></div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def thumbnail(positions: np.ndarray) -> str:
    """The first two axes as an SVG picture."""
    step = -(-len(positions) // POINTS)
    x = positions[::step, 0]
    y = positions[::step, 1] if positions.shape[1] > 1 else np.zeros(len(x))
    middle = [(np.min(v) + np.max(v)) / 2 for v in (x, y)]
    scale = (SIDE - 16) / max(np.ptp(x), np.ptp(y), 1e-12)
    places = zip(SIDE / 2 + scale * (x - middle[0]), SIDE / 2 - scale * (y - middle[1]))
    path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in places)
    return (
        f'<svg width="{SIDE}" height="{SIDE}" role="img" aria-label="latent positions" style="flex:none">'
        f'<path d="{path}" stroke="#0072b2" stroke-width="4" stroke-linecap="round" stroke-opacity="0.7" fill="none"/></svg>'
    )
