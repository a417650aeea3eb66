"""Pictures of a fit, one line each, by matplotlib.

>>> rflvm.plot.latent(model, labels=species)
>>> rflvm.plot.trace(model)

Each function draws into the Axes that it is given, or into a new figure, and returns them.
"""

from ._check import check
from ._forecast import forecast
from ._imputed import imputed
from ._kernel import kernel
from ._latent import latent
from ._paths import paths
from ._trace import trace

__all__ = ["check", "forecast", "imputed", "kernel", "latent", "paths", "trace"]
