"""The sections of the benchmarks: each measures rows and passes them to the run (see run.py)."""

import json
import os
import shutil
import subprocess
import sys
import time
import types

import numpy as np

import accuracy
from report import DYNAMIC, KEPT, SHAPES, STEPS, their_name
from samplers import HERE, ROOT, TARGET, authors, ours, seconds

FAMILIES = ["gaussian", "negative-binomial", "multinomial", "bernoulli", "poisson"]
CONGRESS = "Congress negative-binomial"

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


def sweep(run, flags=(), with_authors=True):
    warmup, draws = run.pick((60, 40), (10, 12))
    # One thread each; the authors' code right after ours.
    tables = [*run.s_curves(FAMILIES), *run.congress()]
    for family, name, path in tables if with_authors else tables[: run.pick(None, 2)]:
        trace = ours(run, path, family, warmup, draws, flags).kept
        run.add(table=name, sampler="ours", steps=steps(trace), **seconds(trace))
        if not with_authors:
            continue
        for variant in [family, KEPT] if family == "gaussian" else [family]:
            warm, sweeps = AUTHORS_TIMED.get(CONGRESS if name == CONGRESS else variant, (5, 15))
            trace = authors(run, path, variant, warm, run.pick(sweeps, min(sweeps, 2)))
            if trace:
                run.add(table=name, sampler=their_name(variant), **seconds(trace))


def steps(trace):
    return {step: float(np.mean(trace[step])) for step in STEPS}


def full(run):
    sweep(run, ["--share", 1], with_authors=False)


def quantities(trace):
    """The quantities that mixing is judged by: their names, and an array of sweeps by quantities."""
    if "log_likelihood" in trace:
        names = ["log_likelihood", "w_norm2", "alpha", "distances", "f"]
        parts = [trace[name] for name in names]
    else:
        names = ["ln_lik", "w2", "alpha", *(f"distance{i}" for i in range(10)), *(f"f{i}" for i in range(10))]
        parts = [trace[name][:, None] for name in names]
    labels = ["log-likelihood", "‖W‖²", "α"] + [f"distance {i}" for i in range(10)] + [f"F {i}" for i in range(10)]
    return labels, np.concatenate(parts, axis=1)


def mixing(chains):
    """Rank-normalised bulk effective sample sizes and R̂ by ArviZ over chains (each sweeps by quantities)."""
    import arviz

    labels, _ = quantities(chains[0])
    values = np.stack([quantities(chain)[1] for chain in chains])
    # ArviZ assigns a constant trace all of its draws; count none.
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
            # ArviZ splits chains in half and needs four draws per half.
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
    command = ["cargo", "bench", "--quiet", "--package", "rflvm-benchmarks", "--bench", "kernels", "--", "--noplot", *flags]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"CRITERION_HOME": str(home)}, stdout=sys.stderr)
    found = [(json.loads(path.read_text()), path) for path in home.rglob("new/benchmark.json")]
    for about, path in sorted(found, key=lambda pair: pair[1].stat().st_mtime):
        estimates = json.loads(path.with_name("estimates.json").read_text())
        elements = (about.get("throughput") or {}).get("Elements")
        run.add(name=about["full_id"], sampler="ours", ns=estimates["median"]["point_estimate"], elements=elements)
    from polyagamma import random_polyagamma

    # The packages on the same tasks: products of the same shapes, and Pólya-gamma draws with the same c.
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
    return counts(curve(rows, rng), columns, rng)


def curve(rows, rng):
    """Positions on an S-curve."""
    t = 3 * np.pi * (rng.random(rows) - 0.5)
    x = np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1)])
    return x / x.std(axis=0)


