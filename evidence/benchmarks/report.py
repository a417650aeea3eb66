"""The Markdown of evidence/benchmarks/RESULTS.md: tables from the rows measured by run.py.

Each `write_SECTION` makes the tables of its section from `sections`, the rows of all sections by name: some tables
also use the rows of another section.
"""

import numpy as np

STEPS = ["spectral", "frequencies", "scales", "positions", "gradient", "weights", "symmetry"]
# The authors' second Gaussian model: it samples β and σ² instead of integrating them out.
KEPT = "gaussian, β kept"

# CPU seconds per sweep, S-curve tables, of an efficient implementation of the authors' algorithm in NumPy: cached likelihoods, row-only and
# rank-one updates. Quoted, not measured here.
NUMPY_FORM = {"S-curve poisson": 0.36, "S-curve negative-binomial": 0.75, "S-curve gaussian": 0.75}

# Our samplers where rows have times, by the names in the tables: the kernel over time; none for a model without times.
DYNAMIC = {"ours, rbf": "rbf", "ours, matern32": "matern32", "ours, no times": None}

# b of the Pólya-gamma draws, as in the criterion bench.
SHAPES = [1, 2.7, 10, 50, 500]


def their_name(variant):
    return "authors, β kept" if variant == KEPT else "authors"


def figure(value, digits=3):
    """A number with this many significant digits; – for None."""
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
    steps = [[row["table"], *milliseconds(row)] for row in rows if "steps" in row]
    # The hyperparameters of paths have a column where there are paths.
    shown = [step for step in STEPS if step != "scales"]
    return (lead or SWEEP_LEAD) + markdown(header, lines) + STEPS_LEAD + markdown(["table", *shown], steps)


def milliseconds(row, timed=False):
    """Its steps, mean wall milliseconds; that of the hyperparameters of paths only where rows have times."""
    return [figure(1000 * row["steps"][step]) for step in STEPS if timed or step != "scales"]


STEPS_LEAD = "\nWhere our time goes, in mean wall milliseconds per sweep:\n\n"


SWEEP_LEAD = """Seconds per sweep, median over sweeps after a warm-up, one thread, 100 features. S-curve tables have
500×100 cells, Congress 529×1000. The authors' Gaussian model integrates β and σ² out, as ours does; the second row is
their faster variant. The NumPy form is an efficient implementation of the authors' algorithm in NumPy; its figures are quoted
from an earlier measurement on a 2-core AVX-512 Xeon and were not measured in this run.

"""

FULL_LEAD = """As above for our sweep with `--share 1`: in addition to the gradient move, every frequency and every column's
weights are redrawn one by one, as in the authors' sweep; by default only a share of them is. The authors'
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
    header = ["table", "sampler", "sweeps", "CPU s per sweep", "minimum ESS", "of", "largest R̂"]
    return ESS_LEAD + markdown(header + ["**ESS per CPU s**", "with warm-up", "ESS per wall s"], lines)


ESS_LEAD = """Minimum effective sample size over the log-likelihood, ten distances between rows, ten values of F, ‖W‖²
and α (ArviZ, bulk, rank-normalised, two chains), divided by the CPU seconds of the kept sweeps, and by those of initialisation,
warm-up and kept sweeps. One thread. If R̂ is far above 1, the chains have not mixed, and the ESS is too large: the
estimate rarely falls below the number of half-chains, four, so that a short run of chains that do not mix looks better
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
        "Median seconds per sweep. Threads of the authors' code are those of its linear algebra; ours gives the same "
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
        + "\nPólya-gamma draws PG(b, c), nanoseconds per draw: with one c for all draws, which the package exploits, "
        "and with a different c for each draw, as a sampler needs. Above b = 50 the package draws from a normal "
        "approximation.\n\n"
        + markdown([*header, "polyagamma / ours"], draws)
        + "\nAll other kernels, criterion's median:\n\n"
        + markdown(["kernel", "µs per call", "ns per element"], lines)
    )


KERNELS_LEAD = """One thread, wall time. Products, and the weighted Gram matrix HᵀΩH of one column, whose useful
operations are N·m·(m+1) for m columns of H: in % of the fastest plain 1000×1000×1000 product here, and of the fastest
product of any shape. "pairs" is the shape that would give the Gram matrices of all columns at once: pairs of features
by rows by columns.

"""


