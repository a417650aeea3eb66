"""What the Gaussian process baselines share: a kernel, a start, an optimiser, and Gaussians of low rank."""

import numpy as np
import torch
from scipy.optimize import minimize

torch.set_num_threads(1)


def tensor(values):
    """Double precision: kernel matrices are nearly singular."""
    return torch.as_tensor(np.asarray(values), dtype=torch.float64)


def rbf(x, z, length, variance=1.0):
    """variance · exp(−|x − z|² / 2 length²)."""
    x, z = x / length, z / length
    squared = (x**2).sum(1)[:, None] + (z**2).sum(1)[None] - 2 * x @ z.T
    return variance * torch.exp(-0.5 * squared.clamp(min=0))


def jittered(k, share=1e-6):
    """Cholesky factor of a kernel matrix with `share` of its mean variance added to the diagonal."""
    return torch.linalg.cholesky(k + share * k.diagonal().mean() * torch.eye(len(k), dtype=k.dtype))


def features(x, points, length, variance=1.0):
    """Φ with ΦΦᵀ = K_xu K_uu⁻¹ K_ux: the Nyström approximation of the kernel matrix of x."""
    factor = jittered(rbf(points, points, length, variance))
    return torch.linalg.solve_triangular(factor, rbf(points, x, length, variance), upper=False).T


def weighted_grams(phi, weights):
    """I + Φᵀ diag(w_j) Φ for each column j of `weights`, in one matrix product."""
    rows, rank = phi.shape
    outer = (phi[:, :, None] * phi[:, None, :]).reshape(rows, -1)
    return (weights.T @ outer).reshape(-1, rank, rank) + torch.eye(rank, dtype=phi.dtype)


def principal(y, dim):
    """Principal components of unit variance."""
    y = y - y.mean(0)
    u, _, _ = np.linalg.svd(y, full_matrices=False)
    return u[:, :dim] * np.sqrt(len(y))


def minimise(objective, start, steps, bounds=None):
    """At most `steps` steps of L-BFGS on a list of tensors, from `start`; the tensors at the end. A step to where a
    matrix is not positive definite is refused."""
    shapes = [np.shape(part) for part in start]
    cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def parts(flat):
        return [tensor(piece.reshape(shape)) for piece, shape in zip(np.split(flat, cuts), shapes)]

    def value(flat):
        found = [part.requires_grad_() for part in parts(flat)]
        try:
            loss = objective(*found)
            loss.backward()
        except torch.linalg.LinAlgError:
            return np.inf, np.zeros_like(flat)
        return loss.item(), np.concatenate([part.grad.numpy().ravel() for part in found])

    flat = np.concatenate([np.ravel(part) for part in start])
    done = minimize(value, flat, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
    return parts(done.x)
