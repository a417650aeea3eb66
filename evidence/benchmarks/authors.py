"""Runs the sampler of the model's authors on a table, timing every sweep and recording the quantities by which samplers are compared.

    python evidence/benchmarks/authors.py --authors PATH --table TABLE.npy --family FAMILY --out TRACE.npz
                                 [--features 100] [--latent-dim 2] [--clusters 20] [--sweeps 20] [--warmup 10]
                                 [--seed 0] [--gaussian-kept] [--dynamic TIMES.npy] [--seconds 500]

PATH is a checkout of github.com/michaelzhang01/bayesian-rflvm (commit 0b1fb6d), which is not part of this repository.
FAMILY is gaussian, poisson, negative-binomial, bernoulli or multinomial; TABLE.npy is a complete matrix. The model is
the static one with the authors' own settings: PCA start, Metropolis steps on W, elliptical slices on X, no MAP steps.
`gaussian` is their Gaussian model with β and σ² integrated out; with --gaussian-kept it is the one that samples them.
With --dynamic it is their dynamic model (RBF kernel over time, and as many inducing points as frequencies), with the
times of the rows in TIMES.npy; not for bernoulli, whose module cannot be imported.
Their code is repaired where it does not run (see `repair`); its algorithm is left as it is.

`--warmup` sweeps are run first, then `--sweeps` sweeps are recorded; with --seconds fewer, if the whole run would take
longer than that. TRACE.npz holds

    cpu, wall                 seconds of each recorded sweep, one thread            (sweeps,)
    warmup_cpu, warmup_wall   the same for the warm-up                              (warmup,)
    log_likelihood            ln p(Y | F, θ), normalised, by invariants.py          (sweeps, 1)
    distances                 |x_a - x_b| for the ten pairs of invariants.pairs     (sweeps, 10)
    f                         F for the ten cells of invariants.cells               (sweeps, 10)
    w_norm2, alpha, clusters  ‖W‖², concentration, number of clusters               (sweeps, 1) each
    pairs, cells              the rows and cells that are traced                     (10, 2) each
    x_mean, w_acceptance      mean of X over the recorded sweeps; accepted share of the W proposals, with warm-up

The collapsed Gaussian keeps neither β nor σ². There `f` and `log_likelihood` come from one exact draw of (σ², β) given
X, W and Y after each sweep, under the authors' prior (no intercept, σ² ~ IG(1, 1)), and the trace also holds

    f_mean                    mean of F given X, W and Y for the same cells         (sweeps, 10)
    log_marginal              ln p(Y | X, W), normalised                            (sweeps, 1)

The fresh draw makes `f` look less correlated than the chain is; `f_mean` shows the chain alone. Nothing of the
recording is timed, and it takes no random number from the sampler.

Needs the packages of evidence/benchmarks/requirements.txt.
"""

import argparse
import importlib
import os
import sys
import time
import types
import warnings
from pathlib import Path

# One thread, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np
from polyagamma import random_polyagamma
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import gammaln

from invariants import cells, log_likelihood, pairs

CLASSES = {
    "gaussian": "GaussianRFLVM",
    "poisson": "PoissonRFLVM",
    "negative-binomial": "NegativeBinomialRFLVM",
    "bernoulli": "BernoulliRFLVM",
    "multinomial": "MultinomialRFLVM",
}


class PolyaGamma:
    """Stands in for `pypolyagamma.PyPolyaGamma`."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pgdrawv(self, b, psi, out):
        random_polyagamma(b, psi, out=out, random_state=self.rng)


class Lenient(np.ndarray):
    """An array whose elements can be set to arrays of one element."""

    def __setitem__(self, place, value):
        one = isinstance(place, int) and self.ndim == 1 and isinstance(value, np.ndarray)
        super().__setitem__(place, value.item() if one else value)


class TakesMatrices:
    """Stands in for NumPy where `empty` must make lenient arrays."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape):
        return np.empty(shape).view(Lenient)


def stop_at_nan():
    raise FloatingPointError("the authors' elliptical slice step met a log-likelihood that is not a number")


