"""The four tables of the paper's imputation experiment (Table 3), prepared as the authors' group prepares them."""

import gzip
from dataclasses import dataclass

import numpy as np


@dataclass
class Dataset:
    """A table in the order of its times. `given` is the mask that comes with the data, True where hidden."""

    y: np.ndarray
    time: np.ndarray
    dim: int
    given: np.ndarray | None = None
    real: bool = True


def standardised(y):
    """Columns of mean 0 and standard deviation 1."""
    return (y - y.mean(0)) / y.std(0)


def s_curve(data):
    """Gaussian S-curve, 500×100; the time of a row is its position along the S."""
    z = np.load(data / "s_curve/gaussian.npz")
    order = np.argsort(z["t"], kind="stable")
    return Dataset(z["Y"][order], z["t"][order], 2, z["mask"][order], real=False)


def lorenz(data):
    """A Lorenz path through 50 noisy functions, 500×50."""
    z = np.load(data / "lorenz/lorenz.npz")
    return Dataset(z["Y"], np.arange(len(z["Y"])), 3, z["mask"], real=False)


def cmu(data):
    """Joint angles of a jumping person, every fifth frame: 551×56 without the six constant channels, standardised."""
    angles = np.load(data / "cmu_mocap/cmu_01_01.npz")["angles"][::5].astype(float)
    moving = np.ptp(angles, axis=0) > 1e-6
    return Dataset(standardised(angles[:, moving]), np.arange(len(angles)), 3)


def forex(data):
    """Logarithms of 22 exchange rates, every fourth of the days that have all of them: 1254×22, standardised."""
    with gzip.open(data / "forex/foreign_exchange_rates.csv.gz", "rt") as file:
        days = [line.rstrip("\n").split(",")[1:] for line in file][1:]
    rates = np.array([[float(v) for v in day] for day in days if "" not in day])[::4]
    return Dataset(standardised(np.log(rates)), np.arange(len(rates)), 2)


SETS = {"s_curve": s_curve, "lorenz": lorenz, "cmu": cmu, "forex": forex}
