"""The next row of a steady rotation seen in noisy columns is predicted much better than by the last row."""

import numpy as np
import torch

from baselines import rnn


def check():
    rng = np.random.default_rng(0)
    times = np.arange(200.0)
    circle = np.c_[np.sin(0.4 * times), np.cos(0.4 * times)]
    y = circle @ rng.normal(size=(2, 6)) - 5 + 0.05 * rng.normal(size=(200, 6))
    model, scaled = rnn.fit(y, 3, 0, steps=400)
    with torch.no_grad():
        error = float(((model.out(model.states(scaled[:-1])) - scaled[1:]) ** 2).mean())
    last = float(((scaled[:-1] - scaled[1:]) ** 2).mean())
    assert error < 0.3 * last, (error, last)
    shuffled = rng.permutation(200)
    np.testing.assert_allclose(rnn.path(y, times, 2, 0)[shuffled], rnn.path(y[shuffled], times[shuffled], 2, 0), atol=1e-5)
    return f"next row {error:.3f}, by the last row {last:.3f}; rows may come in any order"
