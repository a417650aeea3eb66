"""Deep count autoencoder (Eraslan, Simon, Mircea, Mueller & Theis 2019, doi:10.1038/s41467-018-07931-2).

    python evidence/paper/baselines/check.py dca

Settings of the authors' program (github.com/theislab/dca): negative binomial cells with a dispersion for each cell
("nb-conddisp"), size factors, standardised ln(1 + y) as input, hidden layers of 64, D and 64 units with batch
normalisation and ReLU, RMSprop at 10⁻³ with gradients clipped at 5, batches of 32 rows, at most 300 epochs, a tenth of the
rows for validation: after 10 epochs without gain a tenth of the rate, after 15 the end. The positions are the
centre's values before normalisation, as in the program; its 32 units are replaced by the paper's D.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from baselines.network import batches, layers, negative_binomial, seeded, tensor


def prepare(y):
    """Inputs and size factors: depth over its median; a row without counts has factor 1."""
    depth = y.sum(1)
    size = np.where(depth > 0, depth, 1) / np.median(depth[depth > 0])
    size[depth == 0] = 1
    inputs = np.log1p(y / size[:, None])
    spread = inputs.std(0)
    return (inputs - inputs.mean(0)) / np.where(spread > 0, spread, 1), size[:, None]


def normalised(units):
    """Batch normalisation as in Keras, without a scale, and ReLU."""
    norm = nn.BatchNorm1d(units, eps=1e-3, momentum=0.01)
    norm.weight.requires_grad_(False)
    return nn.Sequential(norm, nn.ReLU())


class Dca(nn.Module):
    def __init__(self, columns, dim):
        super().__init__()
        self.encoder = nn.Sequential(layers([columns, 64], None), normalised(64), layers([64, dim], None))
        self.decoder = nn.Sequential(normalised(dim), layers([dim, 64], None), normalised(64))
        self.mean, self.dispersion = layers([64, columns], None), layers([64, columns], None)

    def loss(self, inputs, size, y):
        """Mean negative log-probability of the counts."""
        hidden = self.decoder(self.encoder(inputs))
        mean = self.mean(hidden).exp().clamp(1e-5, 1e6) * size
        dispersion = functional.softplus(self.dispersion(hidden)).clamp(1e-4, 1e4)
        return -negative_binomial(y, mean, dispersion).mean()


def fit(y, dim, seed, epochs=300):
    """The trained network and the inputs of the rows."""
    generator = seeded(seed)
    inputs, size = (tensor(part) for part in prepare(y))
    y = tensor(y)
    order = torch.randperm(len(y), generator=generator)
    held, used = order[: len(y) // 10], order[len(y) // 10 :]
    model = Dca(y.shape[1], dim)
    optimiser = torch.optim.RMSprop(model.parameters(), 1e-3, alpha=0.9, eps=1e-7)
    slower = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.1, patience=9)
    best, since = np.inf, 0
    for _ in range(epochs):
        model.train()
        for rows in batches(len(used), 32, generator):
            rows = used[rows]
            loss = model.loss(inputs[rows], size[rows], y[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 5.0)
            optimiser.step()
        model.eval()
        with torch.no_grad():
            found = float(model.loss(inputs[held], size[held], y[held]))
        slower.step(found)
        best, since = (found, 0) if found < best else (best, since + 1)
        if since == 15:
            break
    return model.eval(), inputs


def embed(Y, dim, seed):
    """Values of the centre."""
    model, inputs = fit(np.asarray(Y, float), dim, seed)
    with torch.no_grad():
        return model.encoder(inputs).numpy().astype(float)
