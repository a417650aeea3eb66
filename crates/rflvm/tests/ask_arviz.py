"""What ArviZ says of the chains in a file: a line a variable, ';' between chains, ',' between draws.

Needs ArviZ 0.21 or newer, 1.x included: 0.20 has another formula for the mcse of the sd.

Prints ArviZ's version, then for each line mean, sd, mcse of the mean, mcse of the sd, bulk size, tail size, R-hat.
"""

import logging
import sys
import warnings

# Few draws, draws that are all the same: the answers say it.
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import arviz as az
import numpy as np

# With numba installed, ArviZ 0.23 takes a path that NumPy 2.4 refuses.
if hasattr(az, "Numba"):
    az.Numba.disable_numba()

print(az.__version__)
for line in open(sys.argv[1]):
    chains = np.array([[float(draw) for draw in chain.split(",")] for chain in line.split(";")])
    said = [
        chains.mean(),
        chains.std(ddof=1),
        az.mcse(chains, method="mean"),
        az.mcse(chains, method="sd"),
        az.ess(chains, method="bulk"),
        # 1.x has no default for these on arrays.
        az.ess(chains, method="tail", prob=(0.05, 0.95)),
        az.rhat(chains, method="rank"),
    ]
    print(*map(float, said), sep=",")
