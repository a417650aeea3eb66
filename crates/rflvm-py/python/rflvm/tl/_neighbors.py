"""The graph of nearest neighbors, over all modes of the posterior, where scanpy expects it."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._transform import model_of


def neighbors(adata: Any, reference: Any, *, n_neighbors: int = 15, key_added: Optional[str] = None) -> None:
    """Write the neighbors of each cell of a fit as `scanpy.pp.neighbors` does, so that `sc.tl.leiden` and `sc.tl.umap` use them.

    Parameters
    ----------
    adata : AnnData
        The cells of the fit, in their order.
    reference : RFLVM or AnnData
        The model that `rflvm.tl.fit` returned; or the AnnData that was fitted, if the fit was made with `store=`.
    n_neighbors : int, default=15
        How many cells are the nearest of a cell.
    key_added : str, default=None
        Name under which results are written; as scanpy's own by default.

    Notes
    -----
    Written to `adata`:

    `obsp["distances"]`
        Posterior mean of the distance of each cell to those that are probably among its nearest.
    `obsp["connectivities"]`
        The probability that either of two cells is among the nearest of the other.
    `uns["neighbors"]`
        Where they are, as scanpy looks it up.
    """
    from scipy import sparse

    model = model_of(reference)
    cells = model.embedding_.shape[0]
    if adata.n_obs != cells:
        raise ValueError(f"adata has {adata.n_obs} cells, but the fit has {cells}; give the cells that were fitted")
    edges = model.neighbors(n_neighbors)
    shape = (cells, cells)

    def matrix(values: Any) -> Any:
        return sparse.csr_matrix((values, (edges["row"], edges["neighbor"])), shape=shape)

    nearest = matrix(edges["probability"])
    # P(a or b) of two events of which only their own probabilities are known, taken as independent: as umap joins its sets.
    either = nearest + nearest.T - nearest.multiply(nearest.T)
    key, prefix = ("neighbors", "") if key_added is None else (key_added, f"{key_added}_")
    distances, connectivities = f"{prefix}distances", f"{prefix}connectivities"
    adata.obsp[distances], adata.obsp[connectivities] = matrix(edges["distance"]), sparse.csr_matrix(either.astype(np.float32))
    params = {"n_neighbors": n_neighbors, "method": "rflvm", "metric": "expected distance", "use_rep": "X_rflvm"}
    adata.uns[key] = {"distances_key": distances, "connectivities_key": connectivities, "params": params}
