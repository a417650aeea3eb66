"""Measures rflvm side by side with other programs, prints tables and assembles benchmarks/RESULTS.md and its plots.

    python benchmarks/run.py [--only SECTION …] [--tables NAME …] [--quick] [--keep] [--authors PATH] [--data PATH]
                             [--out DIR] [--authors-sweeps-scale 1.0]

    sweep     CPU and wall seconds a sweep, one thread, beside the authors' code
    full      the same for our sweep with every frequency and column redrawn one by one as well
    ess       minimum effective samples a CPU second over quantities that no rotation of X changes
    threads   one and two threads
    kernels   parts of a sweep: criterion's times, the weighted Gram matrix against plain products, Pólya-gamma draws
    growth    seconds a sweep and peak memory as N, J, M and D grow
    peers     other methods: seconds and R² of the positions
    pbmc      single-cell counts, negative binomial with size factors

A section's rows go to OUT/SECTION.json (benchmarks/results by default) one by one, as they are measured; its tables are
printed when it is done. In the end all that is found in OUT becomes RESULTS.md and plots, in benchmarks/ (with --quick
in OUT, then benchmarks/results/quick by default). So a long run can be done in parts:

    python benchmarks/run.py --only sweep full
    python benchmarks/run.py --only ess --tables gaussian
    python benchmarks/run.py --only ess --tables poisson --keep --authors PATH

A section starts anew unless --keep is given, which keeps the rows that are not measured again. `--only` with no name
measures nothing and assembles what is there.

PATH of --authors is a checkout of the authors' code, see authors.py; without it their columns stay empty. Data sets
that are not there are skipped, loudly. Needs a release build of rflvm-benchmarks and rflvm-cli (in CARGO_TARGET_DIR if
that is set) and the packages of benchmarks/requirements.txt; `make bench` sees to both. Measure on a machine that does
nothing else: CPU seconds suffer less from company than wall seconds, but they do.
"""

import argparse
import csv
import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

# One thread for what is measured in this process, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np

import accuracy
import plots
from invariants import cells, pairs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

FAMILIES = ["gaussian", "negative-binomial", "multinomial", "bernoulli", "poisson"]
STEPS = ["spectral", "frequencies", "positions", "gradient", "weights", "symmetry"]
CONGRESS = "Congress negative-binomial"
# The authors' second Gaussian model: it samples β and σ² instead of integrating them out.
KEPT = "gaussian, β kept"

# CPU seconds a sweep, S-curve tables, of the authors' algorithm written well in NumPy: cached likelihoods, row-only and
# rank-one updates. Quoted, not measured here.
NUMPY_FORM = {"S-curve poisson": 0.36, "S-curve negative-binomial": 0.75, "S-curve gaussian": 0.75}

# Sweeps of the authors' code: (warm-up, timed) in `sweep`, and (warm-up, kept) of each chain in `ess`.
AUTHORS_TIMED = {"gaussian": (1, 3), "negative-binomial": (1, 4), CONGRESS: (0, 1)}
AUTHORS_KEPT = {"poisson": (60, 200), "negative-binomial": (15, 40), "gaussian": (10, 30), KEPT: (30, 100)}

# Moves of our sampler left out, by the names in the tables.
VARIANTS = {
    "all moves": [],
    "no symmetry moves": ["--no-symmetry"],
    "no gradient move": ["--no-gradient"],
    "neither": ["--no-symmetry", "--no-gradient"],
}

# b of the Pólya-gamma draws, as in the criterion bench.
SHAPES = [1, 2.7, 10, 50, 500]

# What tells one row of a section from another.
KEY = ["table", "sampler", "threads", "axis", "size", "name"]


def skipped(what, why):
    print(f"SKIPPED {what}: {why}", file=sys.stderr, flush=True)


