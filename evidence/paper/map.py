"""MAP estimates: `rflvm fit --method map` compared with other point estimates, and the effect of the number of features.

    python evidence/paper/map.py families [--families gaussian poisson …] [--authors PATH] [--seconds 60] [--gplvm]
    python evidence/paper/map.py features [--features 10 20 50 100 200 500] [--trials 3] [--figure FILE.png]
    python evidence/paper/map.py starts [--warmup 100] [--draws 100]

`families`: affine R² of the positions, CPU and wall seconds on the S-curve of each family, M = 100, one thread. PATH is a
checkout of github.com/michaelzhang01/bayesian-rflvm (see evidence/benchmarks/authors.py); its own point estimate takes five steps
of L-BFGS-B on X and five on β by automatic differentiation in each sweep (`optimize=True`), with everything else
sampled, and runs for --seconds CPU seconds. --gplvm adds GPy's Bayesian GPLVM on the Gaussian table.

`features`: the paper's Gaussian experiment. A fifth of the cells is hidden; mean squared error of the hidden cells and of F,
and how far ΦΦᵀ is from the true kernel matrix exp(−|x − x'|²/2), as the number of features M grows. Trial 0 hides the
cells of the mask that comes with the table.

`starts`: R² of chains initialised at principal components and at the MAP estimate.

Data are looked for in ../shared/data (--data PATH). Needs the packages of evidence/benchmarks/requirements.txt.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# One thread, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np

import program

sys.path.insert(0, str(program.ROOT / "evidence/benchmarks"))
from accuracy import affine_r2, s_curve

FAMILIES = ["gaussian", "poisson", "negative-binomial", "bernoulli", "multinomial"]


def columns(path, prefix):
    """The columns prefix1, prefix2, … of a CSV."""
    rows = list(csv.DictReader(open(path)))
    count = sum(name[len(prefix):].isdigit() and name.startswith(prefix) for name in rows[0])
    return np.array([[float(row[f"{prefix}{d + 1}"]) for d in range(count)] for row in rows])


def run_program(args, folder, y, family, flags):
    """Fits a table; CPU and wall seconds."""
    program.write_table(folder / "table.csv", y)
    words = [args.program, "fit", folder / "table.csv", "--likelihood", family, "--out", folder / "out", "-q"]
    words += ["--threads", 1, *flags]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.time()
    subprocess.run([str(word) for word in words], check=True)
    wall, now = time.time() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime, wall


def ours(args, family, seed):
    """R², CPU and wall seconds, and whether it converged."""
    z = s_curve(args.data, family)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        cpu, wall = run_program(args, folder, z["Y"].astype(float), family, ["--method", "map", "--seed", seed])
        about = json.loads((folder / "out/map.json").read_text())
        return affine_r2(columns(folder / "out/embedding.csv", "x"), z["X"]), cpu, wall, about


def authors(args, family):
    """R² of the authors' own point estimate after a given number of CPU seconds, with the number of sweeps."""
    import authors as their

    models = their.load_models(args.authors.resolve())
    their.repair(models)
    np.random.seed(1)
    z = s_curve(args.data, family)
    begun, wall = time.process_time(), time.time()
    model = getattr(models, their.CLASSES[family])(
        rng=np.random.RandomState(1), data=z["Y"], n_burn=10**6, n_iters=10**6 + 1, latent_dim=2, n_clusters=20, n_rffs=100,
        dp_prior_obs=2, dp_df=3, optimize=True, **({"marginalize": True} if family == "gaussian" else {}),
    )
    their.repair_model(model, family, 1)
    sweeps = 0
    while time.process_time() - begun < args.seconds:
        model.step()
        sweeps += 1
    return affine_r2(np.asarray(model.X), z["X"]), time.process_time() - begun, time.time() - wall, sweeps


def gplvm(args):
    """GPy's Bayesian GPLVM on the Gaussian table, 200 iterations."""
    import GPy

    z = s_curve(args.data, "gaussian")
    np.random.seed(0)
    begun, wall = time.process_time(), time.time()
    model = GPy.models.BayesianGPLVM(z["Y"] - z["Y"].mean(0), 2, num_inducing=30)
    model.optimize(max_iters=200)
    return affine_r2(np.asarray(model.X.mean), z["X"]), time.process_time() - begun, time.time() - wall


def families(args):
    """The table of point estimates."""
    print("| family | by | R² | CPU seconds | wall seconds | |")
    print("|---|---|---|---|---|---|")
    line = "| {} | {} | {:.4f} | {:.1f} | {:.1f} | {} |"
    for family in args.families:
        for seed in args.seeds:
            r2, cpu, wall, about = ours(args, family, seed)
            note = f"{about['iterations']} iterations" + ("" if about["converged"] else ", not converged")
            print(line.format(family, f"rflvm, seed {seed}", r2, cpu, wall, note), flush=True)
        if args.authors:
            try:
                r2, cpu, wall, sweeps = authors(args, family)
                print(line.format(family, "the authors' L-BFGS steps", r2, cpu, wall, f"{sweeps} sweeps"), flush=True)
            except Exception as error:  # Their code stops in many ways; the row says how.
                print(f"| {family} | the authors' L-BFGS steps | – | – | – | stops: {str(error)[:80]} |", flush=True)
        if args.gplvm and family == "gaussian":
            print(line.format(family, "GPy Bayesian GPLVM", *gplvm(args), "200 iterations"), flush=True)


