"""Opens the stores `done` and `killed` as users do, and compares `summary.json` with the diagnostics of ArviZ for the same draws."""

import json
import math

import arviz as az
import numpy as np
import xarray as xr

# If numba is installed, ArviZ 0.23 uses code that fails with NumPy 2.4.
if hasattr(az, "Numba"):
    az.Numba.disable_numba()


def opened(name):
    tree = xr.open_datatree(f"{name}/draws.zarr", engine="zarr")
    return tree, az.InferenceData.from_datatree(tree) if hasattr(az, "InferenceData") else tree


tree, data = opened("done")
posterior = tree["posterior"]
assert dict(posterior.sizes)["chain"] == 2 and dict(posterior.sizes)["draw"] == 450, posterior.sizes
assert posterior["x"].dims == ("chain", "draw", "row", "latent")
assert posterior["z"].dtype.kind == "i" and posterior["draw"].dtype.kind == "i"
assert np.isfinite(posterior["x"].values).all() and np.isfinite(posterior["r"].values).all()
assert tree["observed_data"]["y"].shape == (60, 8) and np.isnan(tree["observed_data"]["y"].values).any()
assert list(tree["observed_data"]["column"].values)[0] == "y1"
f = tree["moments"]["f_mean"].values
assert f.shape == (2, 60, 8) and np.isfinite(f).all()
table = az.summary(data, var_names=["alpha", "distance", "f_cell"], round_to="none")
assert len(table) == 21, table

killed, partial = opened("killed")
draws = killed["posterior"].sizes["draw"]
assert 0 < draws <= 450 and np.isfinite(killed["posterior"]["x"].values).all(), draws
assert np.array_equal(killed["posterior"]["x"].values, posterior["x"].values[:, :draws])
az.summary(partial, var_names=["alpha"])

timed, _ = opened("timed")
paths = timed["posterior"]
assert paths["time"].dims == ("row",) and paths["time"].dtype.kind == "M", paths["time"]
assert str(paths["time"].values[0])[:10] == "2001-01-02", paths["time"].values[0]
assert list(paths["sequence"].values[:3]) == ["odd", "even", "odd"], paths["sequence"].values[:3]
assert paths["x"].coords["time"].identical(paths["time"]) and "sequence" in paths["x"].coords
scales = paths["length_scale"]
assert scales.dims == ("chain", "draw", "latent") and (scales.values > 0).all() and (paths["noise_share"].values < 1).all()
middle = np.exp(np.log(scales.values).mean(axis=2))
assert np.allclose(paths["time_scale"].values, middle)

with open("summary.json") as file:
    ours = {line["name"]: line for line in json.load(file)["quantities"]}
used = posterior.ds
checked = 0
for name, line in ours.items():
    variable, _, index = name.partition("[")
    group = tree["sample_stats"] if variable in ("lp", "log_likelihood") else posterior
    values = group[variable].values
    if index:
        values = values[:, :, int(index.split("]")[0])]
    for key, theirs in [("r_hat", az.rhat(values)), ("ess_bulk", az.ess(values, method="bulk")), ("mcse_mean", az.mcse(values, method="mean"))]:
        theirs = float(np.asarray(theirs))
        assert math.isclose(line[key], theirs, rel_tol=1e-6), (name, key, line[key], theirs)
        checked += 1
assert checked > 60, checked
print("ok", checked)
