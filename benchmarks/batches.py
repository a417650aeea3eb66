"""Batches: planted effects on a simulation and on PBMC3k, with and without correction, beside other methods.

    python benchmarks/batches.py --data ../shared/data [--only NAME] [--methods NAME ...] [--seeds 1 2 3] [--keep FOLDER]

Needs NumPy, SciPy, scikit-learn and a release build of the program; Harmony (harmonypy) and scVI (scvi-tools) are compared
if they are installed. PBMC3k is not part of the repository, and is skipped, with a message, if it is not found. Positions
are kept in FOLDER, so that a run can be split. Prints a Markdown table.

A seed draws cells, batches, effects and counts, and is that of the fit; figures are means ± standard deviations over seeds.

Every gene has an effect N(0, 0.5²) in every batch, on the log scale. In the simulation, the Poisson rates have it. The counts of
PBMC3k are thinned: with c the exponential of the effect, divided by the largest of the gene's over batches, each molecule is kept with
probability c. Poisson counts stay Poisson counts, and their rates are multiplied by c. The table without batches is thinned to the mean of
c over the cells, and so has as many molecules.

`same batch` is the share of the 15 nearest neighbours that are from the cell's batch. At chance it is the share that the batch has among
cells of the same type: 1/2 for two random batches, more where batches differ in their cell types. `1-NN` is the accuracy of cell types (5 folds).
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


def same_batch(x, batch):
    """Share of the nearest neighbours that are from the row's own batch."""
    distance = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    return (batch[nearest] == batch[:, None]).mean()


def chance(batch, labels):
    """The same for neighbours drawn at random from the rows with the same label."""
    alike = labels[:, None] == labels[None]
    np.fill_diagonal(alike, False)
    same = (batch[:, None] == batch[None]) & alike
    some = alike.any(1)
    return (same.sum(1)[some] / alike.sum(1)[some]).mean()


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


def ours(family, is_corrected):
    def run(y, batch, seed, args):
        with tempfile.TemporaryDirectory() as folder:
            table, out = Path(folder) / "table.csv", Path(folder) / "fit"
            with open(table, "w", newline="") as file:
                lines = csv.writer(file)
                lines.writerow(["batch", *(f"g{j + 1}" for j in range(y.shape[1]))])
                lines.writerows([f"b{b}", *row] for b, row in zip(batch, y))
            how = ["--covariates", "batch"] if is_corrected else ["--without", "batch"]
            command = [args.program, "fit", table, "--likelihood", family, "--offset", "size-factors", "--out", out, "-q", *how]
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
# Name: the method, and the module that it needs.
METHODS = {
    "Poisson": (ours("poisson", False), None),
    "Poisson, covariate": (ours("poisson", True), None),
    "negative binomial": (ours("negative-binomial", False), None),
    "negative binomial, covariate": (ours("negative-binomial", True), None),
    f"{DIM} PCs": (pca, "sklearn"),
    f"Harmony on {DIM} PCs": (harmony(DIM), "harmonypy"),
    "30 PCs": (pca30, "sklearn"),
    "Harmony on 30 PCs": (harmony(30), "harmonypy"),
    # The best of seven settings on the simulation with 2 batches, where the default leaves batches apart.
    "Harmony on 30 PCs, theta 10": (harmony(30, theta=10), "harmonypy"),
    f"scVI, {DIM} axes": (scvi(DIM), "scvi"),
    "scVI, 10 axes": (scvi(10), "scvi"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/rflvm")
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--keep", type=Path, default=ROOT / "target/batches")
    parser.add_argument("--sweeps", type=int, default=150, help="warm-up sweeps, and draws")
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    print("| table | method | batches | same batch | chance | 1-NN | seeds | seconds |\n|---|---|---|---|---|---|---|---|", flush=True)
    for table, (load, batches, is_skewed) in TABLES.items():
        if args.only not in table:
            continue
        try:
            drawn = [load(args.data, batches, is_skewed, seed) for seed in args.seeds]
        except FileNotFoundError as missing:
            print(f"SKIPPED {table}: {missing.filename} was not found", file=sys.stderr)
            continue
        for method in args.methods:
            run, needed = METHODS[method]
            if needed and importlib.util.find_spec(needed) is None:
                print(f"SKIPPED {method}: {needed} is not installed", file=sys.stderr)
                continue
            corrects = "covariate" in method or "Harmony" in method or "scVI" in method
            for kind in ["planted"] if corrects else ["none", "planted"]:
                found = []
                for seed, (plain, planted, batch, labels) in zip(args.seeds, drawn):
                    file = args.keep / f"{table} {method} {kind} {seed}.npz".replace(", ", "-").replace(" ", "-")
                    if not file.exists():
                        begun = time.time()
                        x = run(planted if kind == "planted" else plain, batch, seed, args)
                        np.savez(file, x=x, seconds=time.time() - begun)
                    with np.load(file) as kept:
                        x, seconds = kept["x"], float(kept["seconds"])
                    found.append((same_batch(x, batch), chance(batch, labels), nearest_neighbour(x, labels)[0], seconds))
                share, by_chance, accuracy, seconds = np.mean(found, axis=0)
                spread = np.std(found, axis=0)
                line = [table, method, kind, f"{share:.3f} ± {spread[0]:.3f}", f"{by_chance:.3f}", f"{accuracy:.3f} ± {spread[2]:.3f}"]
                print("| " + " | ".join([*line, str(len(found)), f"{seconds:.0f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
