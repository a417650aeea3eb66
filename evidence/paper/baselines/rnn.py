"""Recurrent network (long short-term memory, Hochreiter & Schmidhuber 1997) that predicts the next row.

    python evidence/paper/baselines/check.py rnn

The rows in order, standardised (counts: ln(1 + y)), go into one layer of D units whose state gives the next row through a
dense layer; Adam at 10⁻², 1000 steps on the whole sequence, squared error. The path is the state after each row: the reading
of the paper, whose settings are not given. Times count only by their order.
"""

import numpy as np
import torch
from torch import nn

from baselines.network import seeded, tensor


class Next(nn.Module):
    def __init__(self, columns, dim):
        super().__init__()
        self.memory = nn.LSTM(columns, dim, batch_first=True)
        self.out = nn.Linear(dim, columns)

    def states(self, y):
        return self.memory(y[None])[0][0]


def fit(y, dim, seed, steps=1000):
    """The trained network and the standardised rows."""
    seeded(seed)
    y = np.log1p(y) if y.min() >= 0 else y
    y = tensor((y - y.mean(0)) / y.std(0))
    model = Next(y.shape[1], dim)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(steps):
        loss = ((model.out(model.states(y[:-1])) - y[1:]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model, y


def path(Y, times, dim, seed):
    """States of the network, in the order of the rows."""
    order = np.argsort(times, kind="stable")
    model, y = fit(np.asarray(Y, float)[order], dim, seed)
    found = np.empty((len(y), dim))
    with torch.no_grad():
        found[order] = model.states(y).numpy()
    return found
