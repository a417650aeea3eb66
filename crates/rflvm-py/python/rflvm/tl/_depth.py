"""Sequencing depth: the offsets of the cells of a fit, and of new cells."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

import numpy as np


@dataclass
class Depth:
    """The source of the offsets."""

    #: "none", "model" (size factors that the model computes), "total" (over all genes), "column" (of obs) or "array".
    kind: str
    column: Optional[str] = None
    #: Mean total of the cells of the fit, to which size factors are relative.
    mean_total: Optional[float] = None

    @staticmethod
    def of(offset: Any, all_genes: bool) -> Depth:
        """From the argument of `fit`; the model computes size factors itself if it uses all genes."""
        if offset is None:
            return Depth("none")
        if not isinstance(offset, str):
            return Depth("array")
        if offset == "size-factors":
            return Depth("model" if all_genes else "total")
        return Depth("column", offset)

    def to_json(self) -> dict:
        """The form stored in python.json."""
        return asdict(self)

    def offsets(self, adata: Any, cells: Any, given: Any = None) -> Any:
        """The offset of each cell; None if there is none, or if the model computes it."""
        if self.kind in ("none", "array"):
            return given if self.kind == "array" else None
        totals = self.totals(adata, cells)
        if self.kind == "model":
            return None
        if self.mean_total is None:
            self.mean_total = float(totals.mean())
        return np.log(totals / self.mean_total)

    def totals(self, adata: Any, cells: Any) -> np.ndarray:
        """The depth of each cell: its total, or a column of `adata.obs`."""
        if self.kind != "column":
            totals, source = np.asarray(cells.sum(axis=1), dtype=float).ravel(), "the total"
        elif self.column in adata.obs:
            totals, source = np.asarray(adata.obs[self.column], dtype=float), f"adata.obs['{self.column}']"
        else:
            raise KeyError(f"offset is '{self.column}', which is not a column of adata.obs; name one, or give 'size-factors' or None")
        bad = np.flatnonzero(~(totals > 0))
        if len(bad):
            raise ValueError(
                f"{source} of {len(bad)} cells is not positive ('{adata.obs_names[bad[0]]}' is the first), so there is no size factor; "
                "drop them, as sc.pp.filter_cells(adata, min_counts=1) does, or give offset=None"
            )
        return totals
