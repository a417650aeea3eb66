"""ArviZ reads what was drawn."""

import numpy as np
import pytest

az = pytest.importorskip("arviz")
pytestmark = pytest.mark.filterwarnings("ignore")


def test_summaries_and_their_names(fitted):
    data = fitted.to_arviz()
    table = az.summary(data, var_names=["alpha", "x"])
    assert "alpha" in table.index and len(table) == 1 + fitted.embedding_.size
    posterior = data["posterior"]
    assert posterior["x"].dims == ("chain", "draw", "row", "axis") and posterior["beta"].dims[2:] == ("feature", "column")
    # Positions are not the mean of aligned draws, but their spread is about them.
    away = posterior["x"] - fitted.embedding_
    assert np.allclose(np.sqrt((away**2).mean(("chain", "draw"))), fitted.embedding_std_)


def test_leaving_out_cells_and_rows(fitted, curve):
    data = fitted.to_arviz(log_likelihood="cell")
    cells = data["log_likelihood"]["y"]
    assert cells.sizes["observed"] == curve.table.size
    # The pieces of a draw add up to what the sampler said of it, but for what does not depend on F.
    total = fitted.posterior_.log_likelihood("cell").sum(axis=(2, 3))
    spread = total - fitted.posterior_["log_likelihood"]
    assert np.allclose(spread, spread[0, 0], atol=1e-6 * np.abs(total).max())
    told = az.loo(data)
    # ArviZ 0 calls it elpd_loo, ArviZ 1 elpd.
    assert np.isfinite(float(told.elpd_loo if hasattr(told, "elpd_loo") else told.elpd))
    rows = fitted.to_arviz(log_likelihood="row", thin=3)
    assert rows["log_likelihood"]["y"].shape == (2, 10, 80) and rows["posterior"].sizes["draw"] == 10


def test_draws_by_name(fitted):
    posterior = fitted.posterior_
    assert posterior["x"].shape == (2, 30, 80, 2) and "alpha" in posterior and len(posterior) > 10
    assert posterior.dims("beta") == ["chain", "draw", "feature", "column"]
    with pytest.raises(KeyError, match="there are no draws of 'nothing'"):
        posterior["nothing"]
