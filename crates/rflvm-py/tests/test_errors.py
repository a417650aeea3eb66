"""Bad input: one sentence, of the right kind."""

import numpy as np
import pytest
from conftest import QUICK, estimator

import rflvm


def in_python(error):
    """One line, without words that only Rust or the program has."""
    odd = ("\n", "usize", "u64", "i64", "invalid type", "untagged", "latent-dim", "length-scale", "--", "column 96")
    return not any(word in str(error) for word in odd)


@pytest.mark.parametrize(
    "given, kind, words",
    [
        (dict(likelihood="poison"), ValueError, "unknown likelihood 'poison'; choose one of gaussian, poisson"),
        (dict(latent_dim=0), ValueError, "latent_dim is 0, but it must be between 1 and 12, the number of columns"),
        (dict(latent_dim=2.5), TypeError, "latent_dim is 2.5, but it must be a whole number"),
        (dict(latent_dim="automatic"), ValueError, "latent_dim is 'automatic', but it must be a whole number, 'auto', or 'auto:K'"),
        (dict(latent_dim=10**20), ValueError, "latent_dim is 100000000000000000000, but it must be between 1 and 12, the number of columns"),
        (dict(latent_dim=-1), ValueError, "latent_dim is -1, but it must not be negative"),
        (dict(latent_dim=True), TypeError, "latent_dim is True, but it must be a whole number"),
        (dict(latent_dim="auto:0"), ValueError, "latent_dim is 'auto:0'"),
        (dict(features=7), ValueError, "features is 7"),
        (dict(kernel="matern"), ValueError, "unknown kernel 'matern'; choose one of learned, rbf"),
        (dict(length_scale="long"), TypeError, "length_scale is 'long', but it must be a number"),
        (dict(length_scale=True), TypeError, "length_scale is True, but it must be a number"),
        (dict(length_scale=float("nan")), ValueError, "length_scale is nan, but it must be a finite number"),
        (dict(kernel="rbf", length_scale=-1.0), ValueError, "length_scale is -1"),
        (dict(features=10**12), ValueError, "features is 1000000000000, but it must be at most"),
        (dict(amplitude=-1.0), ValueError, "amplitude"),
        (dict(amplitude="much"), ValueError, "amplitude is 'much', but it must be a positive number, learned, shared or default"),
        (dict(priors=3), TypeError, "priors is 3, but it must be a mapping"),
        (dict(priors={"nosie": {"shape": 2, "rate": 1}}), ValueError, "priors cannot be read: unknown field `nosie`"),
        (dict(priors={"noise": {"shape": 2, "pooled": {}}}), ValueError, "priors cannot be read: give either pooled, or shape and rate"),
        (dict(priors={"noise": {"shape": "two", "rate": 1}}), ValueError, 'priors cannot be read: found string "two", expected a number'),
        (dict(priors={"noise": {"shape": -1, "rate": 1}}), ValueError, "priors.noise.shape is -1, but it must be a positive number"),
        (dict(priors={"intercept": float("nan")}), ValueError, "values must be finite numbers"),
        (dict(amplitude=2.0, priors={"amplitude": {"shared": {}}}), ValueError, "the priors have an amplitude too"),
        (dict(time_trend="yes"), TypeError, "time_trend is 'yes', but it must be True or False"),
        (dict(time_kernel=3), ValueError, "unknown time_kernel 3"),
        (dict(inducing=10**20), ValueError, "inducing is 100000000000000000000, but it must be at most"),
        (dict(likelihood=3), TypeError, "likelihood is 3, but it must be the name of a family"),
        (dict(likelihood={0: 3}), TypeError, "likelihood of column 0 is 3"),
        (dict(likelihood="binomial", trials=-1), ValueError, "trials is -1, but it must not be negative"),
        (dict(likelihood="binomial", trials=10**20), ValueError, "trials is 100000000000000000000, but it must be at most"),
        (dict(likelihood="binomial", trials=2.5), TypeError, "trials is 2.5, but it must be a whole number"),
        (dict(offset="sizes"), ValueError, "offset is 'sizes', but it must be None or 'size-factors'"),
        (dict(draws=0), ValueError, "draws is 0"),
        (dict(draws=10**18), ValueError, "draws is 1000000000000000000, but it must be at most"),
        (dict(draws=1e3), TypeError, "draws is 1000.0, but it must be a whole number"),
        (dict(chains=2, warmup=2**64), ValueError, "warmup is 18446744073709551616, but it must be at most"),
        (dict(thin=10**18), ValueError, "thin is 1000000000000000000, but it must be at most"),
        (dict(chains=10**9), ValueError, "chains is 1000000000, but it must be at most"),
        (dict(n_jobs=10**6), ValueError, "n_jobs is 1000000, but it must be at most"),
        (dict(n_jobs="all"), ValueError, "n_jobs is 'all'"),
        (dict(random_state=2**64), ValueError, "random_state is 18446744073709551616, but a seed is a whole number from 0 to"),
        (dict(random_state="x"), ValueError, "random_state is 'x', but it must be a whole number"),
        (dict(draws="many"), TypeError, "draws is 'many', but it must be a whole number"),
        (dict(warmup=-1), ValueError, "warmup is -1, but it must not be negative"),
        (dict(chains=0), ValueError, "chains is 0"),
        (dict(n_jobs=0), ValueError, "n_jobs is 0"),
        (dict(random_state=-4), ValueError, "random_state is -4"),
        (dict(keep=["gamma"]), ValueError, "gamma"),
        (dict(keep="beta"), TypeError, "keep is 'beta', but it must be a list of names"),
        (dict(store=3), TypeError, "store is 3, but it must be the path of a folder"),
        (dict(checkpoint=float("nan")), ValueError, "checkpoint is nan, but it must be a finite number"),
        (dict(init="here"), ValueError, "unknown init 'here'"),
        (dict(device=3), ValueError, "unknown device 3; it must be text"),
        (dict(device="gpu"), ValueError, "choose auto, cpu, cuda, or cuda:1 for the second card"),
        (dict(checkpoint=-1.0), ValueError, "checkpoint"),
        (dict(store="/dev/null/here"), OSError, "cannot be made"),
    ],
)
def test_parameters_are_checked_in_fit(curve, given, kind, words):
    model = estimator(**{"likelihood": "poisson", **QUICK, **given})
    with pytest.raises(kind, match=words) as caught:
        model.fit(curve.table)
    assert in_python(caught.value)


