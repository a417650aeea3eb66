"""Single cells: a fit of an AnnData, with its results where scanpy looks for them.

>>> model = rflvm.tl.fit(adata, layer="counts", mask_var="highly_variable", random_state=1)
>>> sc.pp.neighbors(adata, use_rep="X_rflvm")
>>> sc.tl.leiden(adata)
"""

from __future__ import annotations

import warnings
from typing import Any, Optional, Union

import numpy as np

from . import _table
from ._estimator import RFLVM

__all__ = ["fit"]

#: More genes than this take long, and most of them say little.
MANY_GENES = 5000


def fit(
    adata: Any,
    n_components: Union[int, str] = 2,
    *,
    layer: Optional[str] = None,
    batch_key: Optional[str] = None,
    mask_var: Any = None,
    key_added: str = "rflvm",
    likelihood: str = "negative-binomial",
    offset: Any = "size-factors",
    **parameters: Any,
) -> RFLVM:
    """Fit the counts of an AnnData: a position of each cell, with its uncertainty. `adata` is written to in place.

    Parameters
    ----------
    adata : AnnData
        Cells × genes.
    n_components : int or "auto" or "auto:K", default=2
        Latent axes.
    layer : str, default=None
        The layer that holds the counts; `adata.X` by default.
    batch_key : str, default=None
        A column of `adata.obs` that names batches. The model knows nothing of batches and does not remove them: the fit then tells how far
        they lie apart, by the share of cells whose nearest other cell is of the same batch, in `uns["rflvm"]["batch"]`, and warns if that is
        much more than by chance.
    mask_var : str or array of bool, default=None
        Genes to use: a column of `adata.var`, such as "highly_variable", or one truth value a gene. All genes by default.
    key_added : str, default="rflvm"
        Under which name results are written.
    likelihood : str, default="negative-binomial"
        Family of the genes. Those of counts want raw counts; "gaussian" and "student-t" take what else there is.
    offset : "size-factors", None, a column of `adata.obs`, or array of float, default="size-factors"
        How deep each cell was sequenced. "size-factors": by its total over all genes of `adata`, whether used or not (of counts;
        there is none for other families). A column of `adata.obs` holds totals or size factors, such as "total_counts". An array
        holds offsets on the link scale.
    **parameters
        Any other parameter of `RFLVM`, such as `random_state`, `draws`, `chains`, `store`, `n_jobs`.

    Returns
    -------
    RFLVM
        The fitted model. Genes that are zero in all cells are left out of it. And in `adata`:

        `obsm["X_rflvm"]`, `obsm["X_rflvm_std"]`
            Posterior mean and standard deviation of each cell's position.
        `var["rflvm_used"]`
            Whether a gene was used.
        `uns["rflvm"]`
            `params`, `seed`, and `diagnostics`: the verdict, and effective draws and R̂ of each quantity. Where `mask_var` chose
            genes, or `offset` is a column, `mean_total` is there too: cells that come later have the offset log(total / mean_total).
    """
    everything, source = cells_of(adata, layer)
    if batch_key is not None and batch_key not in adata.obs:
        raise KeyError(f"batch_key is '{batch_key}', which is not a column of adata.obs; there are {', '.join(map(str, adata.obs.columns))}")
    used = chosen_genes(adata, mask_var)
    cells = everything[:, np.flatnonzero(used)]
    is_count = likelihood in _table.COUNTS
    if is_count:
        check_counts(cells, source, adata)
        is_empty = np.asarray(abs(cells).sum(axis=0)).ravel() == 0
        if is_empty.any():
            warnings.warn(
                f"{is_empty.sum()} of {len(is_empty)} genes are zero in all cells and are left out; "
                f"adata.var['{key_added}_used'] tells which were used",
                stacklevel=2,
            )
            used[np.flatnonzero(used)[is_empty]] = False
            cells = cells[:, np.flatnonzero(~is_empty)]
    if not used.any():
        raise ValueError(f"no gene is left to fit: {source} is zero wherever genes were chosen")
    if used.sum() > MANY_GENES:
        warnings.warn(f"{used.sum()} genes take long; mask_var='highly_variable' takes those that tell cells apart", stacklevel=2)
    setting: Optional[str] = None
    mean_total: Optional[float] = None
    if isinstance(offset, str):
        totals = totals_of(adata, everything, offset) if is_count else None
        if totals is None:
            offset = None
        elif offset == "size-factors" and mask_var is None:
            # The model computes these by itself, for new cells too.
            setting, offset = offset, None
        else:
            mean_total = float(totals.mean())
            offset = np.log(totals / mean_total)
    model = RFLVM(n_components, likelihood, offset=setting, **parameters)
    model.fit(frame_of(cells, adata, used), offset=offset)
    write(adata, model, key_added, used, layer)
    if mean_total is not None:
        adata.uns[key_added]["mean_total"] = mean_total
    if batch_key is not None:
        adata.uns[key_added]["batch"] = {"key": batch_key, **told_of_batches(model.embedding_, adata.obs[batch_key].astype(str).to_numpy())}
    return model


