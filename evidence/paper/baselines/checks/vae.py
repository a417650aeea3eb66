"""A linear Gaussian VAE is PPCA (Lucas et al. 2019): at its optimum the noise is PPCA's, and the bound the likelihood. Holes are
ignored, and a Poisson VAE finds the rates of a simulated table."""

import numpy as np

import ppca
from baselines import vae


def check():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(400, 8))
    model, _, _, scale = vae.fit(y, 2, 0, hidden=(), steps=2500, rate=5e-3)
    noise = float(model.log_noise.exp().detach()) * scale**2
    closed = ppca.fit(y, 2).variance
    assert abs(noise / closed - 1) < 0.08, (noise, closed)

    holed = np.where(rng.random(y.shape) < 0.2, np.nan, y)
    mean, variance = vae.impute(holed, 2, 0, steps=2500)
    gone = np.isnan(holed)
    error = ((mean - y)[gone] ** 2).mean()
    assert error < 0.6 * y[gone].var(), error
    assert 0.8 < (np.abs(mean - y)[gone] < 1.645 * np.sqrt(variance[gone])).mean() < 0.97

    rate = np.exp(1 + np.sin(rng.normal(size=(300, 1)) @ rng.normal(size=(1, 12)) * 2))
    found, spread = vae.impute(rng.poisson(rate).astype(float), 2, 0, "poisson", steps=2500)
    left = ((found - rate) ** 2).mean() / rate.var()
    assert left < 0.3 and (spread >= found).all(), left
    return f"linear noise {noise:.3f}, PPCA {closed:.3f}; hidden cells {error:.2f} of {y[gone].var():.2f}; Poisson rates {1 - left:.2f} explained"
