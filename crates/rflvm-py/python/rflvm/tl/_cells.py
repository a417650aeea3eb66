"""Cells and genes of an AnnData, as the model takes them."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .. import _native
from .._anndata import call, odd_count
from .._disk import OnDisk, on_disk


def cells_of(adata: Any, layer: Optional[str]) -> tuple[Any, str]:
    """Cells × genes, and the name of their source."""
    if not all(hasattr(adata, part) for part in ("X", "layers", "obs", "var", "obsm", "uns")):
        raise TypeError(f"adata is a {type(adata).__name__}, but it must be an AnnData; RFLVM().fit takes tables of other kinds")
    if layer is not None and layer not in adata.layers:
        known = f"there are {', '.join(adata.layers)}" if len(adata.layers) else "there are none"
        raise KeyError(f"adata has no layer '{layer}'; {known}")
    cells, source = (adata.X, "adata.X") if layer is None else (adata.layers[layer], f"layer '{layer}'")
    if cells is None:
        raise ValueError("adata.X is empty; name the layer that holds counts, as in layer='counts'")
    if (table := on_disk(cells)) is not None:
        return table, source
    return (cells.tocsc() if hasattr(cells, "tocsc") else np.asarray(cells)), source


def chosen_genes(adata: Any, mask_var: Any) -> np.ndarray:
    """One truth value per gene."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var:
            hint = "; run sc.pp.highly_variable_genes first" if mask_var == "highly_variable" else ""
            raise KeyError(f"adata.var has no column '{mask_var}'{hint}")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var has the shape {mask.shape} and holds {mask.dtype}, but it must hold True or False for each of {adata.n_vars} genes"
        )
    return mask.copy()


def check_counts(cells: Any, source: str, remedy: str) -> None:
    """Reject counts that were normalised, scaled or log-transformed."""
    odd = odd_count(cells)
    if odd is not None:
        raise ValueError(f"{source} does not hold counts but numbers such as {odd:.4g}, as after normalising or taking logarithms; {remedy}")


def remedy_of_fit(adata: Any) -> str:
    """How to fit an AnnData whose numbers are not counts."""
    suits = call(adata)
    if "gaussian" in suits:
        return f"no layer holds raw counts either, so fit these numbers as they are, with {suits}"
    return f"fit its raw counts, with {suits}"


def frame_of(cells: Any, adata: Any, used: np.ndarray) -> Any:
    """The cells as a frame, so that the model knows cells and genes by name; sparse cells stay sparse."""
    import pandas

    _native.check_memory(*cells.shape)
    names = adata.var_names[used]
    if not names.is_unique:
        raise ValueError(f"two genes are called '{names[names.duplicated()][0]}'; run adata.var_names_make_unique()")
    if isinstance(cells, OnDisk):
        return cells.named(names, adata.obs_names)
    if hasattr(cells, "tocsc"):
        return pandas.DataFrame.sparse.from_spmatrix(cells, index=adata.obs_names, columns=names)
    return pandas.DataFrame(cells, index=adata.obs_names, columns=names)