class Run:
    """One call of this program: its settings, the tables it makes for the samplers, and the rows it has measured."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = Path(folder)
        self.section = None
        self.rows = []

    def pick(self, full, quick):
        return quick if self.args.quick else full

    def wanted(self, name):
        return not self.args.tables or any(part in name for part in self.args.tables)

    def file(self, section):
        return self.args.out / f"{section}.json"

    def begin(self, section):
        """Starts a section: with no rows, or with --keep with those of an earlier run."""
        self.section, self.rows = section, []
        self.machine = machine()
        if self.args.keep and self.file(section).exists():
            found = json.loads(self.file(section).read_text())
            if found["machine"]["cpu"] != self.machine["cpu"] or found["quick"] != self.args.quick:
                sys.exit(f"{self.file(section)} is from another machine or --quick setting: leave out --keep")
            self.rows = found["rows"]
        print(f"\n# {section}", flush=True)

    def add(self, **row):
        """Keeps a row, in the place of the one with the same key if there is one, and saves them all."""
        row |= {"date": datetime.date.today().isoformat(), "commit": self.machine["commit"]}
        key = [row.get(name) for name in KEY]
        old = [i for i, other in enumerate(self.rows) if [other.get(name) for name in KEY] == key]
        if old:
            self.rows[old[0]] = row
        else:
            self.rows.append(row)
        text = json.dumps({"machine": self.machine, "quick": self.args.quick, "rows": self.rows}, indent=1)
        self.args.out.mkdir(parents=True, exist_ok=True)
        self.file(self.section).write_text(text + "\n")
        print(f"  {', '.join(str(part) for part in key if part is not None)}", file=sys.stderr, flush=True)

    def table(self, name, y):
        """The path of a table for the samplers."""
        path = self.folder / f"{name.replace(' ', '_').replace('/', '_')}.npy"
        if not path.exists():
            np.save(path, np.ascontiguousarray(y, dtype=float))
        return path

    def load(self, name, load):
        """The path of the table that `load` reads; None if it is not wanted or not there."""
        if not self.wanted(name):
            return None
        try:
            return self.table(name, load(self.args.data))
        except FileNotFoundError as missing:
            skipped(name, f"{missing.filename} is not there")
            return None

    def s_curves(self, families):
        """Family, name and path of each S-curve table."""
        for family in families:
            name = f"S-curve {family}"
            path = self.load(name, lambda data: accuracy.s_curve(data, family)["Y"])
            if path:
                yield family, name, path

    def congress(self):
        """The same for the one table of Congress."""
        path = self.load(CONGRESS, lambda data: accuracy.congress(data)[0])
        if path:
            yield "negative-binomial", CONGRESS, path


def version(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    """What the figures depend on."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    fields = [line.split(":", 1) for line in info.splitlines() if ":" in line]
    first = {name.strip(): value.strip() for name, value in reversed(fields)}
    lanes = next((name for name in ["avx512f", "avx2"] if name in first.get("flags", "").split()), "no AVX2")
    packages = ["numpy", "scipy", "GPy", "scikit-learn", "umap-learn", "polyagamma", "arviz"]
    changed = version("git", "-C", str(ROOT), "status", "--porcelain", "--", "crates", "benchmarks/src")
    commit = version("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    return {
        "cpu": f"{first.get('model name', platform.processor())}, {os.cpu_count()} cores, {lanes}",
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "commit": commit + (" and changes" if changed not in ["", "unknown"] else ""),
        "versions": {"rustc": version("rustc", "--version").removeprefix("rustc ").split(" (")[0]}
        | {"Python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in packages},
    }


def peak_memory(pid):
    """Largest resident size so far, in bytes.

    Not ru_maxrss of wait4: that counts this process's own pages too, which the child shares until it becomes another
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
    join = lambda places: ",".join(f"{a}:{b}" for a, b in places)
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
    """One chain of the authors' code, as authors.py records it; None without a checkout, or where it failed."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Sections: each measures rows.


def sweep(run, flags=(), with_authors=True):
    warmup, draws = run.pick((60, 40), (10, 12))
    # One thread each; the authors' code right after ours.
    tables = [*run.s_curves(FAMILIES), *run.congress()]
    for family, name, path in tables if with_authors else tables[: run.pick(None, 2)]:
        trace = ours(run, path, family, warmup, draws, flags).kept
        steps = {step: float(np.mean(trace[step])) for step in STEPS}
        run.add(table=name, sampler="ours", steps=steps, **seconds(trace))
        if not with_authors:
            continue
        for variant in [family, KEPT] if family == "gaussian" else [family]:
            warm, sweeps = AUTHORS_TIMED.get(CONGRESS if name == CONGRESS else variant, (5, 15))
            trace = authors(run, path, variant, warm, run.pick(sweeps, min(sweeps, 2)))
            if trace:
                run.add(table=name, sampler=their_name(variant), **seconds(trace))


def their_name(variant):
    return "authors, β kept" if variant == KEPT else "authors"


def full(run):
    sweep(run, ["--share", 1], with_authors=False)


def quantities(trace):
    """The quantities that mixing is judged by: their names, and an array of sweeps by quantities."""
    if "log_likelihood" in trace:
        names = ["log_likelihood", "w_norm2", "alpha", "distances", "f"]
        parts = [trace[name] for name in names]
    else:
        names = ["log_lik", "w2", "alpha", *(f"distance{i}" for i in range(10)), *(f"f{i}" for i in range(10))]
        parts = [trace[name][:, None] for name in names]
    labels = ["log-likelihood", "‖W‖²", "α"] + [f"distance {i}" for i in range(10)] + [f"F {i}" for i in range(10)]
    return labels, np.concatenate(parts, axis=1)


def mixing(chains):
    """Rank-normalised bulk effective sample sizes and R̂ by ArviZ over chains (each sweeps by quantities)."""
    import arviz

    labels, _ = quantities(chains[0])
    values = np.stack([quantities(chain)[1] for chain in chains])
    # ArviZ gives a trace that never moves all of its draws; it is worth none.
    moves = np.ptp(values, axis=(0, 1)) > 0
    columns = range(len(labels))
    ess = [float(arviz.ess(values[:, :, q], method="bulk")) if moves[q] else 0.0 for q in columns]
    rhat = [float(arviz.rhat(values[:, :, q])) if moves[q] else float("inf") for q in columns]
    return {
        "ess": min(ess),
        "least": labels[int(np.argmin(ess))],
        "rhat": max(rhat),
        "ess_by_quantity": dict(zip(labels, ess)),
    }


def ess(run):
    warmup, draws = run.pick((300, 1000), (40, 100))
    for family, name, path in run.s_curves(run.pick(["poisson", "negative-binomial", "gaussian"], ["gaussian"])):
        for variant, flags in VARIANTS.items():
            chains = [ours(run, path, family, warmup, draws, flags, chain=chain) for chain in range(2)]
            run.add(
                table=name,
                sampler=f"ours, {variant}",
                warmup=warmup,
                kept=draws,
                cpu=sum(float(chain.kept["cpu"].sum()) for chain in chains),
                wall=sum(float(chain.kept["wall"].sum()) for chain in chains),
                cpu_with_warmup=sum(float(chain.all["cpu"].sum()) + chain.start_cpu for chain in chains),
                **mixing([chain.kept for chain in chains]),
            )
        for variant in [family, KEPT] if family == "gaussian" else [family]:
            # ArviZ halves chains and wants four draws of each half.
            counts = zip(AUTHORS_KEPT[variant], [1, 8])
            warm, sweeps = (max(least, round(run.args.authors_sweeps_scale * count)) for count, least in counts)
            chains = [authors(run, path, variant, warm, sweeps, seed=seed) for seed in range(2)]
            if None in chains:
                continue
            run.add(
                table=name,
                sampler=their_name(variant),
                warmup=warm,
                kept=sweeps,
                cpu=sum(float(chain["cpu"].sum()) for chain in chains),
                wall=sum(float(chain["wall"].sum()) for chain in chains),
                cpu_with_warmup=sum(float(chain["cpu"].sum() + chain["warmup_cpu"].sum()) for chain in chains),
                **mixing(chains),
            )


def threads(run):
    warmup, draws = run.pick((60, 40), (20, 20))
    families = run.pick(["poisson", "negative-binomial", "gaussian"], ["poisson"])
    for family, name, path in [*run.s_curves(families), *run.pick(run.congress, list)()]:
        for count in [1, 2]:
            trace = ours(run, path, family, warmup, draws, threads=count).kept
            run.add(table=name, sampler="ours", threads=count, **seconds(trace))
        for count in [1, 2] if name != CONGRESS else []:
            trace = authors(run, path, family, 1, {"poisson": 10}.get(family, 2), threads=count)
            if trace:
                run.add(table=name, sampler="authors", threads=count, **seconds(trace))


def kernels(run):
    home = run.args.out.resolve() / "criterion"
    shutil.rmtree(home, ignore_errors=True)
    # Criterion's own defaults of 3 and 5 seconds are more than these figures need.
    flags = run.pick(["--warm-up-time", "1", "--measurement-time", "3"], ["--quick"])
    command = ["cargo", "bench", "--quiet", "--package", "rflvm", "--bench", "kernels", "--", "--noplot", *flags]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"CRITERION_HOME": str(home)}, stdout=sys.stderr)
    found = [(json.loads(path.read_text()), path) for path in home.rglob("new/benchmark.json")]
    for about, path in sorted(found, key=lambda pair: pair[1].stat().st_mtime):
        estimates = json.loads(path.with_name("estimates.json").read_text())
        elements = (about.get("throughput") or {}).get("Elements")
        run.add(name=about["full_id"], sampler="ours", ns=estimates["median"]["point_estimate"], elements=elements)
    from polyagamma import random_polyagamma

    # The same by packages: products for each shape of ours, and Pólya-gamma draws with c as there.
    rng = np.random.default_rng(0)
    for name in [row["name"] for row in run.rows if row["name"].startswith("product/")]:
        if name.endswith("by faer"):
            continue
        n, inner, m = (int(size) for size in name.split()[-1].split("x"))
        a, b = rng.standard_normal((n, inner)), rng.standard_normal((inner, m))
        ns = nanoseconds(lambda: a @ b, repeats=run.pick(50, 10))
        run.add(name=f"{name} by NumPy", sampler="NumPy", ns=ns, elements=2 * n * inner * m)
    count = 100_000
    tilts = {"c=1": {"z": 1.0, "size": count}, "c~N(0,1)": {"z": rng.standard_normal(count)}}
    for b in SHAPES:
        for tilt, given in tilts.items():
            ns = nanoseconds(lambda: random_polyagamma(b, **given, random_state=rng), repeats=run.pick(9, 3))
            run.add(name=f"polya-gamma/b={b} {tilt}", sampler="polyagamma", ns=ns, elements=count)


