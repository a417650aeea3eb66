"""What does not fit in memory is refused with numbers, before anything is taken; the interpreter lives on."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import QUICK, estimator, grouped

import rflvm

TOO_LARGE = r"10000000 rows × 100000 columns, as a table of numbers, take 8.0 TB, but only .* of memory is free; take fewer rows or columns"


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_matrix])
def test_a_sparse_matrix_that_is_too_large_when_dense(kind):
    with pytest.raises(MemoryError, match=TOO_LARGE):
        estimator(likelihood="poisson", **QUICK).fit(kind((10**7, 10**5)))


def test_arrays_and_frames_that_are_larger_than_they_look():
    broad = np.broadcast_to(np.zeros(1), (10**7, 10**5))
    with pytest.raises(MemoryError, match=TOO_LARGE):
        estimator(**QUICK).fit(broad)
    # A category has a column for each of its values.
    levels = pd.Categorical(np.arange(150_000) % 70_000)
    with pytest.raises(MemoryError, match="150000 rows × 70001 columns"):
        estimator(likelihood="auto", **QUICK).fit(pd.DataFrame({"kind": levels, "real": np.linspace(0, 1, 150_000)}))


@pytest.mark.filterwarnings("ignore:100000 genes take long")
def test_cells_and_answers(fitted):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(scipy.sparse.csr_matrix(([1.0], ([0], [0])), shape=(10**6, 10**5), dtype=np.float32))
    with pytest.raises(MemoryError, match="TB|GB"):
        rflvm.tl.fit(cells, likelihood="gaussian", **grouped(**QUICK))
    with pytest.raises(MemoryError, match="of memory is free"):
        fitted.sample(10**12)
    with pytest.raises(MemoryError, match="of memory is free"):
        rflvm.datasets.s_curve(10**9, 10**4)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_memory_that_the_system_refuses_is_an_exception_too():
    script = """
import resource, rflvm._native as native
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    native.Values(10**5, 5000)
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and "100000 rows × 5000 columns" in done.stdout, done.stderr
