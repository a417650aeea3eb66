"""Negative binomial VAE (Zhao, Rai, Du, Buntine, Phung & Zhou 2020, arXiv:1905.00616).

    python evidence/paper/baselines/check.py nbvae

Settings of the authors' code (github.com/ethanhezhao/NBVAE, run_nbvae.py) for text: rows divided by their length, dropout
of half the inputs, an encoder J–128–D, one decoder D–128–J for ln r and one for the logit of p, tanh; Adam at 10⁻³,
batches of 500 rows, 800 epochs, and a weight of the divergence that grows to 1 over 20,000 steps, which short runs do not
reach. The latent dimension is the paper's, in place of 64.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from baselines.network import batches, divergence, layers, seeded, tensor


def log_likelihood(y, log_r, logit):
    """ln NB(y | r, p), without the term ln y! of the data: Γ(y + r) / Γ(r) · pʸ (1 − p)ʳ."""
    r = log_r.exp()
    return torch.lgamma(r + y) - torch.lgamma(r) + logit * y - functional.softplus(logit) * (y + r)


class Nbvae(nn.Module):
    def __init__(self, columns, dim):
        super().__init__()
        self.dim = dim
        self.encoder = layers([columns, 128, 2 * dim], nn.Tanh)
        self.log_r = layers([dim, 128, columns], nn.Tanh)
        self.logit = layers([dim, 128, columns], nn.Tanh)

    def encode(self, y):
        """Mean and log variance of the positions."""
        inputs = functional.dropout(functional.normalize(y, dim=1), 0.5, self.training)
        return self.encoder(inputs).split(self.dim, 1)

    def loss(self, y, weight, generator):
        """The negative bound, its divergence weighted."""
        mean, log_variance = self.encode(y)
        x = mean + torch.randn(mean.shape, generator=generator) * (0.5 * log_variance).exp()
        fit = log_likelihood(y, self.log_r(x).clamp(-15, 15), self.logit(x)).sum(1)
        return (weight * divergence(mean, log_variance) - fit).mean()


def embed(Y, dim, seed, epochs=800):
    """Posterior means of the positions."""
    generator = seeded(seed)
    y = tensor(np.asarray(Y))
    model = Nbvae(y.shape[1], dim)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    step = 0
    for _ in range(epochs):
        for rows in batches(len(y), 500, generator):
            loss = model.loss(y[rows], min(1.0, step / 20_000), generator)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            step += 1
    model.eval()
    with torch.no_grad():
        return model.encode(y)[0].numpy().astype(float)
