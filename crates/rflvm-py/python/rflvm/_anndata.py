"""What an AnnData holds, and where its raw counts are; anndata itself is not imported."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._disk import on_disk

#: How many numbers to inspect to recognise counts.
LOOK = 1_000_000


def is_anndata(X: Any) -> bool:
    """Whether X is an AnnData."""
    return any(kind.__name__ == "AnnData" and kind.__module__.split(".")[0] == "anndata" for kind in type(X).__mro__)


def odd_count(cells: Any, most: Optional[int] = None) -> Optional[float]:
    """A number that cannot be a count, as after normalising or taking logarithms; None if the first `most` numbers contain none."""
    if (table := on_disk(cells)) is not None:
        seen = 0
        for tile in table.tiles():
            odd = odd_count(tile.cells)
            seen += tile.cells.size
            if odd is not None or (most is not None and seen >= most):
                return odd
        return None
    numbers = cells.data if hasattr(cells, "tocsr") else np.asarray(cells).ravel()
    numbers = numbers[:most]
    is_odd = numbers < 0
    if numbers.dtype.kind == "f":
        is_odd |= (numbers != np.round(numbers)) & ~np.isnan(numbers)
    return float(numbers[is_odd][0]) if is_odd.any() else None


def call(adata: Any) -> str:
    """The call of `rflvm.tl.fit` that suits what an AnnData holds."""
    if adata.X is not None and odd_count(adata.X, LOOK) is None:
        return "rflvm.tl.fit(adata)"
    for layer in sorted(adata.layers, key=lambda name: name != "counts"):
        if odd_count(adata.layers[layer], LOOK) is None:
            return f"rflvm.tl.fit(adata, layer={layer!r})"
    if adata.raw is not None and odd_count(adata.raw.X, LOOK) is None:
        return "rflvm.tl.fit(adata.raw.to_adata())"
    return "rflvm.tl.fit(adata, likelihood='gaussian')"


def refusal(adata: Any, is_new: bool) -> str:
    """Why RFLVM's methods do not take an AnnData, and what to call instead."""
    if is_new:
        return (
            "X is an AnnData; place its cells with rflvm.tl.transform(adata, model), which puts positions into adata.obsm['X_rflvm']; "
            "other methods take a frame of the genes of the fit, as adata.to_df()[model.feature_names_in_]"
        )
    first = "".join(f"{step}; " for step in steps(adata))
    return f"X is an AnnData; fit it with {first}model = {call(adata)}, which puts positions into adata.obsm['X_rflvm']"


def steps(adata: Any) -> list[str]:
    """What to do with an AnnData before it can be fitted."""
    return [] if adata.var_names.is_unique else ["adata.var_names_make_unique()"]
