"""What drives columns, and what sets groups of rows apart."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import estimator

import rflvm

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def kinds():
    """Three kinds of 20 rows: the first three columns differ between them."""
    rng = np.random.default_rng(1)
    kind = np.repeat([0, 1, 2], 20)
    mean = np.stack([1.0 + kind, 3.0 - kind, 2.0 * (kind == 1), np.ones(60), np.ones(60)], axis=1)
    return kind, rng.poisson(np.exp(mean))


@pytest.fixture(scope="module")
def model(kinds):
    quick = dict(features=16, warmup=80, draws=60, chains=1, random_state=1, progress=False)
    return estimator(likelihood="poisson", **quick).fit(kinds[1])


def features(x, w):
    phase = x @ w.T
    return np.hstack([np.sin(phase), np.cos(phase)]) / np.sqrt(len(w))


def predictors(model, x=None):
    """F of the rows, or of other positions, in every draw, from the exported draws. These draws are not aligned."""
    numbers = [model._drawn.draws(f"posterior/{name}") for name in ("x", "w", "beta")]
    draws = zip(*(values.reshape(-1, *values.shape[2:]) for values in numbers))
    return np.array([np.hstack([features(own if x is None else x, w), np.ones((len(own), 1))]) @ beta for own, w, beta in draws])


def test_differences_are_those_of_the_groups_cells(kinds, model):
    kind, table = kinds
    names = np.array(["low", "middle", "high"])[kind]
    found = model.differences(names, between=("high", "low"), size=0.5).set_index("column")
    assert not (found["p_value"] < 0).any() and not (found["fdr"] > 1).any() and (found["fdr"] >= found["p_value"]).all()
    counts = dict(zip(model.columns_, table.T))
    for column, line in found.iterrows():
        of, against = (counts[column][kind == k].mean() for k in (2, 0))
        assert np.isclose(line["mean"], of, rtol=0.1) and np.isclose(line["mean_against"], against, rtol=0.1)
        assert np.isclose(line["data_difference"], line["mean"] - line["mean_against"])
        # A log ratio of means, but the mean of logarithms of rates that differ within a group.
        assert abs(line["difference"] - np.log(of / against)) < 0.4
        least = {False: line["q05"], True: -line["q95"]}[line["difference"] < 0]
        assert least < abs(line["difference"])
    least = np.maximum(found["q05"], -found["q95"])
    assert least.is_monotonic_decreasing
    adjusted = np.minimum.accumulate((found["p_value"].sort_values() * 5 / np.arange(1, 6))[::-1])
    assert np.allclose(found["fdr"], adjusted[found.index])
    assert set(found.index[:2]) == {model.columns_[0], model.columns_[1]}
    # The last two columns have the same mean in all kinds, and so has the third in these two.
    assert set(found.index[found["fdr"] <= 0.05]) == {model.columns_[0], model.columns_[1]}
    listed = model.differences(names, fdr=0.05)
    assert (listed["fdr"] <= 0.05).all() and set(listed["group"]) <= set(names) and set(listed["against"]) == {"rest"}


def test_labels_of_a_series_are_matched_by_its_index_and_missing_ones_are_left_out(kinds, model):
    import pandas

    kind, table = kinds
    rows = [f"r{n}" for n in range(60)]
    frame = pandas.DataFrame(table, index=rows, columns=list("abcde"))
    quick = dict(features=8, warmup=5, draws=10, chains=1, random_state=1, progress=False)
    named = estimator(likelihood="poisson", **quick).fit(frame)
    labels = pandas.Series(np.array(["x", "y", None], object)[kind], index=rows)
    shuffled = labels.sample(frac=1, random_state=3)
    pandas.testing.assert_frame_equal(named.differences(labels), named.differences(shuffled))
    assert set(named.differences(labels)["group"]) == {"x", "y"}
    with pytest.raises(ValueError, match="59 labels, but the fit has 60 rows"):
        named.differences(kind[:59])
    with pytest.raises(ValueError, match="neither a column nor a file"):
        named.differences("absent")


def test_effects_add_up_to_the_predictors(kinds, model):
    found = model.effects().set_index(["source", "column"])
    assert list(found.index.get_level_values(0).unique()) == ["map", "x1", "x2", "interaction"]
    variance = predictors(model).var(axis=1)
    for j, column in enumerate(model.columns_):
        line = found.loc[("map", column)]
        assert np.isclose(line["variance"], variance[:, j].mean()) and np.isclose(line["sd"], variance[:, j].std())
        assert np.isclose(line["share"], 1)
    # A step along an axis is what its gradient says.
    here, there = [0.1, -0.2], [0.1 + 1e-4, -0.2]
    gradient = model.effects(along=0, at=here).set_index("column")["gradient"]
    change = model.effects(path=[here, there]).set_index("column")["difference"]
    assert np.allclose(change[gradient.index] / 1e-4, gradient, rtol=1e-2, atol=1e-3)
    towards = model.effects(towards=there, at=here).set_index("column")["gradient"]
    assert np.allclose(towards[gradient.index], gradient)
    assert len(model.effects(path=[0, 30, 59])) == 5
    for wrong, words in [
        (dict(along=0, path=[0, 1]), "different questions"),
        (dict(at=0), "at is where"),
        (dict(along=7), "x1 to x2"),
        (dict(path=[0, 99]), "60 rows"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.effects(**wrong)


def test_groups_say_which_rows_lie_elsewhere(kinds, model):
    kind, _ = kinds
    labels = kind.copy()
    labels[0] = 2
    rows = model.groups(labels, k=6)
    assert rows.shape == (60, 6 + 3) and rows.loc[0, "standing"] == "elsewhere"
    assert np.allclose(rows[["P(0)", "P(1)", "P(2)"]].sum(axis=1), 1)
    # From the exported draws.
    x = model._drawn.draws("posterior/x").reshape(-1, 60, 2)
    distance = np.linalg.norm(x[:, :, None] - x[:, None], axis=-1) + 1e9 * np.eye(60)
    nearest = np.argsort(distance, axis=-1)[..., :6]
    assert np.allclose(rows["P(1)"], (labels[nearest] == 1).mean(axis=-1).mean(axis=0))
    summary = model.groups(labels, k=6, summary=True)
    assert list(summary["group"]) == ["0", "1", "2"] and list(summary["rows"]) == [19, 20, 21]


def test_the_program_and_python_give_the_same_answers(kinds, tmp_path):
    import pandas

    kind, table = kinds
    frame = pandas.DataFrame(table, columns=list("abcde")).assign(kind=np.array(["x", "y", "z"])[kind])
    frame.to_csv(tmp_path / "t.csv", index=False)

    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "rflvm", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    dir = tmp_path / "o"
    quick = "--likelihood poisson --features 8 --warmup 10 --draws 15 --chains 2 --seed 1 --no-report -q".split()
    run("fit", tmp_path / "t.csv", "--labels", "kind", *quick, "--out", dir)
    model = rflvm.load(dir)
    for command, answer in [
        (["effects"], model.effects()),
        (["effects", "--along", "x2"], model.effects(along=1)),
        (["effects", "--towards", "3", "--at", "0.5,0.5"], model.effects(towards=2, at=[0.5, 0.5])),
        (["effects", "--path", "1;7;0.5,0.5"], model.effects(path=[0, 6, [0.5, 0.5]])),
        (["differences", "--groups", "kind", "--size", "0.1"], model.differences("kind", size=0.1)),
        (["differences", "--groups", "kind", "--between", "x,z"], model.differences(frame["kind"], ("x", "z"))),
        (["groups", "--groups", "kind", "--neighbors", "5"], model.groups("kind", k=5)),
    ]:
        told = json.loads(run(command[0], dir, *command[1:], "--json"))["columns"]
        assert [column["name"] for column in told] == list(answer)
        for column in told:
            values = answer[column["name"]]
            if column["values"] and isinstance(column["values"][0], str):
                assert list(values) == column["values"]
            else:
                np.testing.assert_array_equal(values, np.array(column["values"], float))
