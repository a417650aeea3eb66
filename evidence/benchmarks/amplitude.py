"""Tables about signal strength: what fixed, learned and shared amplitudes do to noise, intervals, hidden cells and speed.

    cargo build --release -p rflvm-benchmarks
    python evidence/benchmarks/amplitude.py noise                      # noise and 90% intervals, simulated, noise 1% to 300% of the signal
    python evidence/benchmarks/amplitude.py heldout --data FOLDER      # log predictive density of hidden cells, counts and yes/no
    python evidence/benchmarks/amplitude.py speed --before OTHER/trace # effective samples per CPU second next to another build

FOLDER holds the public tables as evidence/benchmarks/README.md describes them. Everything is a mean over seeds with its standard error.
"""

import argparse
import csv
import gzip
import io
import itertools
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def call(program, *words):
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def mean_error(values):
    values = np.asarray(values, float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), error


def noise(args):
    print("| noise / signal | N | amplitude | posterior σ / true σ | 50% hold | 90% hold | width / width with σ known | R² of X |")
    print("|---|---|---|---|---|---|---|---|")
    for ratio, rows in itertools.product(args.ratios, args.rows):
        found = defaultdict(list)
        for amplitude, seed in itertools.product([*args.amplitudes, "known"], range(1, args.seeds + 1)):
            words = ["noise", "--rows", rows, "--ratio", ratio, "--seed", seed]
            words += ["--warmup", args.warmup, "--draws", args.draws, "--features", args.features]
            words += ["--known", "--amplitude", "learned"] if amplitude == "known" else ["--amplitude", amplitude]
            fields = call(args.program, *words).strip().split(",")
            found[amplitude].append([float(v) for v in fields[6:]])
        known = np.mean(found["known"], axis=0)
        for amplitude in args.amplitudes:
            (sd, half, most, width, r2, _), error = np.mean(found[amplitude], axis=0), mean_error([f[2] for f in found[amplitude]])[1]
            print(f"| {ratio:g} | {rows} | {amplitude} | {sd:.2f} | {half:.3f} | {most:.3f} ± {error:.3f} | {width / known[3]:.2f} | {r2:.3f} |", flush=True)


