"""Runs one chain of a sampler on a table: ours through the program `trace`, the authors' through authors.py.

`run` is run.py's: it has the settings and a folder for what is passed between the programs.
"""

import csv
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np

from invariants import cells, pairs
from report import KEPT

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def skipped(what, why):
    print(f"SKIPPED {what}: {why}", file=sys.stderr, flush=True)


def peak_memory(pid):
    """Largest resident size so far, in bytes.

    Not ru_maxrss of wait4: that also counts the pages of this process, which the child shares until it executes another
    program.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return next((1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def ours(run, path, family, warmup, draws, flags=(), threads=1, chain=0):
    """One chain of our sampler: columns of its table, kept sweeps and all; CPU seconds of the start; peak memory."""
    rows, columns = np.load(path, mmap_mode="r").shape

    def join(places):
        return ",".join(f"{a}:{b}" for a, b in places)

    command = [TARGET / "release/trace", path, "--likelihood", family, "--warmup", warmup, "--draws", draws]
    command += ["--threads", threads, "--chain", chain, "--pairs", join(pairs(rows))]
    command += ["--cells", join(cells(rows, columns - (family == "multinomial"))), *flags]
    with open(run.folder / "stdout", "w+") as out, open(run.folder / "stderr", "w+") as err:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err)
        memory = 0
        while process.poll() is None:
            memory = max(memory, peak_memory(process.pid))
            time.sleep(0.02)
        out.seek(0), err.seek(0)
        messages = err.read()
        if process.returncode:
            sys.exit(f"trace failed on {path}:\n{messages}")
        lines = list(csv.DictReader(out))
    every = {name: np.array([float(line[name]) for line in lines]) for name in lines[0]}
    start = next(line for line in messages.splitlines() if line.startswith("start:"))
    return types.SimpleNamespace(
        kept={name: values[warmup:] for name, values in every.items()},
        all=every,
        start_cpu=float(start.split()[1]),
        memory=memory,
    )


# Loads the linear algebra with the wanted number of threads before authors.py asks for one.
WITH_THREADS = """
import runpy, sys, numpy, scipy.linalg
sys.argv, sys.path[0] = sys.argv[1:], sys.argv[2]
del sys.argv[1]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def authors(run, path, family, warmup, sweeps, flags=(), threads=1, seed=0):
    """One chain of the authors' code, as authors.py records it; None without a checkout, or if it failed."""
    if not run.args.authors:
        return None
    trace = run.folder / "authors.npz"
    command = [sys.executable, "-c", WITH_THREADS, HERE / "authors.py", HERE, "--authors", run.args.authors]
    command += ["--table", path, "--warmup", warmup, "--sweeps", sweeps, "--seed", seed, "--out", trace, *flags]
    command += ["--family", "gaussian", "--gaussian-kept"] if family == KEPT else ["--family", family]
    wanted = {f"{name}_NUM_THREADS": str(threads) for name in ["OMP", "OPENBLAS", "MKL", "NUMBA"]}
    done = subprocess.run([str(word) for word in command], env=os.environ | wanted, capture_output=True, text=True)
    if done.returncode:
        skipped(f"the authors' code on {path.stem}", done.stderr.strip().splitlines()[-1])
        return None
    return dict(np.load(trace))


def seconds(trace):
    """Medians over the kept sweeps."""
    return {
        "cpu": float(np.median(trace["cpu"])),
        "wall": float(np.median(trace["wall"])),
        "sweeps": len(trace["cpu"]),
    }
