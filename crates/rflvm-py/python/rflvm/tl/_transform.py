"""Place new cells among those of a fit."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .. import _table
from .._anndata import is_anndata
from .._estimator import RFLVM
from .._families import COUNTS
from .._given import Given
from .._load import load
from ._cells import cells_of, check_counts, frame_of
from ._depth import Depth

#: How many genes to name in a message.
SOME = 5


def transform(
    adata: Any,
    reference: Any,
    *,
    layer: Optional[str] = None,
    offset: Any = None,
    key_added: Optional[str] = None,
) -> None:
    """Place new cells in the latent space of a fit. Results are written to `adata` in place; nothing is refitted.

    Genes are found by name: `adata` must have all genes of the fit, in any order, and may have others. Offsets follow the
    rule of the fit: size factors are relative to the mean total of its cells.

    Parameters
    ----------
    adata : AnnData
        New cells × genes.
    reference : RFLVM or AnnData
        The model that `rflvm.tl.fit` returned; or the AnnData that was fitted, if the fit was made with `store=`.
    layer : str, default=None
        The layer that holds the counts: that of the fit by default; "X" is `adata.X`.
    offset : array of float, default=None
        Offsets of the new cells on the link scale, if the fit was given an array of offsets.
    key_added : str, default=None
        Name under which results are written: that of the fit by default.

    Notes
    -----
    Written to `adata`:

    `obsm["X_rflvm"]`, `obsm["X_rflvm_std"]`
        Posterior mean and standard deviation of each cell's position.
    `obs["rflvm_outlier_score"]`
        Fraction of the fit's cells (leave-one-out) with higher predictive density: near 1 for cells unlike those of the fit. Missing
        if all cells are those of the fit.
    `var["rflvm_used"]`
        The genes of the fit.
    """
    model = model_of(reference)
    how = model._cells or {"layer": None, "key": "rflvm", "depth": {"kind": "array"}}
    chosen = how["layer"] if layer is None else None if layer == "X" else layer
    everything, source = cells_of(adata, chosen)
    places = places_of_genes(adata, model)
    cells = everything[:, places]
    if all(column.family in COUNTS for column in model._layout.columns):
        other = next(iter(adata.layers), "counts")
        check_counts(cells, source, f"name the layer of raw counts, as in rflvm.tl.transform(adata, model, layer={other!r})")
    offsets = Depth(**how["depth"]).offsets(adata, everything if how["depth"]["kind"] != "model" else cells, offset)
    frame = model._checked(frame_of(cells, adata, places), reset=False)
    covariates = None
    if batch := how.get("batch"):
        if batch not in adata.obs:
            raise KeyError(f"the fit has an effect of adata.obs['{batch}'], which the new cells do not have; add that column")
        covariates = {batch: adata.obs[batch].astype(str)}
    mean, std, outlier_score, _ = model._place(_table.read(frame, model._layout), Given(offset=offsets, covariates=covariates))
    key = how["key"] if key_added is None else key_added
    adata.obsm[f"X_{key}"], adata.obsm[f"X_{key}_std"] = np.asarray(mean), np.asarray(std)
    adata.obs[f"{key}_outlier_score"] = outlier_score
    adata.var[f"{key}_used"] = np.isin(np.arange(adata.n_vars), places)


def model_of(reference: Any) -> RFLVM:
    """The fitted model, or the model of an AnnData whose fit is stored in a folder."""
    if isinstance(reference, RFLVM):
        reference._check_fitted()
        return reference
    if not is_anndata(reference):
        kind = type(reference).__name__
        raise TypeError(f"reference is a {kind}, but it must be the model that rflvm.tl.fit returned, or the AnnData that it fitted")
    fits = [held for held in reference.uns.values() if isinstance(held, dict) and "params" in held and "seed" in held]
    if not fits:
        raise ValueError("the reference AnnData was not fitted; call rflvm.tl.fit(reference) first")
    store = fits[-1]["params"].get("store")
    if store is None:
        raise ValueError(
            "the reference AnnData holds the positions of a fit but not the fit itself; give the model that rflvm.tl.fit returned, "
            "or fit with store='folder' to find it again"
        )
    return load(str(store))


def places_of_genes(adata: Any, model: RFLVM) -> np.ndarray:
    """Where the genes of a fit are among those of an AnnData."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError("the fit does not know its genes by name; fit an AnnData with rflvm.tl.fit, or a frame")
    here = adata.var_names
    twice = here[here.duplicated()].intersection(names)
    if len(twice):
        raise ValueError(f"two genes are called '{twice[0]}'; run adata.var_names_make_unique()")
    places = here.get_indexer(names)
    lacking = [str(name) for name in np.asarray(names)[places < 0]]
    if lacking:
        some = ", ".join(f"'{name}'" for name in lacking[:SOME]) + (", …" if len(lacking) > SOME else "")
        raise ValueError(
            f"adata lacks {len(lacking)} of the {len(names)} genes of the fit: {some}; check that genes use the same naming scheme "
            f"here ('{here[0]}') and there ('{names[0]}'), or fit again with the genes that both have"
        )
    return places
