"""AnnData in, and results where scanpy looks for them."""

import pickle
import re
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import QUICK, estimator, grouped

import rflvm

#: Fits as short as these say that they have not converged.
pytestmark = pytest.mark.filterwarnings("ignore::rflvm.ConvergenceWarning")
GROUP = np.repeat([0, 1], 40)
#: For tests that do not look at what was drawn.
SHORT = dict(chains=2, warmup=3, draws=3)


def make(kind=scipy.sparse.csr_matrix):
    """Two groups of cells, of different depth, that differ in half of the genes; two genes that no cell has."""
    rng = np.random.default_rng(5)
    level = np.where(rng.random((2, 30)) < 0.5, 1.0, 6.0)[GROUP]
    depth = rng.gamma(8.0, 1.0 / 8.0, size=(80, 1))
    counts = rng.poisson(level * depth).astype(np.float32)
    counts[:, [4, 17]] = 0
    adata = anndata.AnnData(kind(counts))
    adata.obs_names = [f"cell{n}" for n in range(80)]
    adata.var_names = [f"gene{j}" for j in range(30)]
    return adata


def fit(adata, *args, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rflvm.tl.fit(adata, *args, **grouped(**{**QUICK, **given}))


@pytest.fixture(scope="module")
def fitted_cells():
    adata = make()
    return adata, fit(adata)


def test_results_lie_where_scanpy_looks(fitted_cells):
    adata, model = fitted_cells
    np.testing.assert_array_equal(adata.obsm["X_rflvm"], model.embedding_)
    np.testing.assert_array_equal(adata.obsm["X_rflvm_std"], model.embedding_std_)
    assert adata.uns["rflvm"]["seed"] == 1 and adata.uns["rflvm"]["params"]["likelihood"] == "negative-binomial"
    assert adata.uns["rflvm"]["params"]["offset"] == "size-factors"
    assert adata.uns["rflvm"]["diagnostics"]["verdict"] == model.diagnostics_["verdict"]
    assert model.columns_ == list(adata.var_names[adata.var["rflvm_used"]])
    assert list(model.predict().index) == list(adata.obs_names)


def test_genes_that_no_cell_has_are_left_out_and_said():
    adata = make()
    with pytest.warns(UserWarning, match="2 of 30 genes are zero in all cells"):
        rflvm.tl.fit(adata, **grouped(**{**QUICK, **SHORT}))
    assert list(np.flatnonzero(~adata.var["rflvm_used"])) == [4, 17]


def test_it_is_the_fit_of_the_plain_table(fitted_cells):
    adata, model = fitted_cells
    table = np.delete(make(np.asarray).X, [4, 17], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = estimator(likelihood="negative-binomial", offset="size-factors", **QUICK).fit(table)
    np.testing.assert_array_equal(plain.embedding_, model.embedding_)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csc_matrix, scipy.sparse.csr_array])
def test_dense_and_sparse_counts_give_the_same(fitted_cells, kind):
    np.testing.assert_array_equal(fit(make(kind)).embedding_, fitted_cells[1].embedding_)


def test_what_was_written_survives_a_file(tmp_path):
    adata = make()
    fit(adata, store=tmp_path / "fit", key_added="bent", keep=("w", "beta", "theta"), **{**SHORT, "chains": 1})
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obsm["X_bent"], adata.obsm["X_bent"])
    assert again.var["bent_used"].sum() == 28
    told, before = again.uns["bent"], adata.uns["bent"]
    assert told["seed"] == 1 and told["params"]["model"]["features"] == 20 and told["params"]["store"] == str(tmp_path / "fit")
    assert list(told["params"]["sampling"]["keep"]) == ["w", "beta", "theta"]
    assert list(told["diagnostics"]["quantities"]["name"]) == list(before["diagnostics"]["quantities"]["name"])
    # One chain has no R̂.
    assert np.isnan(told["diagnostics"]["quantities"]["r_hat"]).all()
    np.testing.assert_array_equal(rflvm.load(tmp_path / "fit").embedding_, again.obsm["X_bent"])


def test_scanpy_finds_the_two_groups(fitted_cells):
    sc = pytest.importorskip("scanpy")
    pytest.importorskip("leidenalg")
    adata = fitted_cells[0].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.pp.neighbors(adata, use_rep="X_rflvm", random_state=0)
        sc.tl.leiden(adata, resolution=0.1, flavor="igraph", n_iterations=2, directed=False, random_state=0)
    assert pd.crosstab(adata.obs["leiden"], GROUP).to_numpy().max(axis=1).sum() >= 78
    assert adata.obs["leiden"].nunique() == 2


