"""The package: stubs, imports, memory."""

import subprocess
import sys

import pytest


def test_stubs_are_those_of_the_module(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "rflvm._native"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_types_hold(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "-p", "rflvm"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_import_is_light():
    """It brings nothing but the standard library; what it took to import that, the start of Python has seen to."""
    code = """
import sys
before = set(sys.modules)
import rflvm
print(sorted({name.split(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['rflvm']"


def test_names_are_found_and_others_not():
    import rflvm

    assert set(rflvm.__all__) <= set(dir(rflvm))
    assert all(getattr(rflvm, name) is not None for name in rflvm.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rflvm.nothing


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", ["array", "float32", "frame", "sparse"])
def test_the_engine_makes_one_copy_of_a_table(kind):
    script = f"""
import numpy as np, rflvm
from rflvm._estimator import RFLVM
from rflvm._given import Given
import pandas, scipy.sparse

def memory(which):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(which)) * 1024

X = np.random.default_rng(0).random((12500, 1000), dtype=np.float32)
if "{kind}" != "float32":
    X = X.astype(float)
if "{kind}" == "frame":
    X = pandas.DataFrame(X, columns=[f"c{{j}}" for j in range(1000)])
if "{kind}" == "sparse":
    X = scipy.sparse.random(12500, 1000, density=0.01, format="csr", random_state=0)
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model = RFLVM(progress=False).set_params(model__features=10)
model._prepare(X, Given(), None, False)
print((memory("VmHWM") - before) / (12500 * 1000 * 8))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
    if "Permission" in done.stderr:
        pytest.skip("the peak of memory cannot be set back here")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.3, "copies of the table"