def nanoseconds(call, repeats):
    """Median wall time of a call, as criterion measures it."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - begun)
    return float(np.median(times))


def growing(rows, columns):
    """Counts on an S-curve: each column Poisson with log rate a function with RBF kernel, by 500 random features."""
    rng = np.random.default_rng(0)
    t = 3 * np.pi * (rng.random(rows) - 0.5)
    x = np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1)])
    x /= x.std(axis=0)
    frequencies, phases = rng.standard_normal((2, 500)), 2 * np.pi * rng.random(500)
    weights = rng.standard_normal((500, columns)) * np.sqrt(2 / 500)
    return rng.poisson(np.exp(np.cos(x @ frequencies + phases) @ weights)).astype(float)


def growth(run):
    axes = run.pick(
        {
            "N": [250, 500, 1000, 2000, 5000, 10_000, 20_000],
            "J": [25, 50, 100, 200, 500, 1000, 2000],
            "M": [20, 50, 100, 200, 400],
            "D": [1, 2, 4, 8, 16],
        },
        {"N": [250, 500, 1000, 2000], "J": [50, 100, 200, 400], "M": [50, 100, 200], "D": [1, 2, 4]},
    )
    # How far the authors' code is taken along.
    theirs = {"N": 2000, "J": 500, "M": 400, "D": 16}
    # Long enough for its memory to be looked at a few times.
    tiny = ours(run, run.table("growth tiny", growing(10, 2)), "poisson", 100, 2000, ["--features", 2]).memory
    for axis, sizes in axes.items():
        for size in sizes:
            shape = {"N": 500, "J": 100, "M": 100, "D": 2} | {axis: size}
            n, j, m, d = shape.values()
            path = run.table(f"growth {n}x{j}", growing(n, j))
            flags = ["--features", m, "--latent-dim", d]
            warmup, draws = run.pick((20, 30) if n * j <= 200_000 else (10, 10), (5, 10))
            trace = ours(run, path, "poisson", warmup, draws, flags)
            least = 8 * (n * j + n * d + m // 2 * d + (m + 1) * j)
            costs = {"start_cpu": trace.start_cpu, "memory": trace.memory - tiny, "least_memory": least}
            run.add(axis=axis, size=size, sampler="ours", **costs, **seconds(trace.kept))
            if size <= theirs[axis]:
                trace = authors(run, path, "poisson", 1, run.pick(4, 1), flags)
                if trace:
                    run.add(axis=axis, size=size, sampler="authors", **seconds(trace))
            path.unlink()


def peers(run):
    for name in run.pick([""], ["PCA", "UMAP", "GPLVM, 200"]):
        command = [sys.executable, HERE / "peers.py", "--data", run.args.data, "--only", name]
        command += ["--out", run.folder / "peers.json"]
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
        for row in json.loads((run.folder / "peers.json").read_text()):
            form = f" of {row['form']} counts" if row["family"] != "gaussian" else ""
            costs = {"cpu": row["cpu_s"], "wall": row["wall_s"], "r2": row["r2"]}
            run.add(table=f"S-curve {row['family']}", sampler=row["method"] + form, **costs)
    warmup, draws = run.pick((300, 300), (30, 30))
    settings = types.SimpleNamespace(program=TARGET / "release/rflvm", warmup=warmup, draws=draws)
    for family, name, path in run.s_curves(["gaussian", "poisson", "negative-binomial"]):
        begun = children_cpu()
        x, _, wall = accuracy.fit(np.load(path), family, 1, settings, ["--threads", 1])
        r2 = accuracy.affine_r2(x, accuracy.s_curve(run.args.data, family)["X"])
        sampler = f"rflvm fit, 2 chains of {warmup} + {draws} sweeps"
        run.add(table=name, sampler=sampler, cpu=children_cpu() - begun, wall=wall, r2=float(r2))


def children_cpu():
    return os.times().children_user + os.times().children_system


def pbmc(run):
    def load(data):
        z = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz")
        y = np.zeros(z["shape"])
        y[np.repeat(np.arange(len(y)), np.diff(z["indptr"])), z["indices"]] = z["data"]
        # The quick run takes a corner of the table, without the genes that nothing is left of.
        corner = y[:300, :400]
        return run.pick(y, corner[:, corner.sum(0) > 0])

    path = run.load("PBMC3k", load)
    if not path:
        return
    rows, columns = np.load(path, mmap_mode="r").shape
    for count in [1, 2]:
        trace = ours(run, path, "negative-binomial", *run.pick((20, 10), (5, 5)), ["--size-factors"], threads=count)
        costs = {"start_cpu": trace.start_cpu, "memory": trace.memory} | seconds(trace.kept)
        run.add(table=f"PBMC3k {rows}×{columns}", sampler="ours", threads=count, **costs)


# ---------------------------------------------------------------------------------------------------------------------
# Markdown: each function makes the tables of a section from its rows, and from all sections where it needs another.


def figure(value, digits=3):
    """A number with so many significant digits; – for none."""
    if value is None:
        return "–"
    if not np.isfinite(value):
        return str(value)
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text and value >= 1 else text


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def find(rows, **wanted):
    """The row with these values; an empty one if there is none."""
    return next((row for row in rows if all(row.get(name) == value for name, value in wanted.items())), {})


def names(rows, field="table"):
    """Values of a field in the order of their first row."""
    return list(dict.fromkeys(row[field] for row in rows))


def ratio(a, b):
    return None if a is None or b is None else a / b


def write_sweep(sections, section="sweep", lead=None):
    rows = sections[section]
    theirs = sections.get("sweep", [])
    lines = []
    for name in names(rows):
        mine = find(rows, table=name, sampler="ours")
        for sampler in [their_name(""), their_name(KEPT)]:
            other = find(theirs, table=name, sampler=sampler)
            if sampler == their_name(KEPT) and not other:
                continue
            quoted = NUMPY_FORM.get(name) if sampler == "authors" else None
            figures = [mine.get("cpu"), mine.get("wall"), other.get("cpu"), other.get("wall")]
            figures += [ratio(other.get("cpu"), mine.get("cpu")), quoted, ratio(quoted, mine.get("cpu"))]
            label = name if sampler == "authors" else f"{name} (authors: β kept)"
            lines.append([label, *map(figure, figures)])
    header = ["table", "ours, CPU s", "wall s", "authors, CPU s", "wall s", "authors / ours"]
    header += ["NumPy form, CPU s (quoted)", "NumPy / ours"]
    steps = [[row["table"], *(figure(1000 * row["steps"][step]) for step in STEPS)] for row in rows if "steps" in row]
    return (
        (lead or SWEEP_LEAD)
        + markdown(header, lines)
        + "\nWhere our time goes, mean wall milliseconds of a sweep:\n\n"
        + markdown(["table", *STEPS], steps)
    )


SWEEP_LEAD = """Seconds a sweep, median over sweeps after a warm-up, one thread, 100 features. S-curve tables have
500×100 cells, Congress 529×1000. The authors' Gaussian model integrates β and σ² out, as ours does; the second row sets
their faster one beside it. The NumPy form is the authors' algorithm written well in NumPy; its figures are quoted from
an earlier measurement on a 2-core AVX-512 Xeon and were not measured in this run.

