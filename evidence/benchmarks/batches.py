"""Batches: planted effects on a simulation and on PBMC3k, with and without correction, compared with other methods.

    python evidence/benchmarks/batches.py --data ../shared/data [--only NAME] [--methods NAME ...] [--seeds 1 2 3] [--keep FOLDER]

Needs NumPy, SciPy, scikit-learn and a release build of the program; Harmony (harmonypy) and scVI (scvi-tools) are compared
if they are installed. PBMC3k is not part of the repository, and is skipped, with a message, if it is not found. With --keep,
positions are kept in FOLDER, so that a run with the same settings can be split. Prints a Markdown table.

A seed draws cells, batches, effects and counts, and is that of the fit; figures are means ± standard errors over seeds.

Every gene has an effect N(0, 0.5²) in every batch, on the log scale. In the simulation, the Poisson rates have it. The counts of
PBMC3k are thinned: with c the exponential of the effect, divided by the largest of the gene's over batches, each molecule is kept with
probability c. Poisson counts stay Poisson counts, and their rates are multiplied by c. The table without effects is thinned to the mean of
c over the cells, and so has as many molecules.

`same batch` is the share of the 15 nearest neighbours that are from the cell's batch. `above chance` is its difference from the
share that would be expected if batches were assigned at random among the cells of each type. `1-NN` is the accuracy of cell types (5 folds), and
`gained` its difference from the same method without effects; for methods that correct, from the method that they correct.
"""

import argparse
import csv
import importlib.util
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from accuracy import ROOT, nearest_neighbour

NEIGHBOURS = 15
EFFECT = 0.5
CELLS, GENES = 800, 200
DIM = 2


