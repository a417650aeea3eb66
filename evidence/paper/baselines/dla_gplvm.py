"""DLA-GPLVM: Poisson Gaussian process latent variable model, positions by a decoupled Laplace approximation.

Wu, Roy, Keeley & Pillow 2017, "Gaussian process based nonlinear latent structure discovery in multivariate spike train data"
(P-GPLVM; github.com/waq1129/LMT). y_nj ~ Poisson(exp f_nj), f_j a Gaussian process with an RBF kernel on the positions.

    python evidence/paper/baselines/check.py dla_gplvm

In turn, 50 times as in the authors' program: the mode of F given X; ten steps on X; ten on the kernel's variance and length.
The likelihood around the mode is kept as the Gaussian N(f | m, W⁻¹), W = exp f̂, so that the mode, f̂(X) = (K⁻¹ + W)⁻¹ W m,
and the Laplace evidence are functions of X in closed form: this is the decoupling. As there, K is of low rank, from
a grid of 10 points along each axis, plus σ², which falls from 2 by a factor of 0.95 each time. As in the paper, X starts at
principal components and has the prior N(0, I), not the authors' Gaussian process over time. Different from the program: F starts at ln(y + ½) and its mode is found by Newton steps, since √y, the start there, overflows
for large counts; the grid follows X.
"""

import numpy as np
import torch

from baselines.gp import features, minimise, principal, tensor, weighted_grams


def grid(x):
    """Inducing points: 25 on a line, 10×10 in a plane, 5×5×5 in space."""
    count = {1: 25, 2: 10, 3: 5}[x.shape[1]]
    axes = [torch.linspace(float(low), float(high), count, dtype=x.dtype) for low, high in zip(x.min(0)[0], x.max(0)[0])]
    return torch.stack([part.ravel() for part in torch.meshgrid(*axes, indexing="ij")], 1)


def gaussian(phi, noise, weight, mean):
    """The posterior of F under N(f | mean, 1 / weight) and K = ΦΦᵀ + noise I: its mean f̂, K⁻¹f̂ and ln |I + K diag(weight)|."""
    d = noise + 1 / weight
    factor = torch.linalg.cholesky(weighted_grams(phi, 1 / d))
    inner = torch.cholesky_solve((phi.T @ (mean / d)).T[:, :, None], factor)[:, :, 0]
    dual = (mean - phi @ inner.T) / d
    determinant = torch.log(weight * d).sum() + 2 * torch.log(factor.diagonal(dim1=1, dim2=2)).sum()
    return phi @ (phi.T @ dual) + noise * dual, dual, determinant


def mode(y, f, phi, noise, steps=5):
    """Newton steps on F, none of them longer than 2, and the Gaussian likelihood (weight, mean) at the end."""
    for _ in range(steps):
        weight, mean = local(y, f)
        f = f + (gaussian(phi, noise, weight, mean)[0] - f).clamp(-2, 2)
    return f, *local(y, f)


def local(y, f):
    """The Gaussian in F with the slope and curvature of the Poisson likelihood at f."""
    weight = f.clamp(-15, 15).exp()
    return weight, f + y / weight - 1


def evidence(y, phi, noise, weight, mean):
    """The decoupled Laplace evidence ln p(y | X), without ln y!."""
    f, dual, determinant = gaussian(phi, noise, weight, mean)
    return (y * f - f.clamp(max=20).exp()).sum() - 0.5 * (f * dual).sum() - 0.5 * determinant


def prior_of_f(f, phi, noise):
    """ln N(F | 0, ΦΦᵀ + noise I), for the kernel's own parameters."""
    rows, rank = phi.shape
    factor = torch.linalg.cholesky(phi.T @ phi + noise * torch.eye(rank, dtype=phi.dtype))
    inside = torch.linalg.solve_triangular(factor, phi.T @ f, upper=False)
    half = torch.log(factor.diagonal()).sum() + 0.5 * (rows - rank) * np.log(noise)
    return -0.5 * ((f**2).sum() - (inside**2).sum()) / noise - f.shape[1] * half


def fit(y, x, iterations=50):
    """Positions after `iterations` rounds, from the positions `x`."""
    y, x, f = tensor(y), tensor(x), torch.log(tensor(y) + 0.5)
    # Bounds of the authors: of ln variance and ln length.
    kernel, bounds, noise = np.log([10.0, 2.0]), [(0, 5), (-3, 5)], 2.0
    for _ in range(iterations):
        noise *= 0.95
        variance, length = np.exp(kernel)
        points = grid(x)
        f, weight, mean = mode(y, f, features(x, points, length, variance), noise)

        def of_x(x):
            phi = features(x, points, length, variance)
            return 0.5 * (x**2).sum() - evidence(y, phi, noise, weight, mean)

        (x,) = minimise(of_x, [x.numpy()], 10)
        points = grid(x)

        def of_kernel(k):
            return -prior_of_f(f, features(x, points, k[1].exp(), k[0].exp()), noise)

        (kernel,) = minimise(of_kernel, [kernel], 10, bounds)
        kernel = kernel.numpy()
    return x.numpy()


def embed(Y, dim, seed, iterations=50):
    """Positions of the rows. Nothing is random: the seed has no effect."""
    y = np.asarray(Y, float)
    return fit(y, principal(np.log1p(y), dim), iterations)
