"""Runs the peers on the tables of FOLDER, each in its own process with a limit of CPU time, one thread.

    python evidence/benchmarks/imputation/run.py FOLDER [--tables cmu] [--masks run20] [--seeds 1] [--methods ppca ldm]

Rows are appended to FOLDER/peers.jsonl as they finish and are not run again, so a long run can be done in parts. A method
that fails or takes too long has a row with its message; --again-failed repeats those. The GPLVM is slow, and runs on
random masks with seed 1 only.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from peers import METHODS
from prepare import chosen, masks_of


def rows(folder):
    """Rows of FOLDER/peers.jsonl by table, mask, seed and method; the last one counts."""
    path = folder / "peers.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {(row["table"], row["mask"], row["seed"], row["method"]): row for row in found}


def one(folder, case, method, limit):
    """The scores of one method on one table, or why there are none."""
    command = [sys.executable, str(Path(__file__).with_name("peers.py")), str(folder), case, method]

    # CPU time, so that what a method achieves does not depend on how busy the machine is.
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, preexec_fn=bound)
    if done.returncode == -signal.SIGXCPU:
        return {"failed": f"no result within {limit} CPU seconds"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def wanted(about, args):
    """Table, mask, seed and method of each run. Seeds come first, so that a run that is stopped has all tables."""
    for seed in args.seeds:
        for table in args.tables or about:
            for mask in masks_of(table):
                for name in args.methods:
                    skip = METHODS[name].timed and not about[table]["timed"]
                    skip |= name == "gplvm" and (mask, seed) != ("random", 1)
                    if not skip and mask in (args.masks or [mask]):
                        yield table, mask, seed, name


def main():
    parser = chosen(__doc__)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds for one method on one table [default: 600]")
    parser.add_argument("--again-failed", action="store_true", help="run methods again that failed")
    args = parser.parse_args()
    about = json.loads((args.folder / "about.json").read_text())
    for key in wanted(about, args):
        # Read each time: another process may run other tables.
        old = rows(args.folder).get(key)
        if old and not ("failed" in old and args.again_failed):
            continue
        table, mask, seed, method = key
        found = one(args.folder, f"{table}-{mask}-{seed}", method, args.limit)
        row = {"table": table, "mask": mask, "seed": seed, "method": method} | found
        with open(args.folder / "peers.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{table}-{mask}-{seed} {method}: " + (found.get("failed") or f"MSE {found['mse']:.4f}, {found['seconds']:.0f} s"), flush=True)


if __name__ == "__main__":
    main()
