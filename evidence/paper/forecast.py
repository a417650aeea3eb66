"""Forecasts of the last tenth of the rows of a table from the rows before, by rflvm and by naive and linear methods.

    python evidence/paper/forecast.py [--sets lorenz cmu forex] [--methods last mean trend ar1 ldm matern32 rbf]

Not in the paper. There is one forecast origin per table, so a difference between methods is a single sample: the mean squared
error is reported for the first row, the first ten rows and all rows. CMU and forex are standardised by the fitted rows alone; an
error of 1 is then about that of the column mean, and more if the held-out rows leave the range of the fitted
rows. Rows are written to OUT/forecast.json and are not run again.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import datasets
import ldm
import program
from rows import Rows
from scores import print_table, scores

# The dynamic model by its kernel over time.
DYNAMIC = ["matern32", "rbf"]
METHODS = ["last", "mean", "trend", "ar1", "ldm", *DYNAMIC]
SETS = ["lorenz", "cmu", "forex"]


def last(y, steps):
    """The last value again."""
    return np.repeat(y[-1:], steps, axis=0)


def column_mean(y, steps):
    """The mean of each column."""
    return np.repeat(y.mean(0, keepdims=True), steps, axis=0)


def trend(y, steps):
    """The straight line through each column."""
    time = np.arange(len(y) + steps)
    slope, level = np.polyfit(time[: len(y)], y, 1)
    return level + np.outer(time[len(y) :], slope)


def ar1(y, steps):
    """y_t = a + b y_{t−1} + noise for each column, by least squares."""
    before, after = y[:-1], y[1:]
    slope = ((before - before.mean(0)) * (after - after.mean(0))).sum(0) / ((before - before.mean(0)) ** 2).sum(0)
    level = after.mean(0) - slope * before.mean(0)
    rows = [y[-1]]
    for _ in range(steps):
        rows.append(level + slope * rows[-1])
    return np.array(rows[1:])


def predict(method, name, y, time, dim, steps, args):
    """Tables of the next rows, by one method."""
    if method == "ldm":
        mean, sd = ldm.forecast(y, dim, steps)
        return {"mean": mean, "sd": sd}
    if method not in DYNAMIC:
        return {"mean": {"last": last, "mean": column_mean, "trend": trend, "ar1": ar1}[method](y, steps)}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program.fit(folder, y, dim, 1, args, time=time, kernel=method)
        return program.forecast(folder, (steps, y.shape[1]), args)


def run(name, data, rows, args):
    """All requested methods, on one table."""
    steps = len(data.y) // 10
    fitted = data.y[:-steps]
    centre, scale = (fitted.mean(0), fitted.std(0)) if data.real else (0, 1)
    y = (data.y - centre) / scale
    truth = y[-steps:]
    for method in args.methods:
        chosen = program.settings(args, method) if method in DYNAMIC else {}

        def work():
            tables = predict(method, name, y[:-steps], data.time[:-steps], data.dim, steps, args)
            result = scores(truth, tables, np.full(truth.shape, True))
            error = ((truth - tables["mean"]) ** 2).mean(1)
            return result | {"mse1": float(error[0]), "mse10": float(error[:10].mean()), "rows": steps}

        rows.run([name, method], chosen, work, args.again)


def report(rows):
    """Prints the existing rows."""
    lines = []
    for name in SETS:
        for method in METHODS:
            if row := rows.find([name, method]):
                inside = [f"{row[key]:.3f}" if key in row else "" for key in ("inside50", "inside90")]
                errors = [f"{row[key]:.4f}" for key in ("mse1", "mse10", "mse")]
                lines.append([f"{name}, {row['rows']} rows", method, *errors, *inside])
    print("\nMean squared error of forecasts, and share of cells inside their central intervals.\n")
    print_table(["set", "method", "first row", "first 10", "all", "50%", "90%"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program.arguments(parser)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    args = parser.parse_args()
    rows = Rows(args.out / "forecast.json")
    for name in args.sets:
        try:
            data = datasets.SETS[name](args.data)
        except FileNotFoundError as missing:
            print(f"SKIPPED {name}: {missing.filename} was not found", file=sys.stderr)
            continue
        run(name, data, rows, args)
    report(rows)


if __name__ == "__main__":
    main()
