"""Scores of hidden cells, given a normal predictive distribution, as in `rflvm impute --truth FILE --json`: squared error of the
mean and absolute error of the median in units of `unit`, the standard deviation of the observed cells of the column; log density in
the units of the table."""

import numpy as np
from scipy.special import log_ndtr, ndtri


def inside(truth, low, high):
    return float(np.mean((low <= truth) & (truth <= high)))


def summary(truth, mean, log_density, interval, unit):
    """`interval(z)` gives the ends that hold a standard normal within ± z."""
    return {
        "mse": float(np.mean(((truth - mean) / unit) ** 2)),
        "mae": float(np.mean(np.abs(truth - interval(0)[0]) / unit)),
        "log_density": float(np.mean(log_density)),
        "in50": inside(truth, *interval(ndtri(0.75))),
        "in90": inside(truth, *interval(ndtri(0.95))),
        "cells": len(truth),
    }


def real(truth, mean, sd, unit):
    return summary(truth, mean, -0.5 * (np.log(2 * np.pi * sd**2) + ((truth - mean) / sd) ** 2), lambda z: (mean - z * sd, mean + z * sd), unit)


def log_difference(high, low):
    """ln(Φ(high) − Φ(low)), exact in both tails."""
    swap = low > 0
    high, low = np.where(swap, -low, high), np.where(swap, -high, low)
    above, below = log_ndtr(high), log_ndtr(low)
    return above + np.log1p(-np.exp(np.minimum(below - above, -1e-15)))


def counts(truth, mean, sd, unit):
    """A normal for the square root of the count. The probability of k is that of (√(k − ½), √(k + ½)], and 0 takes all
    that is below, so that it can be compared with the probability of a count under a discrete distribution; the ends of
    intervals are rounded to counts."""

    def count(root):
        return np.floor(np.maximum(root, 0) ** 2 + 0.5)

    high = (np.sqrt(truth + 0.5) - mean) / sd
    low = np.where(truth > 0, (np.sqrt(np.maximum(truth - 0.5, 0)) - mean) / sd, -np.inf)
    expected = np.maximum(mean, 0) ** 2 + sd**2
    return summary(truth, expected, log_difference(high, low), lambda z: (count(mean - z * sd), count(mean + z * sd)), unit)