@pytest.mark.parametrize(
    "given, kind, words",
    [
        (dict(X=-1), ValueError, "Negative values"),
        (dict(X=0.5), ValueError, "row 1, column '1': .* is not a whole number"),
        (dict(X=np.inf), ValueError, "infinity"),
        (dict(mask=np.zeros((3, 3), dtype=bool)), ValueError, r"the mask has shape \(3, 3\), but the data need \(80, 12\)"),
        (dict(mask=np.zeros((80, 12))), TypeError, "mask holds float64"),
        (dict(offset=[1.0, 2.0]), ValueError, "the offset has 2 entries, but the table has 80 rows"),
        (dict(offset=["a"] * 80), TypeError, "offset does not hold numbers only"),
        (dict(offset=np.ones((40, 2))), ValueError, r"offset has the shape \(40, 2\)"),
        (dict(times=np.arange(80) * np.timedelta64(1, "s")), TypeError, "row 1: the time is a duration"),
        (dict(times=[np.datetime64("NaT")] * 80), ValueError, "row 1: the time is missing"),
        (dict(times=[1.0, 2.0]), ValueError, "times has 2 entries, but the table has 80 rows"),
        (dict(times=np.zeros(80)), ValueError, "all times are equal"),
        (dict(times=["soon"] * 80), ValueError, "row 1, column `time`"),
        (dict(sequences=["a"] * 80), ValueError, "sequences are given without times"),
        (dict(row_names=["a"]), ValueError, "row_names has 1 entries"),
    ],
)
def test_what_is_given_to_fit_is_checked(curve, given, kind, words):
    table = curve.table.copy()
    if "X" in given:
        table[0, 0] = given["X"]
    model = estimator(likelihood="poisson", **QUICK)
    with pytest.raises(kind, match=words) as caught:
        model.fit(table, **{name: value for name, value in given.items() if name != "X"})
    assert in_python(caught.value)