def load_models(path):
    """The authors' package `models`, with its files left untouched."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(path))
    for name in ["ess", "ppca"]:
        # These folders have no __init__.py: any other module of that name on the path would take precedence.
        package = types.ModuleType(name)
        package.__path__ = [str(path / name)]
        sys.modules[name] = package
    return importlib.import_module("models")


def repair(models):
    """Repairs to the authors' classes, each for something that stops the code; none changes what it computes."""
    # Bernoulli: _log_c_func returns the number 0, which its caller then indexes by row; a column of zeros can be.
    models.BernoulliRFLVM._log_c_func = lambda model: np.zeros((model.N, 1))
    # If the log-likelihood is NaN, a debugger waits for the keyboard; an error ends the run instead.
    sys.modules["ess.ess"].pdb.set_trace = stop_at_nan
    # Dynamic models: set elements of arrays to 1×1 matrices, which NumPy no longer accepts as numbers.
    sys.modules["models._base_dynamic_rflvm"].np = TakesMatrices()


def repair_model(model, family, seed):
    """The repair that needs a model."""
    # Multinomial: calls pypolyagamma even if it is not installed (no wheels for current Pythons); the other families
    # fall back on the package polyagamma by themselves.
    if family == "multinomial" and model.pg is None:
        model.pg = PolyaGamma(seed)


def build(args, y):
    """The authors' model for the family, with their hyperparameters and with the table as data."""
    models = load_models(args.authors.resolve())
    repair(models)
    # Some of their draws come from NumPy's and SciPy's shared generator, not from `rng`.
    np.random.seed(args.seed)
    model = getattr(models, ("Dynamic" if args.dynamic else "") + CLASSES[args.family])(
        rng=np.random.RandomState(args.seed),
        data=y,
        n_burn=args.warmup,
        n_iters=args.warmup + args.sweeps,
        latent_dim=args.latent_dim,
        n_clusters=args.clusters,
        n_rffs=args.features,
        dp_prior_obs=args.latent_dim,
        dp_df=args.latent_dim + 1,
        **({"marginalize": not args.gaussian_kept} if args.family == "gaussian" else {}),
    )
    repair_model(model, args.family, args.seed)
    if args.dynamic:
        # Not by its argument `time_idx`, which their Gaussian model drops.
        model.time_idx = np.load(args.dynamic).astype(float).reshape(-1, 1)
    return model


def timed_step(model):
    """One sweep; CPU and wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    model.step()
    return time.process_time() - cpu, time.perf_counter() - wall


def regression(model, rng):
    """The collapsed Gaussian's F and σ² drawn given X, W and Y; the mean of F; and ln p(Y | X, W)."""
    y, h = model.Y, model.phi(model.X, model.W)
    n_rows, n_cols = y.shape
    lower = cholesky(h.T @ h + np.eye(h.shape[1]), lower=True)
    projected = h.T @ y
    beta_mean = cho_solve((lower, True), projected)
    a, b = model.a0 + n_rows / 2, model.b0 + (np.sum(y**2, axis=0) - np.sum(projected * beta_mean, axis=0)) / 2
    sigma2 = b / rng.gamma(a, size=n_cols)
    noise = solve_triangular(lower, rng.standard_normal(beta_mean.shape), lower=True, trans="T")
    log_marginal = np.sum(model.a0 * np.log(model.b0) - a * np.log(b)) + n_cols * (
        gammaln(a) - gammaln(model.a0) - np.log(np.diag(lower)).sum() - n_rows / 2 * np.log(2 * np.pi)
    )
    return h @ (beta_mean + np.sqrt(sigma2) * noise), sigma2, h @ beta_mean, log_marginal