def test_counts_may_be_a_layer(fitted_cells):
    adata = make()
    adata.layers["raw"] = adata.X.copy()
    adata.X = np.log1p(adata.X.toarray())
    np.testing.assert_array_equal(fit(adata, layer="raw").embedding_, fitted_cells[1].embedding_)
    assert adata.uns["rflvm"]["params"]["layer"] == "raw"


def test_what_is_not_counts_is_refused():
    adata = make()
    adata.layers["umi"] = adata.X.copy()
    adata.X = adata.X.log1p()
    with pytest.raises(ValueError, match=r"adata.X does not hold counts but numbers such as .* with rflvm.tl.fit\(adata, layer='umi'\)"):
        fit(adata)
    adata.layers["scaled"] = adata.layers["umi"].toarray() - 1.0
    with pytest.raises(ValueError, match="layer 'scaled' does not hold counts but numbers such as -1"):
        fit(adata, layer="scaled")
    with pytest.raises(KeyError, match="no layer 'counts'; there are umi, scaled"):
        fit(adata, layer="counts")
    assert "X_rflvm" not in adata.obsm and "rflvm" not in adata.uns


def test_numbers_without_counts_are_fitted_as_they_are_by_the_message_alone():
    adata = make()
    adata.X = adata.X.log1p()
    with pytest.raises(ValueError) as caught:
        fit(adata)
    assert str(caught.value).endswith("with rflvm.tl.fit(adata, likelihood='gaussian')")
    counts = make()
    adata.raw = counts
    with pytest.raises(ValueError, match=r"rflvm.tl.fit\(adata.raw.to_adata\(\)\)"):
        fit(adata)


@pytest.mark.parametrize("where", ["X", "layer", "raw", "nowhere"])
def test_a_newcomer_gets_from_the_estimator_to_a_fit_in_two_commands(where):
    """What `RFLVM().fit(adata)` says is a command that fits."""
    adata = make()
    if where == "layer":
        adata.layers["counts"] = adata.X.copy()
    if where == "raw":
        adata.raw = adata.copy()
    if where != "X":
        adata.X = adata.X.log1p()
    with pytest.raises(TypeError) as caught:
        estimator(**QUICK).fit(adata)
    sentence = str(caught.value)
    assert sentence.startswith("X is an AnnData; fit it with model = rflvm.tl.fit(") and "\n" not in sentence
    command = re.search(r"rflvm\.tl\.fit\(.*\)(?=,)", sentence).group()
    names = {"rflvm": rflvm, "adata": adata}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = eval(command[:-1] + ", **settings)", {**names, "settings": grouped(**{**QUICK, **SHORT})})
    assert model.embedding_.shape == (80, 2) and (where == "raw" or "X_rflvm" in adata.obsm)
    with pytest.raises(TypeError, match=r"rflvm.tl.transform\(adata, model\)"):
        model.transform(adata)


