"""Tables in files: read by tiles, with the same draws as from memory."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import QUICK, estimator, grouped

import rflvm
from rflvm import _disk

zarr, h5py, anndata = (pytest.importorskip(name) for name in ("zarr", "h5py", "anndata"))
sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore")
HOW = {**QUICK, "warmup": 10, "draws": 5}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(_disk, "TILE", 200)


def same(one, other):
    return np.array_equal(one.posterior_["beta"], other.posterior_["beta"]) and one.columns_ == other.columns_


@pytest.mark.parametrize("chunks", [(7, 12), (80, 5), (9, 5)])
@pytest.mark.parametrize("library", ["zarr", "h5py"])
def test_an_array_on_disk_is_fitted_like_one_in_memory(curve, tmp_path, library, chunks):
    table = curve.table.copy()
    table[3, 4] = np.nan
    if library == "zarr":
        array = zarr.open(tmp_path / "table.zarr", mode="w", shape=table.shape, chunks=chunks, dtype="f4")
    else:
        array = h5py.File(tmp_path / "table.h5", "w").create_dataset("table", table.shape, chunks=chunks, dtype=">f4")
    array[:] = table
    seen = np.full(table.shape, 0)
    for tile in _disk.on_disk(array).tiles():
        seen[tile.row : tile.row + len(tile.cells), tile.columns] += 1
    assert (seen == 1).all()
    model = estimator(likelihood="poisson", **HOW)
    on_disk = model.fit(array)
    there = on_disk.transform(array)
    assert on_disk.n_features_in_ == 12
    in_memory = estimator(likelihood="poisson", **HOW).fit(table)
    assert same(on_disk, in_memory) and np.array_equal(there, in_memory.transform(table))


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_a_backed_anndata_is_fitted_like_one_in_memory(curve, tmp_path, kind):
    counts = np.hstack([curve.table, np.zeros((80, 1))]).astype(np.float32)
    adata = anndata.AnnData(counts if kind == "dense" else sparse.csr_matrix(counts).asformat(kind))
    adata.var["chosen"] = np.arange(13) % 4 != 1
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    how = dict(likelihood="poisson", mask_var="chosen", **HOW)
    model, usual = rflvm.tl.fit(backed, **grouped(**how)), rflvm.tl.fit(adata, **grouped(**how))
    assert same(model, usual) and list(model.feature_names_in_) == list(usual.feature_names_in_)
    assert np.array_equal(backed.obsm["X_rflvm"], adata.obsm["X_rflvm"])
    assert list(backed.var["rflvm_used"]) == list(adata.var["rflvm_used"])
    # New cells, from either to either.
    new, new_backed = adata[:9].copy(), anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    new.X = new.X.toarray() + 1 if kind != "dense" else new.X + 1
    rflvm.tl.transform(new, model)
    assert np.isfinite(new.obsm["X_rflvm"]).all()
    rflvm.tl.transform(new_backed, usual)
    again = adata.copy()
    rflvm.tl.transform(again, usual)
    assert np.array_equal(new_backed.obsm["X_rflvm"], again.obsm["X_rflvm"])


def test_what_cannot_be_fitted_is_refused(tmp_path):
    cube = zarr.open(tmp_path / "cube.zarr", mode="w", shape=(4, 5, 6), dtype="f8")
    with pytest.raises(ValueError, match="X has 3 axes"):
        estimator(**HOW).fit(cube)
    signed = zarr.open(tmp_path / "signed.zarr", mode="w", shape=(9, 5), dtype="i4")
    with pytest.raises(ValueError, match="name their family"):
        estimator(likelihood="auto", **HOW).fit(signed)
    one = zarr.open(tmp_path / "one.zarr", mode="w", shape=(1, 5), dtype="f8")
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        estimator(**HOW).fit(one)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", ["zarr", "h5ad"])
def test_a_file_is_never_in_memory_besides_the_copy_of_the_engine(kind, tmp_path):
    script = f"""
import numpy as np, rflvm, zarr, anndata, scipy.sparse, sys
from rflvm._estimator import RFLVM
from rflvm._given import Given
from rflvm._disk import on_disk

def memory(which):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(which)) * 1024

rows, columns = 12500, 1000
if "{kind}" == "zarr":
    X = zarr.open("table.zarr", mode="w", shape=(rows, columns), chunks=(500, 500), dtype="f8")
    for row in range(0, rows, 500):
        X[row : row + 500] = np.random.default_rng(row).random((500, columns))
else:
    cells = scipy.sparse.random(rows, columns, density=0.02, format="csr", random_state=0)
    anndata.AnnData(cells).write_h5ad("cells.h5ad")
    X = anndata.read_h5ad("cells.h5ad", backed="r").X
next(on_disk(X).tiles())
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
RFLVM(progress=False).set_params(model__features=10)._prepare(X, Given(), None, False)
print((memory("VmHWM") - before) / (rows * columns * 8))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    if "Permission" in done.stderr:
        pytest.skip("the peak of memory cannot be set back here")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.6, "copies of the table"