"""

FULL_LEAD = """As above for our sweep with `--share 1`: beside the gradient move every frequency and every column's
weights are redrawn one by one as well, as in the authors' sweep; by default only a share of them is. The authors'
seconds are those of the table above.

"""


def write_full(sections):
    return write_sweep(sections, "full", FULL_LEAD)


def write_ess(sections):
    rows = sections["ess"]
    lines = []
    for row in sorted(rows, key=lambda row: names(rows).index(row["table"])):
        sweeps = f"2×({row['warmup']} + {row['kept']})"
        costs = [row["cpu"], row["cpu_with_warmup"], row["wall"]]
        lines.append([row["table"], row["sampler"], sweeps, figure(row["cpu"] / (2 * row["kept"]))])
        lines[-1] += [figure(row["ess"]), row["least"], figure(row["rhat"]), *(figure(row["ess"] / c) for c in costs)]
    header = ["table", "sampler", "sweeps", "CPU s a sweep", "least ESS", "of", "largest R̂"]
    return ESS_LEAD + markdown(header + ["**ESS a CPU s**", "with warm-up", "ESS a wall s"], lines)


ESS_LEAD = """Least effective sample size over the log-likelihood, ten distances between rows, ten values of F, ‖W‖²
and α (ArviZ, bulk, rank-normalised, two chains), over the CPU seconds of the kept sweeps; and over those of start,
warm-up and kept sweeps. One thread. Where R̂ is far above 1 the chains have not met, and the ESS is too large: the
estimate hardly falls below the number of half-chains, four, so that a short run of chains that do not mix looks better
than it is.

