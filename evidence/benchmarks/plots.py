"""Plots of the measurements; run.py calls these with the rows of a section."""

import matplotlib

matplotlib.use("Agg")
# Text stays text, and the same figures give the same file.
matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "rflvm", "font.size": 9, "axes.spines.top": False}
matplotlib.rcParams |= {"axes.spines.right": False}

import matplotlib.pyplot as plt
import matplotlib.ticker

COLOURS = {
    "ours": "#1f5fa8",
    "ours, all moves": "#1f5fa8",
    "ours, no symmetry moves": "#5b92cf",
    "ours, no gradient move": "#9cc1e6",
    "ours, neither": "#d0e2f4",
    "ours, rbf": "#1f5fa8",
    "ours, matern32": "#3a9a78",
    "ours, no times": "#9a9a9a",
    "authors": "#c4622d",
    "authors, β kept": "#e3a27f",
}


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def bars(rows, value, label, path):
    """Bars on a logarithmic scale: a group for each table, a bar for each sampler."""
    tables = list(dict.fromkeys(row["table"] for row in rows))
    samplers = [name for name in COLOURS if any(row["sampler"] == name for row in rows)]
    width = 0.8 / len(samplers)
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    for s, sampler in enumerate(samplers):
        points = [(tables.index(row["table"]) + s * width, value(row)) for row in rows if row["sampler"] == sampler]
        drawn = axes.bar(*zip(*points), width, color=COLOURS[sampler], label=sampler)
        axes.bar_label(drawn, fmt="%.2g", fontsize=7)
    axes.set_yscale("log")
    axes.margins(y=0.15)
    axes.set_ylabel(label)
    places = [t + width * (len(samplers) - 1) / 2 for t in range(len(tables))]
    axes.set_xticks(places, [name.replace(" ", "\n").replace("-b", "\nb") for name in tables])
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def sweep(rows, path):
    bars(rows, lambda row: row["cpu"], "CPU seconds per sweep", path)


def ess(rows, path):
    bars(rows, lambda row: row["ess"] / row["cpu"], "minimum ESS per CPU second", path)


def growth(rows, path):
    """Seconds per sweep along each axis, on one scale, and memory along N and J."""
    names = list(dict.fromkeys(row["axis"] for row in rows))
    figure, panels = plt.subplots(1, len(names) + 1, figsize=(2.2 * (len(names) + 1), 2.8), squeeze=False)
    *panels, memory = panels[0]
    for name, axes in zip(names, panels):
        axes.sharey(panels[0])
        for sampler in ["ours", "authors"]:
            line = sorted((r["size"], r["cpu"]) for r in rows if r["axis"] == name and r["sampler"] == sampler)
            if line:
                axes.loglog(*zip(*line), "o-", ms=3, color=COLOURS[sampler], label=sampler)
        # Every second size, so that their names do not run into each other.
        sizes = sorted({row["size"] for row in rows if row["axis"] == name})[::-2]
        axes.set_xticks(sizes, [str(size) for size in sizes], fontsize=8)
        axes.set_xticks([], minor=True)
        axes.set_xlabel(name)
    panels[0].set_ylabel("CPU seconds per sweep")
    panels[0].legend(frameon=False, fontsize=7)
    for name, mark in [("N", "o"), ("J", "s")]:
        found = sorted((r["least_memory"], r["memory"]) for r in rows if r["axis"] == name and r.get("memory"))
        line = [(least / 2**20, peak / 2**20) for least, peak in found if peak > 0]
        if line:
            memory.loglog(*zip(*line), mark + "-", ms=3, color=COLOURS["ours"], label=f"{name} grows", alpha=0.7)
    span = [row["least_memory"] / 2**20 for row in rows if row.get("memory")]
    memory.loglog([min(span), max(span)], [min(span), max(span)], ":", color="grey", label="equal")
    memory.set_xlabel("data and parameters, MiB")
    memory.set_ylabel("peak memory, MiB")
    memory.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    memory.legend(frameon=False, fontsize=7)
    save(figure, path)


def dynamic(rows, path):
    """Rows with times: seconds per sweep, of initialisation, and memory as N grows, with a line of proportionality."""
    grown = [row for row in rows if "size" in row]
    panels = {
        "CPU seconds per sweep": lambda row: row["cpu"],
        "start, CPU seconds": lambda row: row["start_cpu"],
        "peak memory, MiB": lambda row: row["memory"] / 2**20,
    }
    figure, places = plt.subplots(1, len(panels), figsize=(2.6 * len(panels), 2.8))
    for axes, (label, value) in zip(places, panels.items()):
        for sampler in [name for name in COLOURS if any(row["sampler"] == name for row in grown)]:
            line = sorted((row["size"], value(row)) for row in grown if row["sampler"] == sampler)
            axes.loglog(*zip(*line), "o-", ms=3, color=COLOURS[sampler], label=sampler)
        if grown:
            sizes = [min(row["size"] for row in grown), max(row["size"] for row in grown)]
            top = max(value(row) for row in grown if row["size"] == sizes[1])
            axes.loglog(sizes, [top * size / sizes[1] for size in sizes], ":", color="grey", label="proportional to N")
        axes.set_xlabel("N")
        axes.set_ylabel(label)
    places[0].legend(frameon=False, fontsize=7)
    save(figure, path)
