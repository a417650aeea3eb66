"""Fit an AnnData, with results where scanpy expects them."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from .._estimator import RFLVM
from .._families import COUNTS
from .._given import Given
from .._grouped import GROUPS
from .._warn import warn
from ._cells import cells_of, check_counts, chosen_genes, frame_of, remedy_of_fit
from ._depth import Depth

#: More genes than this take long, and most of them are uninformative.
MANY_GENES = 5000


def fit(
    adata: Any,
    latent_dim: Union[int, str] = 2,
    *,
    layer: Optional[str] = None,
    batch_key: Optional[str] = None,
    correct_batch: bool = True,
    mask_var: Any = None,
    key_added: str = "rflvm",
    likelihood: str = "negative-binomial",
    offset: Any = "size-factors",
    overwrite: bool = False,
    client: Any = None,
    **parameters: Any,
) -> RFLVM:
    """Fit the counts of an AnnData: the position of each cell, with its uncertainty. Results are written to `adata` in place.

    Warns (`ConvergenceWarning`) if the chains have not converged.

    Parameters
    ----------
    adata : AnnData
        Cells × genes; if it is backed by a file, that file is read by tiles, and results are written to `adata` in memory.
    latent_dim : int or "auto" or "auto:K", default=2
        Latent axes.
    layer : str, default=None
        The layer that holds the counts; `adata.X` by default.
    batch_key : str, default=None
        A column of `adata.obs` that names batches. Each batch has an effect on every gene, which is estimated, so that positions are
        free of it. How well batches separate nevertheless is measured by the fraction of cells whose nearest neighbour is from the
        same batch, in `uns["rflvm"]["batch"]`; `fit` warns if that is much more than expected by chance.
    correct_batch : bool, default=True
        False only measures how well batches separate, and does not estimate their effects.
    mask_var : str or array of bool, default=None
        Genes to use: a column of `adata.var`, such as "highly_variable", or one truth value per gene. All genes by default.
    key_added : str, default="rflvm"
        Name under which results are written.
    likelihood : str, default="negative-binomial"
        Family of the genes. Count families need raw counts; "gaussian" and "student-t" take other numbers.
    offset : "size-factors", None, a column of `adata.obs`, or array of float, default="size-factors"
        Sequencing depth of each cell. "size-factors": from its total over all genes of `adata`, used or not (for counts only; other
        families have no offset). A column of `adata.obs` holds totals or size factors, such as "total_counts". An array
        holds offsets on the link scale.
    overwrite : bool, default=False
        Whether to replace the fit that the folder `store` holds.
    client : dask.distributed.Client, default=None
        Run the chains on the workers of a Dask cluster, as in `RFLVM.fit`.
    **parameters
        Any other parameter of `RFLVM`, such as `random_state`, `sampling`, `store`, `n_jobs`. With `store`, new cells can be placed
        with this AnnData alone: `rflvm.tl.transform(new, adata)`.

    Returns
    -------
    RFLVM
        The fitted model, without genes that are zero in all cells. In `adata`:

        `obsm["X_rflvm"]`, `obsm["X_rflvm_std"]`
            Posterior mean and standard deviation of each cell's position.
        `var["rflvm_used"]`
            Whether a gene was used.
        `uns["rflvm"]`
            `params`, `seed`, and `diagnostics`: the verdict, and effective sample size and R̂ of each quantity. Where `mask_var` chose
            genes, or `offset` is a column, `mean_total` is included: new cells have the offset log(total / mean_total).
    """
    everything, source = cells_of(adata, layer)
    if batch_key is not None and batch_key not in adata.obs:
        raise KeyError(f"batch_key is '{batch_key}', which is not a column of adata.obs; there are {', '.join(map(str, adata.obs.columns))}")
    used = chosen_genes(adata, mask_var)
    cells = everything[:, np.flatnonzero(used)]
    is_count = likelihood in COUNTS
    if is_count:
        check_counts(cells, source, remedy_of_fit(adata))
        is_empty = np.asarray(abs(cells).sum(axis=0)).ravel() == 0
        if is_empty.any():
            warn(
                f"{is_empty.sum()} of {len(is_empty)} genes are zero in all cells and are left out; "
                f"adata.var['{key_added}_used'] says which were used"
            )
            used[np.flatnonzero(used)[is_empty]] = False
            cells = cells[:, np.flatnonzero(~is_empty)]
    if not used.any():
        raise ValueError(f"no gene is left to fit: {source} is zero wherever genes were chosen")
    if used.sum() > MANY_GENES:
        warn(f"{used.sum()} genes take long; mask_var='highly_variable' restricts the fit to informative genes")
    depth = Depth.of(offset if is_count or not isinstance(offset, str) else None, all_genes=mask_var is None)
    offsets = depth.offsets(adata, everything, offset)
    model = RFLVM(latent_dim, likelihood, offset="size-factors" if depth.kind == "model" else None, **parameters)
    batch = batch_key if correct_batch else None
    covariates = None if batch is None else {batch: adata.obs[batch].astype(str)}
    given = Given(offset=offsets, covariates=covariates, cells={"layer": layer, "key": key_added, "depth": depth.to_json(), "batch": batch})
    model._run(frame_of(cells, adata, used), given, model.store, True, overwrite, client)
    write(adata, model, key_added, used, layer)
    if depth.mean_total is not None:
        adata.uns[key_added]["mean_total"] = depth.mean_total
    if batch_key is not None:
        adata.uns[key_added]["batch"] = {
            "key": batch_key,
            **told_of_batches(model.embedding_, adata.obs[batch_key].astype(str).to_numpy(), correct_batch),
        }
    return model


def told_of_batches(positions: np.ndarray, batches: np.ndarray, is_corrected: bool) -> dict[str, float]:
    """How often the nearest neighbour is from the same batch, and how often it would be by chance; warns if they differ much."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=1).fit(positions).kneighbors(return_distance=False)[:, 0]
    same = float((batches[near] == batches).mean())
    sizes = np.unique(batches, return_counts=True)[1]
    chance = float((sizes * (sizes - 1)).sum() / (len(batches) * (len(batches) - 1)))
    error = np.sqrt(chance * (1 - chance) / len(batches))
    if same > chance + max(0.1, 4 * error):
        warn(
            f"batches are separated: the nearest neighbour is from the same batch for {same:.0%} of the cells, compared with {chance:.0%} by chance; "
            + (
                "an effect of each batch on every gene does not explain it, so batches may hold different cells"
                if is_corrected
                else "correct_batch=True estimates the effect of each batch"
            )
        )
    return {"same": same, "chance": chance}


def write(adata: Any, model: RFLVM, key: str, used: np.ndarray, layer: Optional[str]) -> None:
    """Write the results, in types that `write_h5ad` accepts."""
    adata.obsm[f"X_{key}"] = np.asarray(model.embedding_)
    adata.obsm[f"X_{key}_std"] = np.asarray(model.embedding_std_)
    adata.var[f"{key}_used"] = used
    given = {**model.get_params(deep=False), "layer": layer}
    given.update({name: model._group(name).get_params() for name in GROUPS})
    told = model.diagnostics_
    quantities = {"name": np.asarray([quantity["name"] for quantity in told["quantities"]], dtype=str)}
    for part in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat"):
        quantities[part] = np.asarray([quantity[part] for quantity in told["quantities"]], dtype=float)
    adata.uns[key] = {
        "params": storable(given),
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
    if isinstance(value, dict):
        return {str(name): storable(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return np.asarray(list(value), dtype=str)
    return value if isinstance(value, (bool, int, float, str, np.ndarray)) else str(value)