"""


def write_threads(sections):
    rows = sections["threads"]
    lines = []
    for name in names(rows):
        for sampler in ["ours", "authors"]:
            one, two = (find(rows, table=name, sampler=sampler, threads=count) for count in [1, 2])
            if one and two:
                cells_ = [one["cpu"], one["wall"], two["cpu"], two["wall"], one["wall"] / two["wall"]]
                lines.append([name, sampler, *map(figure, cells_)])
    header = ["table", "sampler", "1 thread, CPU s", "wall s", "2 threads, CPU s", "wall s", "times as fast"]
    return (
        "Median seconds a sweep. Threads of the authors' code are those of its linear algebra; ours gives the same "
        "draws with any number.\n\n" + markdown(header, lines)
    )


def write_kernels(sections):
    rows = sections["kernels"]
    mine = [row for row in rows if row["sampler"] == "ours"]
    lines = [
        [row["name"], figure(row["ns"] / 1000), figure(row["ns"] / row["elements"]) if row["elements"] else "–"]
        for row in mine
        if not row["name"].startswith(("product", "weighted gram"))
    ]
    # Elements of a product are its floating-point operations.
    products = [row for row in rows if row["name"].startswith(("product", "weighted gram"))]
    rates = {row["name"]: row["elements"] / row["ns"] for row in products}
    peaks = [max((rates[name] for name in rates if kind in name), default=None) for kind in ["/large", "product/"]]
    shares = [
        [name, figure(find(products, name=name)["ns"] / 1000), figure(rate)]
        + [f"{100 * rate / peak:.0f}%" if peak else "–" for peak in peaks]
        for name, rate in sorted(rates.items(), key=lambda pair: pair[0].removeprefix("product/"))
    ]
    draws = []
    for b in SHAPES:
        line = []
        for tilt in ["c=1", "c~N(0,1)"]:
            own = find(mine, name=f"polya-gamma/b={b} {tilt} 1000")
            other = find(rows, name=f"polya-gamma/b={b} {tilt}", sampler="polyagamma")
            pair = [ratio(entry.get("ns"), entry.get("elements")) for entry in [own, other]]
            line += [figure(value) for value in [*pair, ratio(pair[1], pair[0])]]
        draws.append([b, *line])
    header = ["b", "ours, c = 1", "polyagamma", "polyagamma / ours", "ours, c ~ N(0, 1)", "polyagamma"]
    return (
        KERNELS_LEAD
        + markdown(["kernel", "µs", "GFLOP/s", "% of fastest large product", "% of fastest product"], shares)
        + "\nPólya-gamma draws PG(b, c), nanoseconds a draw: with one c for all draws, which the package makes use of, "
        "and with a c for each, which is what a sampler needs. Above b = 50 the package draws from a normal "
        "approximation.\n\n"
        + markdown([*header, "polyagamma / ours"], draws)
        + "\nAll other kernels, criterion's median:\n\n"
        + markdown(["kernel", "µs a call", "ns an element"], lines)
    )


KERNELS_LEAD = """One thread, wall time. Products, and the weighted Gram matrix HᵀΩH of one column, whose useful
operations are N·m·(m+1) for m columns of H: in % of the fastest plain 1000×1000×1000 product here, and of the fastest
product of any shape. "pairs" is the shape that would give the Gram matrices of all columns at once: pairs of features
by rows by columns.

