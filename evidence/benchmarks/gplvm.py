"""GPy's Bayesian GPLVM for tables with missing cells, with all columns handled at once.

GPy loops over the columns and copies an N×M×M array for each. The objective needs only the sums of that array over the
observed rows of each column, which are one matrix product for all columns, as are their gradients: the same numbers,
several times faster. `python evidence/benchmarks/gplvm.py` compares objective, gradient and predictions with GPy's own loop.
"""

import os

# One thread, before NumPy loads its linear algebra.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np
from GPy.inference.latent_function_inference.posterior import Posterior
from GPy.models.bayesian_gplvm_minibatch import BayesianGPLVMMiniBatch
from GPy.util.linalg import jitchol


class Gplvm(BayesianGPLVMMiniBatch):
    """Standard settings of GPy: PCA start, RBF kernel with a length-scale per axis, one noise variance."""

    def __init__(self, y, dim, inducing):
        self.seen = (~np.isnan(y)).astype(float)
        self.filled = np.nan_to_num(y)
        super().__init__(y, dim, num_inducing=inducing, missing_data=True)

    def _outer_loop_for_missing_data(self):
        (rows, columns), points = self.seen.shape, self.num_inducing
        precision = 1 / float(np.ravel(self.likelihood.variance)[0])
        eye = np.eye(points)
        kernel = np.asarray(self.kern.K(self.Z)) + self.inference_method.const_jitter * eye
        factor = jitchol(kernel)
        to_white = np.linalg.inv(factor)
        # Of each column j: A, B = I + A, its inverse, and B⁻¹c, with the inducing values whitened.
        sums = (self.seen.T @ self.psi2.reshape(rows, -1)).reshape(columns, points, points)
        a = precision * (to_white @ sums @ to_white.T)
        b = eye + a
        inverse = np.linalg.inv(b)
        c = precision * (to_white @ (self.psi1.T @ self.filled)).T
        weights = (inverse @ c[:, :, None])[:, :, 0]
        spread = inverse + weights[:, :, None] * weights[:, None, :]
        fit, traces = (c * weights).sum(), np.trace(a, axis1=1, axis2=2).sum()
        cells, squares, variance = self.seen.sum(), (self.filled**2).sum(), (self.psi0 @ self.seen).sum()
        self._log_marginal_likelihood = 0.5 * (
            cells * np.log(precision / (2 * np.pi)) - precision * (squares + variance) + traces + fit - np.linalg.slogdet(b)[1].sum()
        )
        vector = to_white.T @ weights.T
        by_column = 0.5 * precision * (to_white.T @ (eye - spread) @ to_white)
        slope = -cells + precision * (squares + variance) - traces + (a * spread).sum() - 2 * fit
        self._outer_values_update({
            "dL_dKmm": to_white.T @ (eye - 0.5 * (spread + b)).sum(0) @ to_white,
            "dL_dpsi0": -0.5 * precision * self.seen.sum(1),
            "dL_dpsi1": precision * (self.filled @ vector.T),
            "dL_dpsi2": (self.seen @ by_column.reshape(columns, -1)).reshape(rows, points, points),
            "dL_dthetaL": 0.5 * precision * slope,
        })  # fmt: skip
        woodbury = np.moveaxis(to_white.T @ (eye - inverse) @ to_white, 0, 2)
        self.posterior = Posterior(woodbury_inv=woodbury, woodbury_vector=vector, K=kernel, K_chol=factor, mean=None, cov=None)


def predict(y, dim, seed, inducing=50, iterations=1000):
    """Mean and variance of every cell, noise included, after at most `iterations`; and what the optimiser did."""
    np.random.seed(seed)
    model = Gplvm(y, dim, inducing)
    model.optimize(max_iters=iterations)
    mean, variance = model.predict(model.X)
    run = model.optimization_runs[-1]
    noise = float(np.ravel(model.likelihood.variance)[0])
    return mean, variance, {"evaluations": int(run.funct_eval), "status": str(run.status), "noise": noise}


def check():
    rng = np.random.default_rng(1)
    y = np.sin(rng.standard_normal((60, 2)) @ rng.standard_normal((2, 7))) + 0.1 * rng.standard_normal((60, 7))
    y[rng.random(y.shape) < 0.2] = np.nan
    found = []
    for build in (lambda: BayesianGPLVMMiniBatch(y, 2, num_inducing=9, missing_data=True), lambda: Gplvm(y, 2, 9)):
        np.random.seed(1)
        model = build()
        model.optimize(max_iters=5)
        mean, variance = model.predict(model.X)
        found.append([model.log_likelihood(), model.gradient.copy(), mean, variance])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    print("objective, gradient and predictions agree with GPy's")


if __name__ == "__main__":
    check()
