"""What the neural baselines share: layers, minibatches, the negative binomial."""

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)


def seeded(seed):
    """Makes weights and draws of a fit repeatable."""
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


def tensor(values):
    """Single precision, as neural networks are usually trained."""
    return torch.as_tensor(np.asarray(values), dtype=torch.float32)


def layers(sizes, activation):
    """Dense layers with an activation after each but the last."""
    parts = []
    for k, (before, after) in enumerate(zip(sizes[:-1], sizes[1:])):
        linear = nn.Linear(before, after)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        parts += [linear] if k == len(sizes) - 2 else [linear, activation()]
    return nn.Sequential(*parts)


def batches(rows, size, generator):
    """The rows in a random order, in batches of `size`; a single row left over is put into the batch before it."""
    order = torch.randperm(rows, generator=generator)
    parts = list(order.split(size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts


def divergence(mean, log_variance):
    """Kullback–Leibler divergence of N(mean, variance) from N(0, 1), summed over the latent axes."""
    return 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum(1)


def negative_binomial(y, mean, dispersion):
    """Log-probability of counts with this mean, and variance mean + mean² / dispersion."""
    total = mean + dispersion
    log_ways = torch.lgamma(y + dispersion) - torch.lgamma(dispersion) - torch.lgamma(y + 1)
    return log_ways + dispersion * torch.log(dispersion / total) + torch.xlogy(y, mean / total)