def invariants(model, family, pair, cell, rng):
    """What is recorded after a sweep, by name."""
    record = {
        "distances": np.linalg.norm(model.X[pair[:, 0]] - model.X[pair[:, 1]], axis=1),
        "w_norm2": [np.sum(model.W**2)],
        "alpha": [model.alpha],
        "clusters": [model.K],
    }
    if family == "gaussian" and model.marginalize:
        f, parameter, f_mean, log_marginal = regression(model, rng)
        record["f_mean"] = f_mean[cell[:, 0], cell[:, 1]]
        record["log_marginal"] = [log_marginal]
    else:
        f = model.phi(model.X, model.W, add_bias=True) @ model.beta.T
        parameter = {"gaussian": "sigma_y", "negative-binomial": "R"}.get(family)
        parameter = getattr(model, parameter) if parameter else None
    record["f"] = f[cell[:, 0], cell[:, 1]]
    record["log_likelihood"] = [log_likelihood(family, model.Y, f, parameter)]
    return record


def run(args):
    """Warm-up and recorded sweeps; everything that goes into the trace file."""
    begun = time.monotonic()
    y = np.load(args.table).astype(float)
    if not np.isfinite(y).all():
        sys.exit("the table must be complete: it has cells that are not finite numbers")
    model = build(args, y)
    pair = pairs(model.N)
    cell = cells(model.N, model.J - (args.family == "multinomial"))
    rng = np.random.default_rng(args.seed)
    warmup = np.array([timed_step(model) for _ in range(args.warmup)]).reshape(-1, 2)
    seconds, records = [], []
    for _ in range(args.sweeps):
        seconds.append(timed_step(model))
        records.append(invariants(model, args.family, pair, cell, rng))
        # One more sweep like the last must also end in time.
        if time.monotonic() - begun + 1.2 * seconds[-1][1] > args.seconds:
            break
    trace = {name: np.array([record[name] for record in records], dtype=float) for name in records[0]}
    trace["cpu"], trace["wall"] = np.array(seconds).T
    trace["warmup_cpu"], trace["warmup_wall"] = warmup.T
    trace["pairs"], trace["cells"] = pair, cell
    trace["x_mean"] = model.X_samples[: len(records)].mean(axis=0)
    trace["w_acceptance"] = model.mh_accept / (model.M_div_2 * model.t)
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--authors", type=Path, required=True, help="checkout of the authors' code")
    parser.add_argument("--table", type=Path, required=True, help="complete matrix, rows by columns, as .npy")
    parser.add_argument("--family", choices=CLASSES, required=True)
    parser.add_argument("--features", type=int, default=100, help="random features M, twice the frequencies")
    parser.add_argument("--latent-dim", type=int, default=2)
    parser.add_argument("--clusters", type=int, default=20, help="clusters at the start; 20 is the paper's number")
    parser.add_argument("--sweeps", type=int, default=20, help="recorded sweeps, at least 1")
    parser.add_argument("--warmup", type=int, default=10, help="warm-up sweeps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gaussian-kept", action="store_true", help="sample β and σ² in the Gaussian model")
    parser.add_argument("--dynamic", type=Path, metavar="TIMES", help="the dynamic model, with times of the rows, .npy")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="wall seconds after which no sweep is begun")
    parser.add_argument("--out", type=Path, required=True, help="trace file to write, .npz")
    args = parser.parse_args()
    if args.gaussian_kept and args.family != "gaussian":
        parser.error("--gaussian-kept needs --family gaussian")
    if args.dynamic and args.family == "bernoulli":
        parser.error("--dynamic: there is no such model of this family")
    # Overflow in exp and log of 0 are how their likelihoods reject candidates.
    warnings.simplefilter("ignore", RuntimeWarning)
    trace = run(args)
    np.savez(args.out, **trace)
    print(
        f"{args.family}: {len(trace['cpu'])} sweeps, CPU s per sweep: median {np.median(trace['cpu']):.3f}, "
        f"mean {trace['cpu'].mean():.3f}; wall mean {trace['wall'].mean():.3f}; "
        f"log-likelihood {trace['log_likelihood'][0, 0]:.1f} to {trace['log_likelihood'][-1, 0]:.1f}; "
        f"W accepted {trace['w_acceptance']:.3f}"
    )


if __name__ == "__main__":
    main()