def write_growth(sections):
    rows = sections["growth"]
    text = (
        "Poisson counts on a simulated S-curve; N = 500, J = 100, M = 100, D = 2, except for the one that grows. Median "
        "seconds per sweep, one thread. Memory is the peak of the process minus that of a run on a 10×2 table, compared with the "
        "8·(N·J + N·D + L·D + (M+1)·J) bytes of data and parameters. The exponent is that of growth since the "
        "previous row.\n\n"
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


def write_dynamic(sections):
    rows = sections["dynamic"]
    curves, grown = ([row for row in rows if field in row] for field in ["table", "size"])
    lines = []
    for name in names(curves):
        found = {row["sampler"]: row for row in curves if row["table"] == name}
        for sampler, row in found.items():
            times = [ratio(row["cpu"], found.get(own, {}).get("cpu")) for own in ["ours, rbf", "ours, matern32"]]
            times = times if sampler not in DYNAMIC else [None, None]
            lines.append([name, sampler, *map(figure, [row["cpu"], row["wall"], *times]), row["sweeps"]])
    header = ["table", "sampler", "CPU s", "wall s", "/ ours, rbf", "/ ours, matern32", "sweeps timed"]
    text = DYNAMIC_LEAD + markdown(header, lines) + STEPS_LEAD
    text += markdown(
        ["table", "sampler", *STEPS],
        [[row["table"], row["sampler"], *milliseconds(row, True)] for row in curves if "steps" in row],
    )
    lines, fitted = [], []
    for sampler in DYNAMIC:
        last, line = None, sorted((row for row in grown if row["sampler"] == sampler), key=lambda row: row["size"])
        for row in line:
            exponent = np.log(row["cpu"] / last["cpu"]) / np.log(row["size"] / last["size"]) if last else None
            memory, least = row["memory"] / 2**20, row["least_memory"] / 2**20
            figures = [row["cpu"], row["wall"], exponent, row["start_cpu"], memory, least]
            lines.append([sampler, f"{row['size']:,}", *map(figure, figures), row["sweeps"]])
            last = row
        # One line through rows that are held in one form.
        line = [row for row in line if sampler != "ours, rbf" or row["size"] > DENSE_ROWS]
        if len(line) > 1:
            sizes, costs = ([row[field] for row in line] for field in ["size", "cpu"])
            exponent = np.polyfit(np.log(sizes), np.log(costs), 1)[0]
            fitted.append(f"{sampler}: {exponent:.2f} (N from {min(sizes):,} to {max(sizes):,})")
    if not lines:
        return text
    header = ["sampler", "N", "CPU s", "wall s", "exponent", "start, CPU s", "peak MiB", "data + parameters MiB"]
    text += DYNAMIC_GROWTH_LEAD + markdown([*header, "sweeps timed"], lines)
    text += f"\nExponents fitted to all N of a form: {'; '.join(fitted)}.\n" + STEPS_LEAD
    lines = [[row["sampler"], f"{row['size']:,}", *milliseconds(row, True)] for row in grown]
    return text + markdown(["sampler", "N", *STEPS], lines)


# Rows up to which the library holds the paths of a kernel such as the RBF as dense matrices.
DENSE_ROWS = 1000

DYNAMIC_LEAD = """Seconds per sweep of the S-curve (500×100 cells, 100 features) with its parameter t as the rows' times,
median over sweeps after a warm-up, one thread. Ours with the RBF kernel over time (dense matrices, exact) and with
Matérn-3/2 (a state-space model, exact), next to our model without times; the authors' dynamic code with its RBF kernel
and 50 inducing points. With times, our Gaussian model keeps β, so it is compared with both of theirs; without
times, ours integrates β out. In the steps, "scales" are the hyperparameters of the paths, and in rows of
commit f8d9fbf "frequencies" includes the factorisation of their covariances, which is now part of "scales".

"""

DYNAMIC_GROWTH_LEAD = """
Growth with N: Poisson counts along a smooth simulated path, J = 20, M = 100, D = 2. Matérn-3/2 is a state-space model
at every N; the RBF kernel is dense up to 1,000 rows and has 64 inducing points beyond. Memory is measured as in the table of
growth above; the exponent is that of growth since the previous row. Trajectories of the gradient move have random lengths, so
medians over few sweeps vary.

"""


def write_peers(sections):
    rows = sections["peers"]
    lines = []
    for name in names(rows):
        found = sorted((row for row in rows if row["table"] == name), key=lambda row: -row["r2"])
        lines += [[name, row["sampler"], figure(row["cpu"]), figure(row["wall"]), f"{row['r2']:.4f}"] for row in found]
    return (
        "Affine R² of the positions against the truth, best first; one thread, default settings of the libraries. Most of these "
        "give one set of positions; rflvm gives posterior draws, of which this is the mean.\n\n"
        + markdown(["table", "method", "CPU s", "wall s", "R²"], lines)
    )


def write_pbmc(sections):
    lines = [
        [row["table"], row["threads"], *(figure(row[name]) for name in ["cpu", "wall", "start_cpu"])]
        + [figure(row["memory"] / 2**20), row["sweeps"]]
        for row in sections["pbmc"]
    ]
    header = ["table", "threads", "CPU s per sweep", "wall s per sweep", "start, CPU s", "peak MiB", "sweeps timed"]
    return "Negative binomial with size factors, 100 features, D = 2.\n\n" + markdown(header, lines)
