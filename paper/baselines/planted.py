"""Three groups of rows with different profiles: a count model must place them apart, and the same seed in the same way."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier


def apart(embed):
    """Leave-one-out accuracy of the nearest neighbour, against that of shuffled labels."""
    rng = np.random.default_rng(5)
    profiles = rng.gamma(0.6, 6, size=(3, 30))
    label = rng.integers(3, size=240)
    y = rng.poisson(rng.gamma(5, 0.2, size=(240, 1)) * profiles[label]).astype(float)
    x = embed(y, 2, 0)
    assert x.shape == (240, 2) and np.isfinite(x).all()
    assert np.array_equal(x, embed(y, 2, 0)), "the same seed gave another map"
    near = KNeighborsClassifier(2).fit(x, label).kneighbors(x, return_distance=False)[:, 1]
    right = (label[near] == label).mean()
    assert right > 0.9, right
    return f"nearest neighbour of {right:.2f} of the rows in the same group"
