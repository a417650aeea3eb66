"""Single cells: fit an AnnData and place new cells, with results where scanpy expects them.

>>> model = rflvm.tl.fit(adata, layer="counts", mask_var="highly_variable", random_state=1)
>>> rflvm.tl.neighbors(adata, model)
>>> sc.tl.leiden(adata)
>>> rflvm.tl.transform(new_cells, model)
"""

from ._fit import fit
from ._neighbors import neighbors
from ._transform import transform

__all__ = ["fit", "neighbors", "transform"]
