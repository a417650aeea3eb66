"""Deep Gaussian process of two layers, time → position → row (Damianou & Lawrence 2013), by doubly stochastic variational
inference (Salimbeni & Deisenroth 2017).

    python evidence/paper/baselines/check.py deep_gp

The paper uses a deep GP of this kind as a stand-in for a dynamic GPLVM. RBF kernels; 40 inducing points in time and 60 in the latent
space; whitened Gaussian posteriors of the inducing values, with one covariance for all outputs of a layer; Adam at 10⁻²,
2000 steps on all rows with one draw of the positions each. The first layer starts at principal components. Columns
are standardised inside; missing cells (NaN) are left out.
"""

import numpy as np
import torch
from torch import nn

from baselines.gp import features, tensor
from baselines.gpdm import standardised, start
from baselines.network import seeded


class Layer(nn.Module):
    """Gaussian processes with common inducing points: q(weights) = N(mean, SSᵀ), the weights N(0, I) a priori."""

    def __init__(self, points, outputs, length):
        super().__init__()
        self.points = nn.Parameter(tensor(points))
        self.logs = nn.Parameter(tensor(np.log([length, 1.0])))
        self.mean = nn.Parameter(torch.zeros(len(points), outputs, dtype=torch.float64))
        self.scale = nn.Parameter(0.1 * torch.eye(len(points), dtype=torch.float64))

    def phi(self, x):
        return features(x, self.points, self.logs[0].exp(), self.logs[1].exp())

    def forward(self, x):
        """Mean of each output, and the variance that all of them have."""
        phi = self.phi(x)
        left = self.logs[1].exp() - (phi**2).sum(1) + ((phi @ self.scale.tril()) ** 2).sum(1)
        return phi @ self.mean, left.clamp(min=1e-10)[:, None]

    def divergence(self):
        """Of q from the prior, over all outputs."""
        scale = self.scale.tril()
        own = 0.5 * ((scale**2).sum() - len(scale)) - torch.log(scale.diagonal().abs()).sum()
        return self.mean.shape[1] * own + 0.5 * (self.mean**2).sum()


class DeepGp(nn.Module):
    def __init__(self, times, x, columns, rng):
        super().__init__()
        knots = np.linspace(times.min(), times.max(), 40)[:, None]
        self.path = Layer(knots, x.shape[1], 0.3 * times.std())
        self.map = Layer(x[rng.permutation(len(x))[:60]], columns, 1.0)
        self.log_noise = nn.Parameter(tensor(np.log(0.1)))
        with torch.no_grad():
            phi = self.path.phi(tensor(times))
            gram = phi.T @ phi + 0.1 * torch.eye(len(knots), dtype=torch.float64)
            self.path.mean.copy_(torch.linalg.solve(gram, phi.T @ tensor(x)))

    def draw(self, times, generator):
        """Mean and variance of the cells for one draw of the positions."""
        mean, variance = self.path(times)
        noise = torch.randn(mean.shape, generator=generator, dtype=torch.float64)
        return self.map(mean + variance.sqrt() * noise)

    def bound(self, times, y, seen, generator):
        mean, variance = self.draw(times, generator)
        noise = self.log_noise.exp()
        cells = torch.log(2 * np.pi * noise) + ((y - mean) ** 2 + variance) / noise
        return -0.5 * (seen * cells).sum() - self.path.divergence() - self.map.divergence()


def fit(y, times, dim, seed, steps=2000):
    """The fitted model, and its times; `y` has standardised columns."""
    generator = seeded(seed)
    times = np.asarray(times, float)
    times = ((times - times.mean()) / times.std())[:, None]
    model = DeepGp(times, start(y, dim), y.shape[1], np.random.default_rng(seed))
    times, seen, y = tensor(times), tensor(~np.isnan(y)), tensor(np.nan_to_num(y))
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(steps):
        loss = -model.bound(times, y, seen, generator)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model, times


def path(Y, times, dim, seed):
    """Posterior means of the positions; counts are taken as ln(1 + y)."""
    y = np.asarray(Y, float)
    model, times = fit(standardised(np.log1p(y) if y.min() >= 0 else y)[0], times, dim, seed)
    with torch.no_grad():
        return model.path(times)[0].numpy()


def impute(Y, times, dim, seed, draws=50, steps=2000):
    """Predictive mean and variance of every cell, noise included."""
    y, offset, scale = standardised(Y)
    model, times = fit(y, times, dim, seed, steps)
    generator = seeded(seed)
    with torch.no_grad():
        means, variances = zip(*(model.draw(times, generator) for _ in range(draws)))
        means, noise = torch.stack(means).numpy(), float(model.log_noise.exp())
        variance = means.var(0) + torch.stack(variances).mean(0).numpy() + noise
    return means.mean(0) * scale + offset, variance * scale**2