def test_what_comes_before_a_fit_is_said_in_the_same_sentence(tmp_path):
    adata = make()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.var_names = ["gene"] * 30
    with pytest.raises(TypeError, match=r"fit it with adata.var_names_make_unique\(\); model = rflvm.tl.fit\(adata\), which"):
        rflvm.RFLVM().fit(adata)
    with pytest.raises(TypeError, match=r"fit it with model = rflvm.tl.fit\(adata\), which"):
        rflvm.RFLVM().fit(anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r"))


def test_answers_about_sparse_cells_are_frames_of_their_own_kind(fitted_cells):
    adata, model = fitted_cells
    filled = model.impute()
    assert (filled.dtypes == model.impute(adata.to_df()[model.columns_].astype(pd.SparseDtype("float32", 0.0))).dtypes).all()
    np.testing.assert_array_equal(filled.to_numpy(), adata.to_df()[model.columns_].to_numpy())


# New cells.


def test_new_cells_are_placed_by_name_wherever_their_genes_are(fitted_cells):
    adata, model = fitted_cells
    rng = np.random.default_rng(3)
    new = make()[rng.permutation(80)[:12]].copy()
    new.X = new.X.toarray() + 1.0
    extra = anndata.AnnData(np.ones((12, 3), dtype=np.float32), obs=new.obs, var=pd.DataFrame(index=["other1", "other2", "other3"]))
    wide = anndata.concat([new, extra], axis=1)[:, rng.permutation(33)].copy()
    assert rflvm.tl.transform(wide, model) is None
    used = list(adata.var_names[adata.var["rflvm_used"]])
    frame = new.to_df()[used]
    mean, std = model.transform(frame, return_std=True)
    np.testing.assert_array_equal(wide.obsm["X_rflvm"], mean)
    np.testing.assert_array_equal(wide.obsm["X_rflvm_std"], std)
    np.testing.assert_array_equal(wide.obs["rflvm_outlier_score"], model.outlier_score(frame))
    assert set(wide.var_names[wide.var["rflvm_used"]]) == set(used)
    # Cells of the fit are where they were.
    same = make()
    rflvm.tl.transform(same, model, key_added="again")
    np.testing.assert_array_equal(same.obsm["X_again"], adata.obsm["X_rflvm"])


def test_new_cells_are_read_as_those_of_the_fit_were(tmp_path):
    adata = make()
    adata.layers["counts"] = adata.X.copy()
    adata.X = adata.X.log1p()
    adata.var["chosen"] = np.arange(30) < 12
    model = fit(adata, layer="counts", mask_var="chosen", store=tmp_path / "fit", key_added="bent", **SHORT)
    new = adata[:6].copy()
    new.layers["counts"] = new.layers["counts"] + scipy.sparse.csr_matrix(np.ones((6, 30)))
    totals = np.asarray(new.layers["counts"].sum(axis=1)).ravel()
    offset = np.log(totals / adata.uns["bent"]["mean_total"])
    frame = pd.DataFrame(new.layers["counts"].toarray(), columns=new.var_names)[model.columns_]
    expected = model.transform(frame, offset=offset)
    for reference in (model, adata, rflvm.load(tmp_path / "fit"), pickle.loads(pickle.dumps(model))):
        cells = new.copy()
        rflvm.tl.transform(cells, reference)
        np.testing.assert_array_equal(cells.obsm["X_bent"], expected)
    with pytest.raises(ValueError, match="adata.X does not hold counts"):
        rflvm.tl.transform(new, model, layer="X")
    del new.layers["counts"]
    with pytest.raises(KeyError, match="adata has no layer 'counts'"):
        rflvm.tl.transform(new, model)


def test_offsets_of_new_cells_follow_the_rule_of_the_fit():
    adata = make()
    adata.obs["depth"] = np.linspace(1.0, 2.0, 80)
    model = fit(adata, offset="depth", **SHORT)
    new = adata[:5].copy()
    rflvm.tl.transform(new, model)
    expected = model.transform(new.to_df()[model.columns_], offset=np.log(new.obs["depth"].to_numpy() / adata.uns["rflvm"]["mean_total"]))
    np.testing.assert_array_equal(new.obsm["X_rflvm"], expected)
    own = fit(adata, offset=np.zeros(80), **SHORT)
    with pytest.raises(ValueError, match="give those of the new rows too"):
        rflvm.tl.transform(new, own)
    rflvm.tl.transform(new, own, offset=np.zeros(5))
    plain = fit(adata, offset=None, **SHORT)
    rflvm.tl.transform(new, plain)


def test_cells_that_cannot_be_placed_are_refused(fitted_cells):
    adata, model = fitted_cells
    with pytest.raises(ValueError, match=r"adata lacks 2 of the 28 genes of the fit: 'gene0', 'gene7'; .*here \('gene1'\) and there \('gene0'\)"):
        rflvm.tl.transform(adata[:, [j for j in range(30) if j not in (0, 7)]].copy(), model)
    twice = make()
    twice.var_names = ["gene1" if name == "gene2" else name for name in twice.var_names]
    with pytest.raises(ValueError, match="two genes are called 'gene1'; run adata.var_names_make_unique"):
        rflvm.tl.transform(twice, model)
    with pytest.raises(ValueError, match="not the fit itself; give the model that rflvm.tl.fit returned"):
        rflvm.tl.transform(make(), adata)
    with pytest.raises(ValueError, match="was not fitted"):
        rflvm.tl.transform(make(), make())
    with pytest.raises(TypeError, match="reference is a int"):
        rflvm.tl.transform(make(), 3)


def test_real_values_are_fitted_as_such():
    adata = make()
    adata.X = adata.X.log1p()
    model = fit(adata, likelihood="gaussian", **SHORT)
    assert model.offset is None and adata.var["rflvm_used"].all()


def test_a_mask_chooses_genes_and_all_genes_tell_the_depth():
    adata = make()
    adata.var["highly_variable"] = np.arange(30) < 10
    model = fit(adata, 1, mask_var="highly_variable", **SHORT)
    assert model.columns_ == [f"gene{j}" for j in range(10) if j != 4] and adata.obsm["X_rflvm"].shape == (80, 1)
    totals = np.asarray(adata.X.sum(axis=1), dtype=float).ravel()
    np.testing.assert_allclose(model._fit.offset(), np.log(totals / totals.mean()))
    assert adata.uns["rflvm"]["mean_total"] == pytest.approx(totals.mean())
    other = make()
    assert fit(other, 1, mask_var=np.arange(30) < 10, **SHORT).columns_ == model.columns_


def test_offsets_may_be_a_column_numbers_or_none():
    adata = make()
    adata.obs["total_counts"] = np.linspace(100.0, 200.0, 80)
    expected = np.log(adata.obs["total_counts"] / 150.0)
    np.testing.assert_allclose(fit(adata, offset="total_counts", **SHORT)._fit.offset(), expected)
    np.testing.assert_allclose(fit(adata, offset=expected.to_numpy(), **SHORT)._fit.offset(), expected)
    assert (fit(adata, offset=None, **SHORT)._fit.offset() == 0).all() and "mean_total" not in adata.uns["rflvm"]


def test_what_cannot_be_fitted_is_refused():
    adata = make()
    with pytest.raises(KeyError, match="run sc.pp.highly_variable_genes first"):
        fit(adata, mask_var="highly_variable")
    with pytest.raises(ValueError, match="True or False for each of 30 genes"):
        fit(adata, mask_var=[True, False])
    with pytest.raises(KeyError, match="offset is 'depth'"):
        fit(adata, offset="depth")
    with pytest.raises(ValueError, match="no gene is left"):
        fit(adata, mask_var=np.arange(30) == 4)
    with pytest.raises(TypeError, match="must be an AnnData"):
        fit(np.ones((3, 3)))
    with pytest.raises(TypeError, match="resolution"):
        fit(adata, resolution=1.0)
    adata.X = adata.X.toarray()
    adata.X[3] = 0
    with pytest.raises(ValueError, match="'cell3' is the first"):
        fit(adata)
    twice = make()
    twice.var_names = ["gene"] * 30
    with pytest.raises(ValueError, match="var_names_make_unique"):
        fit(twice)


def test_batches_that_lie_apart_are_told():
    adata = make()[:, np.setdiff1d(np.arange(30), [4, 17])].copy()
    adata.obs["lab"] = pd.Categorical(GROUP.astype(str))
    adata.obs["plate"] = np.tile(["a", "b"], 40)
    with pytest.warns(UserWarning, match="batches are separated: .* compared with 49% by chance"):
        rflvm.tl.fit(adata, batch_key="lab", correct_batch=False, **grouped(**QUICK))
    assert adata.uns["rflvm"]["batch"]["key"] == "lab" and adata.uns["rflvm"]["batch"]["same"] > 0.9
    fit(adata, batch_key="plate")
    assert abs(adata.uns["rflvm"]["batch"]["same"] - 0.5) < 0.25
    with pytest.raises(KeyError, match="batch_key is 'site', which is not a column of adata.obs; there are lab, plate"):
        fit(adata, batch_key="site")


def test_neighbors_lie_where_scanpy_looks(fitted_cells):
    adata, model = fitted_cells
    rflvm.tl.neighbors(adata, model, n_neighbors=5)
    edges = model.neighbors(5)
    assert adata.uns["neighbors"]["connectivities_key"] == "connectivities"
    graph, away = adata.obsp["connectivities"], adata.obsp["distances"]
    assert (graph != graph.T).nnz == 0 and graph.max() <= 1 and graph.min() >= 0
    first = edges.iloc[0]
    assert away[int(first.row), int(first.neighbor)] == first.distance
    # Each cell has five neighbors in every draw, so their probabilities sum to five, but for those below one in twenty.
    assert edges.groupby("row").probability.sum().max() <= 5 + 1e-9
    # The distances are those of `distances`, which are means over the same draws.
    pairs = [(int(first.row), int(first.neighbor)), (3, 7)]
    frame = model.distances(pairs)
    whole = model.distances()
    np.testing.assert_allclose(frame["mean"], [whole[a, b] for a, b in pairs])
    assert (frame.q05 <= frame.q50).all() and (frame.q50 <= frame.q95).all()
    with pytest.raises(ValueError, match="give the cells that were fitted"):
        rflvm.tl.neighbors(adata[:7].copy(), model)