def tables(data):
    """Name, table and families. Subsets, so that all of it runs in minutes: every k-th row and column, and none constant."""
    def some(y, rows, columns):
        y = np.asarray(y, float)
        y = y[:: max(1, len(y) // rows)][:rows]
        y = y[:, (y > 0).mean(0) > 0.05]
        return y[:, :: max(1, y.shape[1] // columns)][:, :columns]

    with open(data / "montreal/montreal_2015.csv") as file:
        lines = list(csv.reader(file))
    counts = np.array([[float(v) if v else np.nan for v in line[1:-1]] for line in lines[1:]])
    yield "montreal", counts[:, ~np.isnan(counts).any(0)], ["poisson", "negative-binomial"]
    with open(data / "bridges/bridges.csv") as file:
        lines = list(csv.DictReader(file))
    numbers = [name for name in lines[0] if name.lower() in ("brooklyn", "manhattan", "williamsburg", "queensboro")]
    numbers = numbers or [name for name in lines[0] if all(line[name].replace(".", "").isdigit() for line in lines)]
    yield "bridges", np.array([[float(line[name]) for name in numbers] for line in lines]), ["poisson", "negative-binomial"]
    with gzip.open(next((data / "congress109").glob("congress109.csv.gz")), "rt") as file:
        lines = list(csv.reader(file))
    congress = np.array([[float(v) for v in line[1:]] for line in lines[1:]])
    congress = congress[:, np.argsort(-congress.sum(0))]
    yield "congress", congress[::2, :60], ["poisson", "negative-binomial"]
    def images(path):
        return next(v for v in np.load(path).values() if v.ndim > 1)
    mnist = images(data / "mnist/mnist_t10k.npz").reshape(10000, -1)
    yield "mnist", some(mnist, 250, 80), ["poisson"]
    yield "mnist > 127", some(mnist > 127, 250, 80), ["bernoulli"]
    yale = images(data / "yale/yale_48x64.npz")
    yield "yale", some(yale.reshape(len(yale), -1), 165, 60), ["poisson"]
    for path in sorted((data / "cifar10").glob("*.npz")):
        cifar = images(path)
        yield "cifar", some(cifar.reshape(len(cifar), -1), 250, 60), ["poisson"]
        break
    counts = ["poisson", "negative-binomial"]
    spam = np.load(data / "spam/sms_spam_2000.npz", allow_pickle=True)["Y"]
    yield "spam", some(spam, 300, 60), counts
    yield "spam > 0", some(spam > 0, 300, 60), ["bernoulli"]
    yield "newsgroups", some(np.load(data / "newsgroups/newsgroups_3class.npz", allow_pickle=True)["Y"], 300, 20), counts
    pbmc = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz", allow_pickle=True)
    cells, genes = map(int, pbmc["shape"])
    dense = np.zeros((cells, genes))
    dense[np.repeat(np.arange(cells), np.diff(pbmc["indptr"])), pbmc["indices"]] = pbmc["data"]
    yield "pbmc3k", some(dense, 300, 60), counts
    yield "hippocampus", some(np.load(data / "hippocampus_ref/hip_data.npz")["spikes"], 300, 30), counts
    yield "head direction", some(np.load(data / "head_direction/adn_head_direction_100ms.npz")["spikes"], 300, 19), counts


def heldout(args):
    print("| table | family | " + " | ".join(f"{a} | τ" for a in args.amplitudes) + " | learned − fixed | shared − fixed |")
    print("|---|---|" + "---|---|" * len(args.amplitudes) + "---|---|")

    def row(name, family, words):
        density, strength = {}, {}
        for amplitude in args.amplitudes:
            lines = [
                call(args.program, *words, "--likelihood", family, "--amplitude", amplitude, "--seed", seed, "--warmup", args.warmup,
                     "--draws", args.draws, "--features", args.features, "--hide", 0.1).strip().split(",")
                for seed in range(1, args.seeds + 1)
            ]
            density[amplitude] = np.array([float(line[4]) for line in lines])
            strength[amplitude] = np.mean([float(line[5]) for line in lines])
        cells = " | ".join(f"{density[a].mean():.4f} | {strength[a]:.2f}" for a in args.amplitudes)
        gains = []
        for amplitude in ("learned", "shared"):
            if amplitude in density and "1" in density:
                gain, error = mean_error(density[amplitude] - density["1"])
                gains.append(f"{gain:+.4f} ± {error:.4f}")
            else:
                gains.append("–")
        print(f"| {name} | {family} | {cells} | {' | '.join(gains)} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        if args.data:
            for name, y, families in tables(args.data):
                path = Path(folder) / f"{name.split()[0]}.npy"
                np.save(path, np.ascontiguousarray(y, dtype=np.float64))
                for family in families:
                    row(f"{name} {y.shape[0]}×{y.shape[1]}", family, ["heldout", path])
        for family, signal in itertools.product(["poisson", "negative-binomial", "bernoulli", "zero-inflated-poisson"], [0.3, 1.0, 3.0]):
            level = 0.0 if family == "bernoulli" else 0.5
            row(f"simulated, sd of F {signal:g}", family, ["simulated", "--signal", signal, "--level", level])


def effective(x):
    """Effective sample size of one chain: Geyer's initial monotone sequence."""
    x = np.asarray(x, float) - np.mean(x)
    n = len(x)
    if not x.any():
        return np.nan
    spectrum = np.abs(np.fft.rfft(x, 2 * n)) ** 2
    rho = np.fft.irfft(spectrum)[:n] / np.arange(n, 0, -1)
    rho /= rho[0]
    sums = rho[: n - n % 2].reshape(-1, 2).sum(1)
    sums = np.minimum.accumulate(sums[: np.argmax(sums < 0) if (sums < 0).any() else len(sums)])
    return n / max(2 * sums.sum() - 1, 1 / np.log10(n))


def s_curve(rows, columns, ratio, seed=1):
    """The paper's manifold with Gaussian noise of `ratio` times the signal."""
    rng = np.random.default_rng(seed)
    t = 3 * np.pi * (rng.random(rows) - 0.5)
    x = np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1)])
    x /= x.std(0)
    square = ((x[:, None] - x[None]) ** 2).sum(-1)
    f = np.linalg.cholesky(np.exp(-square / 2) + 1e-8 * np.eye(rows)) @ rng.standard_normal((rows, columns))
    return f + ratio * rng.standard_normal((rows, columns))


def speed(args):
    print("| table | build | CPU ms per sweep | ESS per CPU s: ln-lik | least distance | median distance | ‖W‖² |")
    print("|---|---|---|---|---|---|---|")
    builds = [("before, fixed", args.before, [])] if args.before else []
    for amplitude in args.amplitudes:
        builds.append((f"now, {amplitude}", args.trace, ["--amplitude", amplitude]))
    with tempfile.TemporaryDirectory() as folder:
        for ratio in args.ratios:
            y = s_curve(args.rows[0], 100, ratio)
            np.save(Path(folder) / "y.npy", y)
            rng = np.random.RandomState(0)
            pairs = ",".join("{}:{}".format(*rng.choice(len(y), 2, replace=False)) for _ in range(10))
            found = defaultdict(list)
            # In turn, so that what else runs on the machine troubles all alike.
            for seed, (name, program, flags) in itertools.product(range(1, args.seeds + 1), builds):
                out = call(program, Path(folder) / "y.npy", "--warmup", args.warmup, "--draws", args.draws, "--seed", seed, "--pairs", pairs, *flags)
                lines = list(csv.DictReader(io.StringIO(out)))[args.warmup :]
                cpu = sum(float(line["cpu"]) for line in lines)
                def ess(key):
                    return effective([float(line[key]) for line in lines]) / cpu
                distances = [ess(f"distance{i}") for i in range(10)]
                found[name].append([1e3 * cpu / len(lines), ess("ln_lik"), min(distances), np.median(distances), ess("w2")])
            for name, values in found.items():
                cells = " | ".join(f"{v:.2f}" for v in np.mean(values, axis=0))
                print(f"| S-curve {len(y)}×100, noise {ratio:g} | {name} | {cells} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "heldout", "speed"])
    parser.add_argument("--program", type=Path, default=TARGET / "release/amplitude")
    parser.add_argument("--trace", type=Path, default=TARGET / "release/trace")
    parser.add_argument("--before", type=Path, help="`trace` of another version")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[60, 150, 500])
    parser.add_argument("--ratios", type=float, nargs="+", default=[0.01, 0.1, 1.0, 3.0])
    parser.add_argument("--amplitudes", nargs="+", default=["1", "learned", "shared"])
    args = parser.parse_args()
    {"noise": noise, "heldout": heldout, "speed": speed}[args.what](args)


if __name__ == "__main__":
    main()
