"""Two successors from the authors' group, run from clones of their public code, which is not part of this repository:

    advised   advisedRFLVM, https://github.com/zhidilin/advisedGPLVM (Li, Lin, Yin and Zhang, ICML 2024), folder `advisedGPLVM`
    scalable  SRFLVM, https://github.com/yingli1998/SRFLVM (2024), folder `SRFLVM`

Both are run as their main scripts run them: scaling of the table, settings, optimiser and number of iterations. What today's torch no
longer has is put back under its old name; what the second clone uses but does not define is defined here, and named below.
RFLVM_DEVICE=cuda runs the first on a GPU; the seconds are then not those of a processor.
"""

import os
import random
import sys
import types
from pathlib import Path

import numpy as np

SETTINGS = {"num_m": 2, "num_sample_pt": 25, "num_total_pt": 50, "num_batch": 1, "lr_hyp": 0.01, "noise_err": 100.0, "kl_option": True}


def clone(name, address):
    """Puts the clone on the path, or says what is missing."""
    folder = Path(os.environ.get("RFLVM_PEERS", "")) / name
    if "RFLVM_PEERS" not in os.environ or not folder.exists():
        raise SystemExit(f"not found: clone {address} into a folder, and name that folder with --peers")
    sys.path.insert(0, str(folder))


def today(seed):
    """torch, with the functions that the clones call and that it has renamed since; all seeds set."""
    import torch

    torch.cholesky = torch.linalg.cholesky
    torch.triangular_solve = lambda right, matrix, upper=True: (torch.linalg.solve_triangular(matrix, right, upper=upper),)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return torch


def chosen(y, dim):
    """The settings of both main scripts."""
    return SETTINGS | {"latent_dim": dim, "N": y.shape[0], "M": y.shape[1]}


def advised(y, dim, seed, iterations):
    """Positions after experiments/main.py of advisedGPLVM."""
    y = y / np.linalg.norm(y)
    return trained(y, dim, seed, iterations, SETTINGS["num_sample_pt"]).mu_x.detach().cpu().numpy()


def advised_cells(y, dim, seed, iterations):
    """Every cell of a table with holes (NaN), after experiments/missing_imputation.py of advisedGPLVM: holes are filled with a constant, there 0
    for pixels and here the mean of the column's other cells, and are then predicted like the rest. It has twice the features of main.py. Columns
    are centred, and the table is scaled as in main.py: with cells of spread 1 instead the errors were far larger."""
    centre = np.nanmean(y, axis=0)
    filled = np.where(np.isnan(y), 0.0, y - centre)
    scale = np.linalg.norm(filled)
    model = trained(filled / scale, dim, seed, iterations, 2 * SETTINGS["num_sample_pt"])
    return model.f_eval(batch_y=filled / scale)[0].detach().cpu().numpy() * scale + centre


def trained(y, dim, seed, iterations, points):
    """The model of both scripts of advisedGPLVM, after their loop."""
    clone("advisedGPLVM", "https://github.com/zhidilin/advisedGPLVM")
    torch = today(seed)
    from models.gp_rff import RFF_GPLVM

    device = os.environ.get("RFLVM_DEVICE", "cpu")
    model = RFF_GPLVM(1, points, chosen(y, dim), y, device=device).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr_hyp"])
    for _ in range(iterations + 1):
        optimiser.zero_grad()
        model.compute_loss(batch_y=y, kl_option=True).backward()
        optimiser.step()
    return model


def scalable(y, dim, seed, iterations):
    """Positions after main.py of SRFLVM. Its model imports a module that is not in the clone, of which it needs the logarithm of a
    triangular matrix's determinant, and reads an undefined name, `X_init`, which can only mean no given start."""
    clone("SRFLVM", "https://github.com/yingli1998/SRFLVM")
    torch = today(seed)
    helper = types.ModuleType("models_utility.function_gp")
    helper.lt_log_determinant = lambda lower: torch.log(torch.diagonal(lower)).sum()
    sys.modules |= {"models_utility": types.ModuleType("models_utility"), "models_utility.function_gp": helper}
    from models import gp_rff_dp

    gp_rff_dp.X_init = None
    y = y / 255.0
    model = gp_rff_dp.RFF_GPLVM(1, SETTINGS["num_sample_pt"], chosen(y, dim), y, device="cpu")
    optimiser = torch.optim.Adam([p for name, p in model.named_parameters() if name != "Z_phi"], lr=SETTINGS["lr_hyp"])
    assignments = torch.optim.Adam([model.Z_phi], lr=0.001)
    for _ in range(iterations + 1):
        optimiser.zero_grad()
        model.compute_loss(batch_y=y, kl_option=True).backward()
        optimiser.step()
        assignments.zero_grad()
        model.compute_zphi_loss(batch_y=y).backward()
        assignments.step()
        model.inference_v()
        model.inference_alpha()
    return model.mu_x.detach().numpy()
