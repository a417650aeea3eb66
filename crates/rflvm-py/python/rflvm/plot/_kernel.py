"""The learned kernel."""

from __future__ import annotations

import json
from typing import Any, Optional

from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from ._draw import draw


def kernel(model: Any, *, density: bool = False, ax: Optional[Axes] = None, **lines: Any) -> Any:
    """The learned kernel: similarity of two rows as a function of their distance, along each latent axis and over all directions.

    Lines are posterior means, bands extend from 5% to 95%. `density=True` draws its spectral density next to it, and returns both Axes.
    `**lines` is passed to `Axes.plot`.
    """
    check_is_fitted(model)
    axs = draw(json.loads(model._drawn.kernel_picture()), ax, panels=None if density else 1, **lines)
    return axs if density else axs[0]