"""


def write_growth(sections):
    rows = sections["growth"]
    text = (
        "Poisson counts on a simulated S-curve; N = 500, J = 100, M = 100, D = 2 but for the one that grows. Median "
        "seconds a sweep, one thread. Memory is the peak of the process less that of a run on a 10×2 table, beside the "
        "8·(N·J + N·D + L·D + (M+1)·J) bytes of data and parameters. The exponent is that of growth since the row "
        "above.\n\n"
    )
    for axis in names(rows, "axis"):
        lines, last = [], None
        for row in sorted((r for r in rows if r["axis"] == axis and r["sampler"] == "ours"), key=lambda r: r["size"]):
            other = find(rows, axis=axis, size=row["size"], sampler="authors")
            exponent = np.log(row["cpu"] / last["cpu"]) / np.log(row["size"] / last["size"]) if last else None
            memory, least = row["memory"] / 2**20, row["least_memory"] / 2**20
            figures = [row["cpu"], row["wall"], exponent, row["start_cpu"], other.get("cpu")]
            lines.append([f"{row['size']:,}", *map(figure, figures + [memory, least, memory / least])])
            last = row
        header = [axis, "ours, CPU s", "wall s", "exponent", "start, CPU s", "authors, CPU s"]
        text += markdown(header + ["peak MiB", "data + parameters MiB", "ratio"], lines) + "\n"
    return text


def write_peers(sections):
    rows = sections["peers"]
    lines = []
    for name in names(rows):
        found = sorted((row for row in rows if row["table"] == name), key=lambda row: -row["r2"])
        lines += [[name, row["sampler"], figure(row["cpu"]), figure(row["wall"]), f"{row['r2']:.4f}"] for row in found]
    return (
        "Affine R² of the positions against the true ones, best first; one thread, libraries' defaults. Most of these "
        "give one set of positions; rflvm gives draws from their posterior, of which this is the mean.\n\n"
        + markdown(["table", "method", "CPU s", "wall s", "R²"], lines)
    )


def write_pbmc(sections):
    lines = [
        [row["table"], row["threads"], *(figure(row[name]) for name in ["cpu", "wall", "start_cpu"])]
        + [figure(row["memory"] / 2**20), row["sweeps"]]
        for row in sections["pbmc"]
    ]
    header = ["table", "threads", "CPU s a sweep", "wall s a sweep", "start, CPU s", "peak MiB", "sweeps timed"]
    return "Negative binomial with size factors, 100 features, D = 2.\n\n" + markdown(header, lines)


# Name, heading, measuring, writing, picture; in the order of the report.
SECTIONS = {
    "sweep": ("Seconds a sweep", sweep, write_sweep, plots.sweep),
    "full": ("Seconds a full sweep", full, write_full, None),
    "ess": ("Effective samples a second", ess, write_ess, plots.ess),
    "threads": ("Threads", threads, write_threads, None),
    "kernels": ("Kernels", kernels, write_kernels, None),
    "growth": ("Growth with N, J, M and D, and memory", growth, write_growth, plots.growth),
    "peers": ("Other methods", peers, write_peers, None),
    "pbmc": ("PBMC3k", pbmc, write_pbmc, None),
}


def measured(out):
    """What each section's file holds."""
    files = {name: out / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(path.read_text()) for name, path in files.items() if path.exists()}