def kernel(x, w):
    """ΦΦᵀ."""
    turned = x @ w.T
    phi = np.hstack([np.sin(turned), np.cos(turned)]) / np.sqrt(len(w))
    return phi @ phi.T


def one_size(args, z, hidden, count, seed):
    """Errors of one fit with a given number of features, and its kernel matrix."""
    y, truth = z["Y"].astype(float), z["X"]
    true_kernel = np.exp(-((truth[:, None] - truth[None]) ** 2).sum(-1) / 2)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        cpu, _ = run_program(
            args, folder, np.where(hidden, np.nan, y), "gaussian", ["--method", "map", "--seed", seed, "--features", count]
        )
        out = folder / "out"
        cells = [(int(r["row"]) - 1, int(r["column"][1:]), float(r["mean"])) for r in csv.DictReader(open(out / "imputed.csv"))]
        x, found = columns(out / "embedding.csv", "x"), None
        found = kernel(x, columns(out / "frequencies.csv", "w"))
    at = tuple(np.array(cells)[:, :2].astype(int).T)
    mean = np.array(cells)[:, 2]
    off = ~np.eye(len(found), dtype=bool)
    return {
        "mse": np.mean((y[at] - mean) ** 2),
        "mse_f": np.mean((z["F"][at] - mean) ** 2),
        "r2": affine_r2(x, truth),
        "kernel_error": np.linalg.norm(found - true_kernel) / np.linalg.norm(true_kernel),
        "kernel_correlation": np.corrcoef(found[off], true_kernel[off])[0, 1],
        "cpu": cpu,
    }, found, true_kernel


def features(args):
    """The table over M, and the figure."""
    z = s_curve(args.data, "gaussian")
    print("| M | MSE of hidden cells | MSE of F there | R² | relative error of K̂ | correlation of K̂ | CPU seconds |")
    print("|---|---|---|---|---|---|---|")
    kernels, errors = {}, {}
    for count in args.features:
        rows = []
        for trial in range(args.trials):
            hidden = z["mask"] if trial == 0 else np.random.default_rng(trial).random(z["Y"].shape) < 0.2
            row, found, true_kernel = one_size(args, z, hidden, count, trial + 1)
            rows.append(row)
            kernels.setdefault(count, found)
        of = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        errors[count] = of["mse"]
        spread = f"{of['mse'].mean():.4f} ± {of['mse'].std(ddof=1):.4f}" if args.trials > 1 else f"{of['mse'][0]:.4f}"
        words = [f"{of[name].mean():.4f}" for name in ["mse_f", "r2"]]
        words += [f"{of[name].mean():.3f}" for name in ["kernel_error", "kernel_correlation"]]
        print(f"| {count} | {spread} | {' | '.join(words)} | {of['cpu'].mean():.1f} |", flush=True)
    if args.figure:
        draw(args.figure, z["t"], errors, kernels, true_kernel)


def draw(path, t, errors, kernels, true_kernel):
    """Errors over M, and the kernel matrices with rows in the order of the S."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    order = np.argsort(t)
    figure, axes = plt.subplots(1, len(kernels) + 2, figsize=(2.4 * (len(kernels) + 2) + 1, 2.7), layout="constrained")
    sizes = list(errors)
    axes[0].errorbar(sizes, [e.mean() for e in errors.values()], [e.std() for e in errors.values()], marker="o")
    axes[0].axhline(0.2474, color="grey", linestyle="--", label="noise")
    axes[0].set(xscale="log", xlabel="features M", title="MSE of hidden cells")
    axes[0].legend()
    for axis, (name, matrix) in zip(axes[1:], [("true K", true_kernel), *((f"M = {m}", k) for m, k in kernels.items())]):
        axis.imshow(matrix[np.ix_(order, order)], vmin=-0.5, vmax=1, cmap="RdBu_r")
        axis.set(xticks=[], yticks=[], title=name)
    figure.savefig(path, dpi=80)


def starts(args):
    """R² after a short run from either start."""
    print("| family | start | R² | CPU seconds | log joint, mean of the draws |")
    print("|---|---|---|---|---|")
    for family in args.families:
        z = s_curve(args.data, family)
        for start in ["pca", "map"]:
            for seed in args.seeds:
                with tempfile.TemporaryDirectory() as folder:
                    folder = Path(folder)
                    flags = ["--start", start, "--seed", seed, "--warmup", args.warmup, "--draws", args.draws]
                    flags += ["--chains", args.chains]
                    cpu, _ = run_program(args, folder, z["Y"].astype(float), family, flags)
                    r2 = affine_r2(columns(folder / "out/embedding.csv", "x"), z["X"])
                    asked = [str(args.program), "summary", str(folder / "out"), "--json"]
                    summary = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
                    joints = ", ".join(f"{chain['log_joint']:.0f}" for chain in summary["chains"])
                    print(f"| {family} | {start}, seed {seed} | {r2:.4f} | {cpu:.0f} | {joints} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["families", "features", "starts"])
    program.arguments(parser)
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1])
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gplvm", action="store_true")
    parser.add_argument("--features", nargs="+", type=int, default=[10, 20, 50, 100, 200, 500])
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--figure", type=Path)
    chosen = parser.parse_args()
    {"families": families, "features": features, "starts": starts}[chosen.what](chosen)
