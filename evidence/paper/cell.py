"""Runs one cell of Table 1 in a separate process, which `table1.py` starts, and ends at the time limit.

    python evidence/paper/cell.py SET METHOD SEED SETTINGS OUT --data DIR [--program FILE] [--peers DIR]

Writes OUT, a file of the positions and of the seconds that the method took, without the time to read the table and, for the quick
methods, to import and compile them.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import labelled
import ours
import program
from methods import METHODS


def fitted(y, method, seed, chosen, args):
    """Positions by our program."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "table.npy", ours.OURS[method][1](y))
        if method in ours.MAPS:
            words = ours.estimate(args.program, folder / "table.npy", method, seed, args.threads, folder / "fit")
        else:
            words = ours.fit(args.program, folder / "table.npy", method, seed, chosen, args.threads, folder / "fit")
        subprocess.run(words, check=True)
        return positions(folder / "fit/embedding.csv")


def positions(path):
    """Posterior means from the program's embedding.csv."""
    return np.array([[float(row["x1"]), float(row["x2"])] for row in labelled.rows_of(path)])


def spent():
    """CPU seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main():
    parser = argparse.ArgumentParser()
    for name in ("set", "method", "seed", "settings", "out"):
        parser.add_argument(name, type=int if name == "seed" else str)
    program.places(parser)
    args = parser.parse_args()
    chosen = json.loads(args.settings)
    y = labelled.load(args.set, args.data, args.seed).y
    if args.peers:
        os.environ["RFLVM_PEERS"] = str(args.peers)
    if args.method in ours.OURS:
        embed = lambda: fitted(y, args.method, args.seed, chosen, args)  # noqa: E731
    else:
        method = METHODS[args.method]
        if not method.dear:
            method.embed(np.random.RandomState(0).poisson(3.0, (60, 8)).astype(float), 2, 0)
        options = {name: chosen[name] for name in method.options}
        embed = lambda: np.asarray(method.embed(y, 2, args.seed, **options), float)  # noqa: E731
    wall, cpu = time.time(), spent()
    x = embed()
    wall, cpu = time.time() - wall, spent() - cpu
    if x.shape != (len(y), 2) or not np.isfinite(x).all():
        raise SystemExit(f"positions of shape {x.shape}, {np.isfinite(x).mean():.0%} of them finite")
    np.savez(args.out, x=x, wall=wall, cpu=cpu)


if __name__ == "__main__":
    main()
