"""Measure rflvm side by side with other programs, prints tables and assembles evidence/benchmarks/RESULTS.md and its plots.

    python evidence/benchmarks/run.py [--only SECTION …] [--tables NAME …] [--quick] [--keep] [--authors PATH] [--data PATH]
                             [--out DIR] [--authors-sweeps-scale 1.0]

    sweep     CPU and wall seconds per sweep, one thread, compared with the authors' code
    full      the same for our sweep with every frequency and column redrawn one by one as well
    ess       minimum effective samples per CPU second over quantities that no rotation of X changes
    threads   one and two threads
    kernels   parts of a sweep: criterion's times, the weighted Gram matrix against plain products, Pólya-gamma draws
    growth    seconds per sweep and peak memory as N, J, M and D grow
    dynamic   rows with times: a sweep compared with the authors' dynamic code, and growth with N (--tables S-curve, growth)
    peers     other methods: seconds and R² of the positions
    pbmc      single-cell counts, negative binomial with size factors

A section's rows go to OUT/SECTION.json (evidence/benchmarks/results by default) one by one, as they are measured; its tables are
printed when it is done. At the end, everything in OUT becomes RESULTS.md and plots, in evidence/benchmarks (with --quick
in OUT, then evidence/benchmarks/results/quick by default). So a long run can be done in parts:

    python evidence/benchmarks/run.py --only sweep full
    python evidence/benchmarks/run.py --only ess --tables gaussian
    python evidence/benchmarks/run.py --only ess --tables poisson --keep --authors PATH

A section starts afresh unless --keep is given, which keeps the rows that are not measured again. `--only` with no name
measures nothing and assembles the existing rows.

PATH of --authors is a checkout of the authors' code, see authors.py; without it their columns stay empty. Data sets
that are not found are skipped, with a message. Needs a release build of rflvm-benchmarks and rflvm-cli (in CARGO_TARGET_DIR if
that is set) and the packages of evidence/benchmarks/requirements.txt; `make bench` provides both. Measure on an idle machine:
other jobs affect CPU seconds less than wall seconds, but they do affect them.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

# One thread for what is measured in this process, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np

import accuracy
import plots
import report
import sections
from samplers import HERE, ROOT, TARGET, skipped
from sections import CONGRESS

# The fields that identify a row of a section.
KEY = ["table", "sampler", "threads", "axis", "size", "name"]


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
        """Keeps a row, replacing an earlier row with the same key, and saves all rows."""
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
        """The path of the table that `load` reads; None if it is not requested or not found."""
        if not self.wanted(name):
            return None
        try:
            return self.table(name, load(self.args.data))
        except FileNotFoundError as missing:
            skipped(name, f"{missing.filename} was not found")
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
    changed = version("git", "-C", str(ROOT), "status", "--porcelain", "--", "crates", "evidence/benchmarks/src")
    commit = version("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    return {
        "cpu": f"{first.get('model name', platform.processor())}, {os.cpu_count()} cores, {lanes}",
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "commit": commit + (" and changes" if changed not in ["", "unknown"] else ""),
        "versions": {"rustc": version("rustc", "--version").removeprefix("rustc ").split(" (")[0]}
        | {"Python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in packages},
    }


# Name, heading, measuring, writing, picture; in the order of the report.
SECTIONS = {
    "sweep": ("Seconds per sweep", sections.sweep, report.write_sweep, plots.sweep),
    "full": ("Seconds per full sweep", sections.full, report.write_full, None),
    "ess": ("Effective samples per second", sections.ess, report.write_ess, plots.ess),
    "threads": ("Threads", sections.threads, report.write_threads, None),
    "kernels": ("Kernels", sections.kernels, report.write_kernels, None),
    "growth": ("Growth with N, J, M and D, and memory", sections.growth, report.write_growth, plots.growth),
    "dynamic": ("Rows with times", sections.dynamic, report.write_dynamic, plots.dynamic),
    "peers": ("Other methods", sections.peers, report.write_peers, None),
    "pbmc": ("PBMC3k", sections.pbmc, report.write_pbmc, None),
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
    rows = rows_by_section(args.out)
    dates = sorted({row["date"] for section in rows.values() for row in section})
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
        commits = ", ".join(sorted({row["commit"] for row in rows[name]}))
        load = found[name]["machine"]["load"]
        text += f"\n## {heading}\n\n{write(rows)}\nCommit {commits}; load average at the start {load}.\n"
        if draw:
            (folder / "plots").mkdir(parents=True, exist_ok=True)
            draw(rows[name], folder / "plots" / f"{name}.svg")
            text += f"\n![{heading}](plots/{name}.svg)\n"
    if not args.quick and (HERE / "beside.md").exists():
        text += "\n" + (HERE / "beside.md").read_text()
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
            parser.error(f"--authors: {args.authors} has no folder 'models', so it is not a checkout of the authors' code")
    for program in ["trace", "rflvm"]:
        if args.only and not (TARGET / "release" / program).exists():
            remedy = "cargo build --release --package rflvm-benchmarks --package rflvm-cli"
            parser.error(f"{TARGET / 'release' / program} was not found: {remedy}")
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