def rows_by_section(out):
    return {name: section["rows"] for name, section in measured(out).items()}


def assemble(args):
    """RESULTS.md and plots from the sections found in the out folder."""
    folder = args.out if args.quick else HERE
    found = measured(args.out)
    if not found:
        return
    sections = rows_by_section(args.out)
    dates = sorted({row["date"] for rows in sections.values() for row in rows})
    text = "# Benchmarks\n\nWritten by `make bench`; how to run it is in [README.md](README.md).\n\n"
    if any(section["quick"] for section in found.values()):
        text += "**Quick settings, few sweeps and small tables: to see that everything runs, not to be quoted.**\n\n"
    for what in dict.fromkeys(section["machine"]["cpu"] for section in found.values()):
        text += f"- Machine: {what}\n"
    for what in dict.fromkeys(tuple(section["machine"]["versions"].items()) for section in found.values()):
        text += f"- Versions: {', '.join(f'{name} {number}' for name, number in what)}\n"
    text += f"- Date: {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "") + "\n"
    for name, (heading, _, write, draw) in SECTIONS.items():
        if name not in found:
            continue
        commits = ", ".join(sorted({row["commit"] for row in sections[name]}))
        load = found[name]["machine"]["load"]
        text += f"\n## {heading}\n\n{write(sections)}\nCommit {commits}; load average at the start {load}.\n"
        if draw:
            (folder / "plots").mkdir(parents=True, exist_ok=True)
            draw(sections[name], folder / "plots" / f"{name}.svg")
            text += f"\n![{heading}](plots/{name}.svg)\n"
    (folder / "RESULTS.md").write_text(text)
    print(f"\n{folder / 'RESULTS.md'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    parser.add_argument("--tables", nargs="+", help="only tables whose name contains one of these")
    parser.add_argument("--quick", action="store_true", help="few sweeps and small tables: a few minutes in all")
    parser.add_argument("--keep", action="store_true", help="keep rows of an earlier run that are not measured again")
    parser.add_argument("--authors", type=Path, help="checkout of the authors' code")
    parser.add_argument("--authors-sweeps-scale", type=float, default=1.0, help="factor for their sweeps in `ess`")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, help="folder for the measured rows")
    args = parser.parse_args()
    args.out = args.out or HERE / ("results/quick" if args.quick else "results")
    if args.authors:
        args.authors = args.authors.resolve()
        if not (args.authors / "models").is_dir():
            parser.error(f"--authors: {args.authors} has no folder 'models', so it is no checkout of the authors' code")
    for program in ["trace", "rflvm"]:
        if args.only and not (TARGET / "release" / program).exists():
            remedy = "cargo build --release --package rflvm-benchmarks --package rflvm-cli"
            parser.error(f"{TARGET / 'release' / program} is not there: {remedy}")
    with tempfile.TemporaryDirectory() as folder:
        run = Run(args, folder)
        for name, (_, measure, write, _) in SECTIONS.items():
            if name not in args.only:
                continue
            run.begin(name)
            measure(run)
            if run.rows:
                print("\n" + write(rows_by_section(args.out)), flush=True)
    assemble(args)


if __name__ == "__main__":
    main()