def moving(rows, columns):
    """The same on a path, and its times: two axes with RBF kernel over time, length-scale a tenth of the span."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.random(rows))
    x = np.zeros((rows, 2))
    for frequency, phase in zip(rng.standard_normal((200, 2)) / 0.1, 2 * np.pi * rng.random((200, 2))):
        x += np.sqrt(2 / 200) * np.cos(t[:, None] * frequency + phase)
    return counts(x, columns, rng), t


def counts(x, columns, rng):
    return rng.poisson(np.exp(functions(x, columns, rng))).astype(float)


def functions(x, columns, rng):
    frequencies, phases = rng.standard_normal((2, 500)), 2 * np.pi * rng.random(500)
    weights = rng.standard_normal((500, columns)) * np.sqrt(2 / 500)
    return np.cos(x @ frequencies + phases) @ weights


def least_memory(n, j, m, d):
    """Bytes of data and parameters."""
    return 8 * (n * j + n * d + m // 2 * d + (m + 1) * j)


def tiny_memory(run):
    """Peak memory of a run on a tiny table, long enough to be sampled a few times."""
    return ours(run, run.table("growth tiny", growing(10, 2)), "poisson", 100, 2000, ["--features", 2]).memory


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
    # The largest sizes for the authors' code.
    theirs = {"N": 2000, "J": 500, "M": 400, "D": 16}
    tiny = tiny_memory(run)
    for axis, sizes in axes.items():
        for size in sizes:
            shape = {"N": 500, "J": 100, "M": 100, "D": 2} | {axis: size}
            n, j, m, d = shape.values()
            path = run.table(f"growth {n}x{j}", growing(n, j))
            flags = ["--features", m, "--latent-dim", d]
            warmup, draws = run.pick((20, 30) if n * j <= 200_000 else (10, 10), (5, 10))
            trace = ours(run, path, "poisson", warmup, draws, flags)
            costs = {"start_cpu": trace.start_cpu, "memory": trace.memory - tiny}
            costs["least_memory"] = least_memory(n, j, m, d)
            run.add(axis=axis, size=size, sampler="ours", **costs, **seconds(trace.kept))
            if size <= theirs[axis]:
                trace = authors(run, path, "poisson", 1, run.pick(4, 1), flags)
                if trace:
                    run.add(axis=axis, size=size, sampler="authors", **seconds(trace))
            path.unlink()


def dynamic(run):
    # S-curve: its rows in the order of their times, as the authors' loader has them.
    for family, name, path in run.s_curves(["poisson", "gaussian"]):
        t = accuracy.s_curve(run.args.data, family)["t"]
        order = t.argsort()
        path, times = run.table(f"{name} in time", np.load(path)[order]), run.table(f"{name} times", t[order])
        for sampler, kernel in DYNAMIC.items():
            trace = ours(run, path, family, *run.pick((60, 40), (10, 12)), dynamic_flags(kernel, times)).kept
            run.add(table=name, sampler=sampler, steps=steps(trace), **seconds(trace))
        for variant in [KEPT, family] if family == "gaussian" else [family]:
            trace = authors(run, path, variant, 1, run.pick(2, 1), ["--dynamic", times])
            if trace:
                run.add(table=name, sampler=their_name(variant), **seconds(trace))
    if not run.wanted("growth"):
        return
    columns, tiny = 20, tiny_memory(run)
    for size in run.pick([1000, 3000, 10_000, 30_000, 100_000], [300, 1000, 3000]):
        y, t = moving(size, columns)
        path, times = run.table(f"dynamic {size}", y), run.table(f"dynamic {size} times", t)
        for sampler, kernel in DYNAMIC.items():
            warmup, draws = run.pick((20, 30) if size <= 10_000 else (6, 9), (4, 4))
            trace = ours(run, path, "poisson", warmup, draws, dynamic_flags(kernel, times))
            costs = {"start_cpu": trace.start_cpu, "memory": trace.memory - tiny, "steps": steps(trace.kept)}
            costs["least_memory"] = least_memory(size, columns, 100, 2)
            run.add(axis="N", size=size, sampler=sampler, **costs, **seconds(trace.kept))
        path.unlink()


def dynamic_flags(kernel, times):
    return ["--times", times, "--time-kernel", kernel] if kernel else []


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
        # The quick run takes a corner of the table, without genes that are empty there.
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