def neighbours(x):
    """The nearest neighbours of each row."""
    distance = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    return np.argpartition(distance, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def same_batch(nearest, batch):
    """Share of the neighbours that are from the row's own batch."""
    return (batch[nearest] == batch[:, None]).mean()


def chance(nearest, batch, labels):
    """The share to expect if batches are assigned at random among the rows with the same label."""
    counts = np.zeros((labels.max() + 1, batch.max() + 1))
    np.add.at(counts, (labels, batch), 1)
    # The row itself is not among its neighbours.
    itself = labels[nearest] == labels[:, None]
    of_batch = counts[labels[nearest], batch[:, None]] - itself
    return (of_batch / (counts.sum(1)[labels[nearest]] - itself)).mean()


def split(rng, labels, batches, is_skewed):
    """The batch of each row: at random, or each label with its own proportions."""
    if not is_skewed:
        return rng.permutation(np.arange(len(labels)) % batches)
    share = np.where(np.arange(labels.max() + 1) % 2, 0.2, 0.8)
    return (rng.random(len(labels)) < share[labels]).astype(int)


def simulation(data, batches, is_skewed, seed):
    """Five groups of rows in a plane, each column a smooth function of the position; with effects and without, batches and groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(500) % 5
    angle = 2 * np.pi * labels / 5
    x = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.2, (500, 2))
    w = rng.normal(0, 1.5, (2, 100))
    f = 1 + 0.7 * np.sin(x @ w + rng.uniform(0, 2 * np.pi, 100))
    batch = split(rng, labels, batches, is_skewed)
    effect = rng.normal(0, EFFECT, (batches, 100))
    return rng.poisson(np.exp(f)), rng.poisson(np.exp(f + effect[batch])), batch, labels


def pbmc(data, batches, is_skewed, seed):
    """Cells and variable genes of PBMC3k."""
    from scipy.sparse import csr_matrix

    z = np.load(data / "pbmc3k/pbmc3k_2000hvg.npz", allow_pickle=True)
    rng = np.random.default_rng(seed)
    y = csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])).toarray().astype(int)
    cells = np.sort(rng.choice(len(y), CELLS, replace=False))
    y, total, labels = y[cells], z["total_counts"][cells], np.asarray(z["labels"])[cells].astype(int)
    variance = np.log1p(1e4 * y / total[:, None]).var(0)
    y = y[:, np.sort(np.argsort(-variance)[:GENES])]
    batch = split(rng, labels, batches, is_skewed)
    effect = rng.normal(0, EFFECT, (batches, GENES))
    share = np.exp(effect - effect.max(0))[batch]
    return rng.binomial(y, share.mean(0)), rng.binomial(y, share), batch, labels


def log_counts(y):
    """ln(1 + counts), each row scaled to the mean total."""
    total = np.maximum(y.sum(1, keepdims=True), 1)
    return np.log1p(y * total.mean() / total)


def principal(y, dim):
    from sklearn.decomposition import PCA

    return PCA(dim, random_state=0).fit_transform(log_counts(y))


def pca(y, batch, seed, args):
    return principal(y, DIM)


def pca30(y, batch, seed, args):
    return principal(y, 30)


def harmony(dim, **settings):
    def run(y, batch, seed, args):
        import harmonypy
        import pandas as pd

        logging.disable(logging.INFO)
        meta = pd.DataFrame({"batch": [f"b{b}" for b in batch]})
        z = harmonypy.run_harmony(principal(y, dim), meta, ["batch"], random_state=seed, **settings).Z_corr
        return z if len(z) == len(y) else z.T

    return run


def scvi(dim):
    def run(y, batch, seed, args):
        import anndata
        import scvi as tools

        tools.settings.seed = seed
        table = anndata.AnnData(y.astype(np.float32), obs={"batch": [f"b{b}" for b in batch]})
        tools.model.SCVI.setup_anndata(table, batch_key="batch")
        model = tools.model.SCVI(table, n_latent=dim)
        model.train(accelerator="cpu", enable_progress_bar=False)
        return model.get_latent_representation()

    return run


def ours(is_corrected):
    def run(y, batch, seed, args):
        with tempfile.TemporaryDirectory() as folder:
            table, out = Path(folder) / "table.csv", Path(folder) / "fit"
            with open(table, "w", newline="") as file:
                lines = csv.writer(file)
                lines.writerow(["batch", *(f"g{j + 1}" for j in range(y.shape[1]))])
                lines.writerows([f"b{b}", *row] for b, row in zip(batch, y))
            how = ["--covariates", "batch"] if is_corrected else ["--without", "batch"]
            command = [args.program, "fit", table, "--likelihood", "poisson", "--offset", "size-factors", "--out", out, "-q", *how]
            command += ["--latent-dim", DIM, "--seed", seed, "--warmup", args.sweeps, "--draws", args.sweeps]
            command += ["--features", args.features, "--chains", args.chains, "--threads", args.threads]
            subprocess.run([str(word) for word in command], check=True)
            with open(out / "embedding.csv") as file:
                return np.array([[float(row[f"x{d + 1}"]) for d in range(DIM)] for row in csv.DictReader(file)])

    return run


TABLES = {
    "simulation, 2 batches": (simulation, 2, False),
    "simulation, 3 batches": (simulation, 3, False),
    "simulation, unequal": (simulation, 2, True),
    "PBMC3k, 2 batches": (pbmc, 2, False),
    "PBMC3k, 3 batches": (pbmc, 3, False),
    "PBMC3k, unequal": (pbmc, 2, True),
}
# Name: the method, the module that it needs, and the method that it corrects.
METHODS = {
    "Poisson": (ours(False), None, None),
    "Poisson, covariate": (ours(True), None, "Poisson"),
    f"{DIM} PCs": (pca, "sklearn", None),
    f"Harmony on {DIM} PCs": (harmony(DIM), "harmonypy", f"{DIM} PCs"),
    "30 PCs": (pca30, "sklearn", None),
    "Harmony on 30 PCs": (harmony(30), "harmonypy", "30 PCs"),
    # The best of seven settings on the simulation with 2 batches, where the default (theta 2) leaves batches apart.
    "Harmony on 30 PCs, theta 10": (harmony(30, theta=10), "harmonypy", "30 PCs"),
    f"scVI, {DIM} axes": (scvi(DIM), "scvi", None),
    "scVI, 10 axes": (scvi(10), "scvi", None),
}
HEADER = ["table", "method", "effects", "same batch", "above chance", "1-NN", "gained", "seeds", "seconds"]


def positions(file, run, *arguments):
    """Positions and seconds of a method, from the file if it is kept there."""
    if file and file.exists():
        with np.load(file) as kept:
            return kept["x"], float(kept["seconds"])
    begun = time.time()
    x = run(*arguments)
    seconds = time.time() - begun
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, x=x, seconds=seconds)
    return x, seconds


def shown(values):
    """Mean ± standard error."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/rflvm")
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sweeps", type=int, default=150, help="warm-up sweeps, and draws")
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|", flush=True)
    for table, (load, batches, is_skewed) in TABLES.items():
        if args.only not in table:
            continue
        try:
            drawn = [load(args.data, batches, is_skewed, seed) for seed in args.seeds]
        except FileNotFoundError as missing:
            print(f"SKIPPED {table}: {missing.filename} was not found", file=sys.stderr)
            continue
        unsplit = {}
        for method in args.methods:
            run, needed, corrected = METHODS[method]
            if needed and importlib.util.find_spec(needed) is None:
                print(f"SKIPPED {method}: {needed} is not installed", file=sys.stderr)
                continue
            corrects = corrected or "scVI" in method
            for effects in ["planted"] if corrects else ["none", "planted"]:
                found = []
                for seed, (plain, planted, batch, labels) in zip(args.seeds, drawn):
                    name = f"{table} {method} {effects} {seed}.npz".replace(", ", "-").replace(" ", "-")
                    y = planted if effects == "planted" else plain
                    x, seconds = positions(args.keep and args.keep / name, run, y, batch, seed, args)
                    nearest = neighbours(x)
                    share = same_batch(nearest, batch)
                    found.append((share, share - chance(nearest, batch, labels), nearest_neighbour(x, labels)[0], seconds))
                share, above, accuracy, seconds = np.array(found).T
                if effects == "none":
                    unsplit[method] = accuracy
                known = unsplit.get(corrected or method)
                gained = "" if effects == "none" or known is None else shown(accuracy - known)
                line = [table, method, effects, shown(share), shown(above), shown(accuracy), gained, len(found), f"{seconds.mean():.0f}"]
                print("| " + " | ".join(map(str, line)) + " |", flush=True)


if __name__ == "__main__":
    main()