def told_of_batches(positions: np.ndarray, batches: np.ndarray) -> dict[str, float]:
    """How often the nearest other cell is of the same batch, and how often it would be by chance; a warning if the first is much more."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=1).fit(positions).kneighbors(return_distance=False)[:, 0]
    same = float((batches[near] == batches).mean())
    sizes = np.unique(batches, return_counts=True)[1]
    chance = float((sizes * (sizes - 1)).sum() / (len(batches) * (len(batches) - 1)))
    error = np.sqrt(chance * (1 - chance) / len(batches))
    if same > chance + max(0.1, 4 * error):
        warnings.warn(
            f"batches lie apart: the nearest cell is of the same batch for {same:.0%} of the cells, where chance makes it {chance:.0%}; "
            "the model does not remove batches, so correct for them before, or fit them one by one",
            stacklevel=3,
        )
    return {"same": same, "chance": chance}


def cells_of(adata: Any, layer: Optional[str]) -> tuple[Any, str]:
    """Cells × genes, and what to call them."""
    if not all(hasattr(adata, part) for part in ("X", "layers", "obs", "var", "obsm", "uns")):
        raise TypeError(f"adata is a {type(adata).__name__}, but it must be an AnnData; RFLVM().fit takes tables of other kinds")
    if getattr(adata, "isbacked", False):
        raise ValueError("adata lies in a file and is not in memory; give adata.to_memory()")
    if layer is not None and layer not in adata.layers:
        known = f"there are {', '.join(adata.layers)}" if len(adata.layers) else "there are none"
        raise KeyError(f"adata has no layer '{layer}'; {known}")
    cells, source = (adata.X, "adata.X") if layer is None else (adata.layers[layer], f"layer '{layer}'")
    if cells is None:
        raise ValueError("adata.X is empty; name the layer that holds counts, as in layer='counts'")
    return (cells.tocsc() if hasattr(cells, "tocsc") else np.asarray(cells)), source


def chosen_genes(adata: Any, mask_var: Any) -> np.ndarray:
    """One truth value a gene."""
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
            f"mask_var has the shape {mask.shape} and holds {mask.dtype}, "
            f"but it must hold True or False for each of {adata.n_vars} genes"
        )
    return mask.copy()


def check_counts(cells: Any, source: str, adata: Any) -> None:
    """Refuses what has been normalised, scaled or taken to logarithms."""
    numbers = cells.data if hasattr(cells, "tocsc") else cells.ravel()
    is_odd = numbers < 0
    if numbers.dtype.kind == "f":
        is_odd |= (numbers != np.round(numbers)) & ~np.isnan(numbers)
    if is_odd.any():
        odd = numbers[is_odd][0]
        name = "counts" if "counts" in adata.layers else next(iter(adata.layers), "counts")
        raise ValueError(
            f"{source} does not hold counts but numbers such as {odd:.4g}, as after normalising or taking logarithms; "
            f"name the layer that holds the raw counts, as in layer='{name}'"
        )


def totals_of(adata: Any, cells: Any, offset: str) -> np.ndarray:
    """How much was seen of each cell: its total, or what a column of `adata.obs` says."""
    if offset == "size-factors":
        totals, source = np.asarray(cells.sum(axis=1), dtype=float).ravel(), "the total"
    elif offset in adata.obs:
        totals, source = np.asarray(adata.obs[offset], dtype=float), f"adata.obs['{offset}']"
    else:
        raise KeyError(f"offset is '{offset}', which is not a column of adata.obs; name one, or give 'size-factors' or None")
    bad = np.flatnonzero(~(totals > 0))
    if len(bad):
        raise ValueError(
            f"{source} of {len(bad)} cells is not positive ('{adata.obs_names[bad[0]]}' is the first), so there is no size factor; "
            "drop them, as sc.pp.filter_cells(adata, min_counts=1) does, or give offset=None"
        )
    return totals


def frame_of(cells: Any, adata: Any, used: np.ndarray) -> Any:
    """The cells as a frame, so that the model knows cells and genes by name; sparse cells stay sparse."""
    import pandas

    names = adata.var_names[used]
    if not names.is_unique:
        raise ValueError(f"two genes are called '{names[names.duplicated()][0]}'; run adata.var_names_make_unique()")
    if hasattr(cells, "tocsc"):
        return pandas.DataFrame.sparse.from_spmatrix(cells, index=adata.obs_names, columns=names)
    return pandas.DataFrame(cells, index=adata.obs_names, columns=names)


def write(adata: Any, model: RFLVM, key: str, used: np.ndarray, layer: Optional[str]) -> None:
    """The results, in kinds that `write_h5ad` takes."""
    adata.obsm[f"X_{key}"] = np.asarray(model.embedding_)
    adata.obsm[f"X_{key}_std"] = np.asarray(model.embedding_std_)
    adata.var[f"{key}_used"] = used
    given = {**model.get_params(deep=False), "layer": layer}
    given["keep"] = np.asarray(list(given["keep"]), dtype=str)
    told = model.diagnostics_
    quantities = {"name": np.asarray([quantity["name"] for quantity in told["quantities"]], dtype=str)}
    for part in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat"):
        quantities[part] = np.asarray([quantity[part] for quantity in told["quantities"]], dtype=float)
    adata.uns[key] = {
        "params": {name: storable(value) for name, value in given.items() if value is not None},
        "seed": int(model.seed_),
        "diagnostics": {
            "verdict": told["verdict"],
            "words": told["words"],
            "draws": int(told["draws"]),
            "chains_used": np.asarray([chain["used"] for chain in told["chains"]], dtype=bool),
            "quantities": quantities,
        },
    }


def storable(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, np.ndarray)) else str(value)
