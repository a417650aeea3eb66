"""Single cells: fit an AnnData and place new cells, with results where scanpy expects them.

>>> model = rflvm.tl.fit(adata, layer="counts", mask_var="highly_variable", random_state=1)
>>> sc.pp.neighbors(adata, use_rep="X_rflvm")
>>> sc.tl.leiden(adata)
>>> rflvm.tl.transform(new_cells, model)
"""

from ._fit import fit
from ._transform import transform

__all__ = ["fit", "transform"]