@pytest.mark.parametrize(
    "ask, kind, words",
    [
        (lambda m: m.transform(m._fit.table(), return_draws=10**20), ValueError, "return_draws is 100000000000000000000, but this fit has 60"),
        (lambda m: m.impute(draws=-1), ValueError, "draws is -1, but it must not be negative"),
        (lambda m: m.impute(draws=1.5), TypeError, "draws is 1.5, but it must be a whole number"),
        (lambda m: m.sample(-1), ValueError, "n_samples is -1"),
        (lambda m: m.sample(True), TypeError, "n_samples is True"),
        (lambda m: m.covariance([-1]), ValueError, "row is -1"),
        (lambda m: m.map(m._fit.table(), starts=0), ValueError, "starts is 0, but it must be at least 1"),
        (lambda m: m.resume(draws=10**20), ValueError, "draws is 100000000000000000000, but it must be at most"),
        (lambda m: m.resume(draws="more"), TypeError, "draws is 'more'"),
        (lambda m: m.forecast(horizon=-1), ValueError, "horizon is -1"),
        (lambda m: m.posterior_.log_likelihood(thin=0), ValueError, "thin is 0, but it must be at least 1"),
        (lambda m: m.to_arviz(thin=2.0), TypeError, "thin is 2.0"),
        (lambda m: rflvm.datasets.s_curve(-1, 3), ValueError, "rows is -1"),
        (lambda m: rflvm.datasets.s_curve(10, 3, seed=-1), ValueError, "seed is -1"),
    ],
)
def test_numbers_that_questions_are_given_are_checked(fitted, ask, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ask(fitted)
    assert in_python(caught.value)


def test_nothing_is_left_behind_by_what_cannot_be_fitted(curve, tmp_path):
    with pytest.raises(ValueError):
        estimator(likelihood="poisson", store=tmp_path / "fit", **QUICK).fit(curve.table + 0.5)
    assert not (tmp_path / "fit").exists()


def test_folders_without_a_fit(tmp_path):
    with pytest.raises(OSError, match="holds no fit"):
        rflvm.load(tmp_path)
    with pytest.raises(OSError, match="holds no fit"):
        rflvm.RFLVM(store=tmp_path).resume()
    with pytest.raises(ValueError, match="nothing to resume"):
        rflvm.RFLVM().resume()


@pytest.mark.filterwarnings("ignore::rflvm.ConvergenceWarning")
def test_a_damaged_store_is_told_by_its_file(curve, tmp_path):
    estimator(likelihood="poisson", store=tmp_path / "fit", **{**QUICK, "chains": 1}).fit(curve.table)
    chunk = next(f for f in (tmp_path / "fit" / "draws.zarr" / "posterior" / "x").iterdir() if f.name[0] == "0")
    chunk.write_bytes(chunk.read_bytes()[:-8])
    with pytest.raises(OSError, match="has .* bytes instead of"):
        rflvm.load(tmp_path / "fit")


@pytest.mark.filterwarnings("ignore")
def test_questions_that_have_no_answer(fitted, curve):
    with pytest.raises(ValueError, match="have no times"):
        fitted.forecast(horizon=2)
    with pytest.raises(ValueError, match="no cell of the table is missing"):
        fitted.impute(draws=61)
    with pytest.raises(ValueError, match="11 features"):
        fitted.transform(curve.table[:, :11])
    with pytest.raises(ValueError, match="the rows of this fit have no times"):
        fitted.transform(curve.table[:2], times=[0, 1])
    with pytest.raises(ValueError, match="number of axes of the places is 3"):
        fitted.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="rows of this fit are 0 to 79"):
        fitted.covariance([80])
    with pytest.raises(ValueError, match="no log-likelihood of each 'table'"):
        fitted.posterior_.log_likelihood("table")


def test_numbers_that_break_down_are_an_arithmetic_error():
    assert issubclass(rflvm.NumericalError, ArithmeticError)
