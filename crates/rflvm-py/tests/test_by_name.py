"""What is given besides a frame of pandas is matched to its rows and columns by name."""

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, estimator

import rflvm
from rflvm._given import Given

ROWS = 12


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=list("abc"), index=[f"r{n}" for n in range(ROWS)])


def prepared(frame, likelihood="gaussian", **given):
    return estimator(1, likelihood, **QUICK)._prepare(frame, Given(**given), None, False)


def test_rows_and_columns_of_a_mask_have_names(frame):
    mask = frame > 0.5
    for given in (mask, mask.iloc[::-1, ::-1], mask.to_numpy(), mask.reset_index(drop=True)):
        assert np.array_equal(np.isnan(prepared(frame, mask=given).table()), mask.to_numpy())
    with pytest.raises(ValueError, match="mask has no column 'c', which X has"):
        prepared(frame, mask=mask.rename(columns={"c": "z"}))


@pytest.mark.parametrize("index", [[f"r{n}" for n in range(ROWS)], range(ROWS), range(5, 5 + ROWS)])
def test_series_follow_the_index_of_the_table(frame, index):
    frame.index = index
    numbers = pd.Series(np.arange(ROWS) / 4, index=frame.index)
    shuffled = numbers.sample(frac=1, random_state=2)
    fit = prepared(frame, times=shuffled, sequences=shuffled // 2, offset=shuffled, covariates={"age": shuffled})
    assert [float(time) for time in fit.times] == list(numbers) and [float(name) for name in fit.sequences] == list(numbers // 2)
    assert list(fit.offset()) == list(numbers) and [float(cell) for cell in fit.covariates[0]] == list(numbers)
    assert [float(c) for c in prepared(frame, covariates=shuffled.to_frame("age")).covariates[0]] == list(numbers)
    # Without names, rows are matched by position.
    assert list(prepared(frame, offset=shuffled.to_numpy()).offset()) == list(shuffled)
    named = pd.Series(numbers.to_numpy(), index=[f"x{n}" for n in range(ROWS)])
    if isinstance(frame.index[0], str):
        with pytest.raises(ValueError, match=r"offset has no row 'r0', which X has; .*offset.to_numpy\(\)"):
            prepared(frame, offset=named)
    elif index == range(ROWS):
        assert list(prepared(frame, offset=named).offset()) == list(numbers)


def test_names_that_are_not_unique_match_only_in_the_same_order(frame):
    frame.index = ["r0"] * 2 + list(frame.index[2:])
    offset = pd.Series(np.arange(ROWS, dtype=float), index=frame.index)
    assert list(prepared(frame, offset=offset).offset()) == list(offset)
    with pytest.raises(ValueError, match="two are called 'r0'"):
        prepared(frame, offset=offset[::-1])


def test_trials_have_names(frame, rng):
    trials = pd.DataFrame(rng.integers(1, 9, size=frame.shape), index=frame.index, columns=frame.columns)
    counts = trials // 2
    prepared(counts, "binomial", trials=trials.iloc[::-1, ::-1])
    with pytest.raises(ValueError, match="column 'a'"):
        prepared(counts, "binomial", trials=trials.iloc[::-1, ::-1].to_numpy() - 8)


@pytest.mark.filterwarnings("ignore")
def test_true_values_are_matched_by_name_and_must_be_those_of_the_fit(frame, tmp_path):
    mask = np.zeros(frame.shape, dtype=bool)
    mask[::3, 1] = True
    model = estimator(1, **QUICK).fit(frame, mask=mask, store=tmp_path / "fit")
    scores = model.score_missing(frame)
    for known in (model, rflvm.load(tmp_path / "fit")):
        pd.testing.assert_frame_equal(known.score_missing(frame[::-1]), scores)
    pd.testing.assert_frame_equal(model.score_missing(frame.reset_index(drop=True)), scores)
    with pytest.raises(ValueError, match="X has no row 'r0', which the fitted table has"):
        model.score_missing(frame.rename(index={"r0": "x"}))
    with pytest.raises(ValueError, match=r"row 1, column 'a' is .*, but .* in the fitted table; .*units"):
        model.score_missing(frame.to_numpy()[::-1])
    with pytest.raises(ValueError, match="same units"):
        model.score_missing(1000 * frame)
    # pandas' own labels move with their rows.
    plain = frame.reset_index(drop=True)
    model = estimator(1, **QUICK).fit(plain, mask=mask)
    pd.testing.assert_frame_equal(model.score_missing(plain[::-1]), scores)
