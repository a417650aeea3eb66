"""Variational autoencoder (Kingma & Welling 2014, arXiv:1312.6114) with Gaussian or Poisson cells.

    python evidence/paper/baselines/check.py vae

Encoder J–128–(mean, log variance of x), decoder D–128–J, tanh; Adam at 10⁻³ with batches of 100 rows and 2000 epochs'
worth of steps but at most 20,000, after the paper's "2000 iterations". Gaussian cells have one learned noise variance and, for
counts, are ln(1 + y), as for the Gaussian process models of Table 1; Poisson cells have the rate exp(decoder).
Missing cells (NaN) enter the encoder as the column mean, and are left out of the likelihood.
"""

import numpy as np
import torch
from torch import nn

from baselines.network import batches, divergence, layers, seeded, tensor


class Vae(nn.Module):
    """`hidden` lists the widths of the decoder; the encoder has them in reverse. Without any, both are linear."""

    def __init__(self, columns, dim, likelihood="gaussian", hidden=(128,)):
        super().__init__()
        self.dim, self.likelihood = dim, likelihood
        self.encoder = layers([columns, *hidden[::-1], 2 * dim], nn.Tanh)
        self.decoder = layers([dim, *hidden, columns], nn.Tanh)
        self.log_noise = nn.Parameter(torch.zeros(()))

    def encode(self, inputs):
        """Mean and log variance of the positions."""
        return self.encoder(inputs).split(self.dim, 1)

    def log_likelihood(self, y, output):
        """Of each cell; constants of the data are left out."""
        if self.likelihood == "poisson":
            return y * output - output.clamp(max=20).exp()
        return -0.5 * (self.log_noise + (y - output) ** 2 / self.log_noise.exp())

    def bound(self, inputs, y, seen, generator):
        """The evidence lower bound of each row, with one draw of its position."""
        mean, log_variance = self.encode(inputs)
        noise = torch.randn(mean.shape, generator=generator)
        output = self.decoder(mean + noise * (0.5 * log_variance).exp())
        return (seen * self.log_likelihood(y, output)).sum(1) - divergence(mean, log_variance)


def prepare(y, likelihood):
    """Inputs of the encoder, targets of the decoder (0 where missing), and what restores the unit of a cell."""
    base = np.log1p(y) if likelihood == "poisson" else y
    offset, scale = np.nanmean(base, axis=0), np.nanstd(base) or 1.0
    inputs = np.nan_to_num((base - offset) / scale)
    return inputs, np.nan_to_num(y) if likelihood == "poisson" else inputs, offset, scale


def fit(y, dim, seed, likelihood="gaussian", hidden=(128,), steps=20_000, rate=1e-3):
    """The trained network, its inputs, and the offset and scale of its Gaussian cells."""
    generator = seeded(seed)
    inputs, targets, offset, scale = prepare(y, likelihood)
    inputs, targets, seen = tensor(inputs), tensor(targets), tensor(~np.isnan(y))
    model = Vae(y.shape[1], dim, likelihood, hidden)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    done, steps = 0, min(steps, 2000 * max(1, len(y) // 100))
    while done < steps:
        for rows in batches(len(y), 100, generator):
            loss = -model.bound(inputs[rows], targets[rows], seen[rows], generator).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            done += 1
    return model, inputs, offset, scale


def embed(Y, dim, seed):
    """Positions of the rows; counts are taken as ln(1 + y)."""
    y = np.asarray(Y, float)
    model, inputs, _, _ = fit(np.log1p(y) if np.nanmin(y) >= 0 else y, dim, seed)
    with torch.no_grad():
        return model.encode(inputs)[0].numpy().astype(float)


def impute(Y, dim, seed, likelihood="gaussian", draws=100, steps=20_000):
    """Predictive mean and variance of every cell, over draws of the positions."""
    model, inputs, offset, scale = fit(Y, dim, seed, likelihood, steps=steps)
    with torch.no_grad():
        mean, log_variance = model.encode(inputs)
        noise = torch.randn(draws, *mean.shape, generator=seeded(seed))
        output = model.decoder(mean + noise * (0.5 * log_variance).exp()).numpy().astype(float)
        if likelihood == "poisson":
            rate = np.exp(np.minimum(output, 20))
            return rate.mean(0), rate.mean(0) + rate.var(0)
        variance = output.var(0) + float(model.log_noise.exp())
        return output.mean(0) * scale + offset, variance * scale**2
