"""The cost of the Python layer: the import, its share of a fit, and copies of the table.

    pip install . pandas && python evidence/benchmarks/python_package.py [--gigabytes 1]

Prints one line per measurement. Copies are the increase of peak resident memory, in sizes of the table as 64-bit numbers; Linux only.
"""

import argparse
import subprocess
import sys
import time
import warnings


def seconds_of_import():
    """The median of eleven imports, without the start of Python itself."""
    code = "import time; t = time.perf_counter(); import rflvm; print(time.perf_counter() - t)"
    runs = sorted(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(11))
    return runs[5]


def share_of_a_fit():
    """The fraction of a fit (Poisson S-curve, 500 × 100) spent outside the engine."""
    import rflvm
    from rflvm._given import Given

    table = rflvm.datasets.s_curve(500, 100, "poisson", seed=1).table
    model = rflvm.RFLVM(likelihood="poisson", sampling=rflvm.Sampling(warmup=100, draws=100), random_state=1, progress=False)
    begun = time.perf_counter()
    fit = model._prepare(table, Given(), None, False)
    started = time.perf_counter()
    job = fit.start()
    while not job.wait(0.1):
        pass
    ended = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model._finish(job.outcome())
    whole = time.perf_counter() - begun
    return (whole - (ended - started)) / whole, whole


def memory(which):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(which)) * 1024


def copies(gigabytes, kind):
    """Copies made in passing a table to the engine."""
    import numpy as np
    import pandas

    from rflvm import Model
    from rflvm._estimator import RFLVM
    from rflvm._given import Given

    rows = int(gigabytes * 1e9 / 8 / 1000)
    table = np.empty((rows, 1000))
    rng = np.random.default_rng(0)
    for start in range(0, rows, 1000):
        table[start : start + 1000] = rng.normal(size=(min(1000, rows - start), 1000))
    if kind == "frame":
        table = pandas.DataFrame(table, columns=[f"c{j}" for j in range(1000)], copy=False)
    before = memory("VmRSS")
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    RFLVM(model=Model(features=10), progress=False)._prepare(table, Given(), None, False)
    return (memory("VmHWM") - before) / (rows * 8000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the table that copies are counted of")
    parser.add_argument("--copies", choices=["array", "frame"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.copies:
        print(copies(args.gigabytes, args.copies))
        return
    print(f"import rflvm: {1000 * seconds_of_import():.1f} ms")
    share, whole = share_of_a_fit()
    print(f"share of the Python layer in a fit of {whole:.1f} s (500 × 100 Poisson, 2 chains of 100 + 100 sweeps): {share:.2%}")
    for kind in ("array", "frame"):
        command = [sys.executable, "-W", "ignore", __file__, "--copies", kind, "--gigabytes", str(args.gigabytes)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"copies of {args.gigabytes:g} GB, {kind}: {float(done.stdout):.2f}")


if __name__ == "__main__":
    main()
