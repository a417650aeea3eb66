"""Pictures show what the fit says: not only that they are drawn, but what is in them."""

import copy
import datetime
import re
import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import QUICK, estimator
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.offsetbox import AnchoredOffsetbox, TextArea
from matplotlib.patches import Rectangle, StepPatch
from scipy.stats import chi2, norm, rankdata

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import rflvm
from rflvm import plot
from rflvm._colour import GREY, PALETTE, classes

DAYS = [datetime.date(2001, 5, 30) + datetime.timedelta(days=2 * n) for n in range(20)]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def fit(table, *args, likelihood="poisson", **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(*args, likelihood=likelihood, **QUICK).fit(table, **given)


@pytest.fixture(scope="module")
def dated(curve):
    """Two sequences on the same days, with holes in the second column."""
    table = curve.table[:40].astype(float)
    table[5:15, 1] = np.nan
    frame = pd.DataFrame(table, columns=[f"gene {j}" for j in range(table.shape[1])])
    return fit(frame, times=DAYS + DAYS, sequences=["a"] * 20 + ["b"] * 20)


@pytest.fixture(scope="module")
def numbered(curve):
    return fit(curve.table[:30], times=np.arange(30.0)[::-1])


@pytest.fixture(scope="module")
def one(curve):
    return fit(curve.table[:40], 1)


def of_kind(ax, kind):
    return [artist for artist in ax.collections if type(artist) is kind]


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# Positions.


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_ellipses_hold_their_share_of_a_gaussian(fitted, level):
    ax = plot.latent(fitted, level=level)
    (ellipses,) = of_kind(ax, PolyCollection)
    assert len(ellipses.get_paths()) == 80
    for mean, covariance, path in zip(fitted.embedding_, fitted.embedding_cov_, ellipses.get_paths()):
        away = path.vertices[:-1] - mean
        squared = np.einsum("id,de,ie->i", away, np.linalg.inv(covariance), away)
        np.testing.assert_allclose(squared, chi2.ppf(level, 2), rtol=1e-6)


def test_points_are_the_means_and_axes_have_one_scale(fitted):
    ax = plot.latent(fitted)
    (points,) = of_kind(ax, PathCollection)
    np.testing.assert_array_equal(points.get_offsets(), fitted.embedding_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("latent axis 1", "latent axis 2")
    assert ax.get_aspect() == 1.0 and ax.get_legend() is None
    swapped = plot.latent(fitted, axes=(1, 0), level=None)
    np.testing.assert_array_equal(of_kind(swapped, PathCollection)[0].get_offsets(), fitted.embedding_[:, ::-1])
    assert swapped.get_xlabel() == "latent axis 2" and not of_kind(swapped, PolyCollection)


def test_all_ellipses_are_within_the_picture(fitted):
    ax = plot.latent(fitted)
    corners = np.concatenate([path.vertices for path in of_kind(ax, PolyCollection)[0].get_paths()])
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    assert (corners >= low).all() and (corners <= high).all()


def test_labels_have_colours_shapes_and_a_legend_in_their_order(fitted):
    labels = ["class 10", "class 2"] * 40
    ax = plot.latent(fitted, labels=labels)
    first, second = of_kind(ax, PathCollection)
    assert texts(ax) == ["class 2", "class 10"]
    assert [to_hex(points.get_facecolor()[0]) for points in (first, second)] == list(PALETTE[:2])
    np.testing.assert_array_equal(first.get_offsets(), fitted.embedding_[1::2])
    assert not np.array_equal(first.get_paths()[0].vertices, second.get_paths()[0].vertices)
    edges = of_kind(ax, PolyCollection)[0].get_edgecolor()
    np.testing.assert_allclose(edges[:, :3], [to_rgba(PALETTE[1])[:3], to_rgba(PALETTE[0])[:3]] * 40)


def test_a_class_keeps_its_colour_when_rows_are_shuffled(rng):
    labels = np.array(["b", "a", "c", "a", "b"])
    shuffled = labels[rng.permutation(5)]
    assert [(c.name, c.colour) for c in classes(labels)] == [(c.name, c.colour) for c in classes(shuffled)]


def test_classes_go_by_category_then_rare_ones_then_none():
    sizes = pd.Categorical(["large", "small", None, "small"], categories=["small", "large", "unseen"])
    assert [(c.name, list(c.rows)) for c in classes(sizes)] == [("small", [1, 3]), ("large", [0]), ("(no label)", [2])]
    assert [c.name for c in classes(pd.Series(sizes))] == ["small", "large", "(no label)"]
    many = [str(c) for c in range(20) for _ in range(20 - c)]
    found = classes(many)
    assert [c.name for c in found] == [str(c) for c in range(11)] + ["other"]
    assert found[-1].colour == GREY and sum(len(c.rows) for c in found) == len(many)
    assert [c.name for c in classes([2.0, 10.0, float("nan")])] == ["2.0", "10.0", "(no label)"]


def test_values_have_a_colour_bar(fitted, curve):
    values = pd.Series(curve.along, name="along")
    values[3] = np.nan
    ax = plot.latent(fitted, values=values)
    (points,) = of_kind(ax, PathCollection)
    shown = np.ma.filled(points.get_array().astype(float), np.nan)
    np.testing.assert_array_equal(shown, values)
    assert points.get_clim() == (np.nanmin(values), np.nanmax(values))
    bar = ax.figure.axes[-1]
    assert bar is not ax and bar.get_ylabel() == "along"
    ax.figure.canvas.draw()
    assert to_hex(points.get_facecolor()[3]) == GREY


def test_values_may_be_a_column_of_the_table(fitted, curve):
    points = of_kind(plot.latent(fitted, values=2, legend=False), PathCollection)[0]
    np.testing.assert_array_equal(points.get_array(), curve.table[:, 2])


def test_one_axis_is_shown_with_intervals(one):
    ax = plot.latent(one, level=0.8)
    (lines,) = of_kind(ax, LineCollection)
    ends = np.array(lines.get_segments())
    np.testing.assert_allclose(ends[:, 0, 0], one.embedding_[:, 0] - norm.ppf(0.9) * one.embedding_std_[:, 0])
    np.testing.assert_allclose(ends[:, 1, 0], one.embedding_[:, 0] + norm.ppf(0.9) * one.embedding_std_[:, 0])
    places = of_kind(ax, PathCollection)[0].get_offsets()
    assert (np.diff(places[np.argsort(places[:, 1]), 0]) >= 0).all()
    assert ax.get_ylabel() == "rows, in order of position"


def test_drawing_goes_where_it_is_asked_to(fitted):
    _, (left, right) = plt.subplots(1, 2, sharex=True, sharey=True)
    assert plot.latent(fitted, ax=right, s=7.0) is right
    assert not left.collections and of_kind(right, PathCollection)[0].get_sizes()[0] == 7.0
    right.figure.canvas.draw()


@pytest.mark.parametrize(
    "given, sentence",
    [
        (dict(labels=["a"] * 3), "labels has 3 entries, but the fit has 80 rows"),
        (dict(values=[1.0]), "values has the shape"),
        (dict(values=[1.0] * 80, labels=["a"] * 80), "choose one of them"),
        (dict(axes=(0, 2)), "axes of this fit are 0 to 1"),
        (dict(axes=(0, 1, 1)), "one or two axes; axes='pairs'"),
        (dict(axes="all"), "'pairs', or '3d'"),
        (dict(axes="3d"), "this fit has 2 latent axes"),
        (dict(level=90), "a fraction between 0 and 1"),
        (dict(values="height"), "the fit has no such column"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fitted, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        plot.latent(fitted, **given)


def many(fitted, rng, rows):
    """A model with a given number of rows, for its positions only."""
    model = copy.copy(fitted)
    model.embedding_ = rng.normal(size=(rows, 2))
    model.embedding_cov_ = np.tile([[0.04, 0.01], [0.01, 0.02]], (rows, 1, 1))
    return model


def test_few_rows_have_ellipses_and_many_a_typical_one(fitted, rng):
    assert len(of_kind(plot.latent(many(fitted, rng, 100)), PolyCollection)[0].get_paths()) == 100
    ax = plot.latent(many(fitted, rng, 400))
    assert not of_kind(ax, PolyCollection)
    (corner,) = [artist for artist in ax.artists if isinstance(artist, AnchoredOffsetbox)]
    words, box = corner.get_child().get_children()
    words, box = (words, box) if isinstance(words, TextArea) else (box, words)
    assert words.get_text() == "90% of a typical row"
    away = box.get_children()[0].get_xy()[:-1]
    squared = np.einsum("id,de,ie->i", away, np.linalg.inv([[0.04, 0.01], [0.01, 0.02]]), away)
    np.testing.assert_allclose(squared, chi2.ppf(0.9, 2), rtol=1e-6)
    assert not [artist for artist in plot.latent(many(fitted, rng, 400), level=None).artists if isinstance(artist, AnchoredOffsetbox)]


def test_thousands_of_rows_are_small_faint_and_an_image_in_vector_files(fitted, rng):
    labels = np.array(["a", "b"] * 10_000)
    model = many(fitted, rng, 20_000)
    ax = plot.latent(model, labels=labels)
    points, *marks = of_kind(ax, PathCollection)
    assert len(points.get_offsets()) == 20_000 and points.get_rasterized() and points.get_sizes()[0] < 5
    assert points.get_facecolor()[0, 3] < 0.5 and [mark.get_label() for mark in marks] == ["a", "b"] and texts(ax) == ["a", "b"]
    # In no order, so that no class covers the other; and each point has its own colour.
    where = {tuple(place): n for n, place in enumerate(model.embedding_)}
    order = [where[tuple(place)] for place in points.get_offsets()]
    assert (np.diff(order) < 0).any()
    np.testing.assert_allclose(points.get_facecolor()[:50, :3], [to_rgba(PALETTE[0 if labels[n] == "a" else 1])[:3] for n in order[:50]])


def test_three_axes_are_pairs_or_a_space(curve):
    three = fit(curve.table[:40], 3)
    axs = plot.latent(three, axes="pairs", labels=["a", "b"] * 20)
    assert [(ax.get_xlabel()[-1], ax.get_ylabel()[-1]) for ax in axs] == [("1", "2"), ("1", "3"), ("2", "3")]
    shown = np.concatenate([points.get_offsets() for points in of_kind(axs[1], PathCollection)])
    np.testing.assert_array_equal(shown, np.concatenate([three.embedding_[::2][:, [0, 2]], three.embedding_[1::2][:, [0, 2]]]))
    assert texts(axs[2]) == ["a", "b"] and axs[0].get_legend() is None
    axs[0].figure.canvas.draw()
    space = plot.latent(three, axes="3d", values=curve.along[:40])
    (points,) = space.collections
    np.testing.assert_array_equal(np.column_stack(points._offsets3d), three.embedding_)
    assert space.get_zlabel() == "latent axis 3"
    space.figure.canvas.draw()
    assert plot.latent(three, axes=(0, 2)).get_ylabel() == "latent axis 3"
    with pytest.raises(ValueError, match="projection='3d'"):
        plot.latent(three, axes="3d", ax=plt.subplots()[1])


# Pictures that the engine describes.


def lines_of(ax):
    """The lines with a name, or of the first colour; what was observed is grey."""
    return [line for line in ax.lines if line.get_color() != GREY and line.get_linestyle() != "None"]


def bands(ax):
    return [band.get_paths()[0].vertices for band in ax.collections if not isinstance(band, LineCollection)]


@pytest.mark.parametrize("what", ["kernel", "paths", "forecast", "check", "trace"])
def test_the_program_draws_the_same(tmp_path, dated, what):
    """Each line is where the program draws it, to less than a pixel."""
    picture = tmp_path / "picture.svg"
    subprocess.run([sys.executable, "-m", "rflvm", "plot", dated._folder.path, "--what", what, "--out", picture, "--horizon", "4", "-q"], check=True)
    svg = picture.read_text(encoding="utf-8")
    if what == "trace":
        chosen = [name for name in ("lp", "log_likelihood", "w2", "time_scale", "distance[0]", "f_cell[0]") if name.split("[")[0] in dated.posterior_]
        axs = plot.trace(dated, chosen).ravel()
    elif what == "forecast":
        axs = plot.forecast(dated, [0, 1, 2, 3], horizon=4, sequence="a")
    else:
        axs = np.ravel(
            {"kernel": lambda: plot.kernel(dated, density=True), "paths": lambda: plot.paths(dated), "check": lambda: plot.check(dated)}[what]()
        )
    figure = axs[0].figure
    size = figure.get_size_inches() * 96
    width, height = (float(re.search(rf'{side}="(\d+)"', svg)[1]) for side in ("width", "height"))
    # Room for a heading is Python's alone: traces say there how they mix.
    assert width == pytest.approx(size[0], abs=1.0) and (what == "trace" or height == pytest.approx(size[1], abs=1.0))
    figure.set_dpi(96)
    figure.canvas.draw()
    drawn = re.findall(r'<path d="(M[^"A-LN-Z]*(?:L[^"A-LN-Z]*)+)" stroke="(#\w+)"[^>]*fill="none"', svg)
    drawn = [np.array([point.split() for piece in path.split("M")[1:] for point in piece.split("L")], dtype=float) for path, _ in drawn]
    mine = [line for ax in axs for line in ax.lines if len(line.get_xdata()) > 1 and line.get_linestyle() != "None" and line.get_color() != "#d55e00"]
    mine = [line for line in mine if line.get_transform() == line.axes.transData]
    assert what == "check" or len(mine) == len(drawn) > 0
    for line, path in zip(mine, drawn):
        x = matplotlib.dates.date2num(line.get_xdata()) if line.get_xdata().dtype.kind == "M" else line.get_xdata()
        places = line.axes.transData.transform(np.column_stack([x, line.get_ydata()]))
        places = places[np.isfinite(places).all(axis=1)]
        np.testing.assert_allclose(places[:, 0], path[:, 0], atol=0.6)
        if what != "trace":
            np.testing.assert_allclose(height - places[:, 1], path[:, 1], atol=0.6)
    for ax in axs:
        for label in filter(None, (ax.get_xlabel(), ax.get_ylabel())):
            assert f">{label}<" in svg


def test_paths_have_a_panel_an_axis_and_a_line_a_sequence(dated):
    axs = plot.paths(dated)
    assert len(axs) == 2 and [ax.get_ylabel() for ax in axs] == ["latent axis 1", "latent axis 2"]
    for d, ax in enumerate(axs):
        assert [line.get_label() for line in ax.lines] == ["a", "b"]
        for line, rows in zip(ax.lines, (slice(0, 20), slice(20, 40))):
            np.testing.assert_allclose(line.get_ydata(), dated.embedding_[rows, d], rtol=1e-12)
            np.testing.assert_array_equal(line.get_xdata().astype("datetime64[D]"), np.array(DAYS, dtype="datetime64[D]"))
        band = bands(ax)[1][:, 1]
        reach = 1.6448536 * dated.embedding_std_[20:, d]
        low, high = dated.embedding_[20:, d] - reach, dated.embedding_[20:, d] + reach
        np.testing.assert_allclose([band.min(), band.max()], [low.min(), high.max()])
    assert texts(axs[0]) == ["a", "b"]
    axs[0].figure.canvas.draw()
    assert axs[1].get_xticklabels()[0].get_text().startswith("2001-0")


def test_paths_go_in_order_of_time(numbered):
    axs = plot.paths(numbered, linewidth=3.0)
    (line,) = axs[0].lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(30.0))
    np.testing.assert_allclose(line.get_ydata(), numbered.embedding_[::-1, 0], rtol=1e-12)
    assert line.get_linewidth() == 3.0 and axs[0].get_legend() is None


def test_a_fit_without_times_has_no_paths(fitted, numbered):
    with pytest.raises(ValueError, match="no times"):
        plot.paths(fitted)
    with pytest.raises(ValueError, match="axs holds 1 Axes, but 2 are needed"):
        plot.paths(numbered, axs=plt.subplots()[1])


def test_the_kernel_is_one_at_no_distance_and_has_its_bands(fitted):
    ax = plot.kernel(fitted)
    curves = fitted.kernel_curves()["kernel"]
    assert texts(ax) == ["x1", "x2", "all directions"]
    for line, band, curve in zip(ax.lines, bands(ax), curves.values()):
        np.testing.assert_allclose(line.get_ydata(), curve["mean"], rtol=1e-12)
        assert line.get_ydata()[0] == pytest.approx(1.0)
        corners = {tuple(corner) for corner in band}
        assert {*zip(curve["at"], curve["lower"])} <= corners and {*zip(curve["at"], curve["upper"])} <= corners
    _, right = plot.kernel(fitted, density=True)
    assert right.get_ylabel() == "spectral density" and len(right.lines) == 3
    into = plt.subplots()[1]
    assert plot.kernel(fitted, ax=into, linewidth=2.0) is into and into.lines[0].get_linewidth() == 2.0


def test_traces_have_a_line_a_chain_and_what_is_known_of_convergence(fitted):
    axs = plot.trace(fitted)
    told = {q["name"]: q for q in fitted.diagnostics_["quantities"]}
    far, at = (max((name for name in told if name.startswith(f"{stem}[")), key=lambda n: told[n]["r_hat"]) for stem in ("distance", "f_cell"))
    names = ("lp", "log_likelihood", far, at, "w2", "alpha")
    assert axs.shape == (6, 2)
    said = [text.get_text() for text in axs[0, 0].figure.texts]
    for (ax, _), name in zip(axs, names):
        np.testing.assert_allclose([line.get_ydata() for line in ax.lines], plot._trace.draws_of(fitted, name), rtol=1e-12)
        (heading,) = [text for text in said if text.startswith(f"{name} (")]
        assert f"{told[name]['r_hat']:.2f}, ESS {told[name]['ess_bulk']:.0f}" in heading
    assert texts(axs[0, 1]) == ["chain 1", "chain 2"]


def test_ranks_beside_a_trace_count_each_chain_s_draws_among_all(fitted):
    ((_, ax),) = plot.trace(fitted, "lp")
    draws = fitted.posterior_["lp"]
    ranks = rankdata(draws).reshape(draws.shape) - 1
    edges = np.linspace(0, 60, 7)
    stairs = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    for chain, steps in zip(ranks, stairs):
        np.testing.assert_array_equal(steps.get_data().values, np.histogram(chain, edges)[0])
    assert len(stairs) == 2 and ax.lines[0].get_ydata()[0] == 30 / 6
    assert plot.trace(fitted, ["lp", "alpha"], ranks=False).shape == (2,)


def test_traces_of_one_name_of_a_place_and_of_what_has_no_diagnostics(fitted):
    ((ax, _),) = plot.trace(fitted, "distance[3]")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), fitted.posterior_["distance"][0, :, 3], rtol=1e-12)
    (ax,) = plot.trace(fitted, ["step_size"], axs=plt.subplots()[1], ranks=False)
    with pytest.raises(ValueError, match="axs holds 1 Axes, but 2 are needed"):
        plot.trace(fitted, ["step_size"], axs=plt.subplots()[1])
    assert ax.get_title(loc="left") == "step_size"
    with pytest.raises(ValueError, match=r"such as 'distance\[0\]'"):
        plot.trace(fitted, "distance")
    with pytest.raises(KeyError, match="no draws of 'speed'"):
        plot.trace(fitted, "speed")


def test_checks_show_the_table_beside_replicated_ones(fitted):
    told = fitted.check()
    axs = plot.check(told)
    said = [text.get_text() for text in axs[0].figure.texts]
    assert len(axs) == len(told.statistics)
    for ax, line in zip(axs, told.statistics):
        assert line.name in said and sum(bar.get_height() for bar in ax.patches if isinstance(bar, Rectangle) and bar.get_y() == 0) >= told.draws
        assert ax.lines[0].get_xdata()[0] == line.observed
    assert any("not known to have converged" in text for text in said) != told.is_converged
    assert len(plot.check(fitted)) == len(axs)


def test_forecasts_follow_the_past_in_a_panel_per_column(dated):
    told = dated.forecast(horizon=4)
    axs = plot.forecast(told, ["gene 1", 3], sequence="b", past=10)
    assert [ax.get_ylabel() for ax in axs] == ["gene 1", "gene 3"]
    past, _, median = axs[1].lines
    np.testing.assert_allclose(past.get_ydata(), dated._fit.table()[30:40, 3], rtol=1e-12)
    np.testing.assert_array_equal(past.get_xdata().astype("datetime64[D]"), np.array(DAYS[10:], dtype="datetime64[D]"))
    rows = [n for n, name in enumerate(told.sequences) if name == "b"]
    np.testing.assert_allclose(median.get_ydata(), told.median[rows, 3], rtol=1e-12)
    band = bands(axs[1])[0][:, 1]
    np.testing.assert_allclose([band.min(), band.max()], [told.lower[rows, 3].min(), told.upper[rows, 3].max()])
    axs[0].figure.canvas.draw()
    assert len(plot.forecast(dated)) == 6 and texts(plot.forecast(dated, "gene 0", horizon=2)[0]) == ["a", "b"]
    with pytest.raises(ValueError, match="known are a, b"):
        plot.forecast(told, sequence="c")


def test_forecasts_of_numbers_and_without_times(numbered, fitted):
    (ax,) = plot.forecast(numbered, 0, times=[30.0, 31.0])
    assert list(ax.lines[2].get_xdata()) == [30.0, 31.0]
    with pytest.raises(ValueError, match="have no times"):
        plot.forecast(fitted)


def test_imputed_cells_are_shown_beside_observed_ones(dated, curve):
    truth = curve.table[:40]
    ax = plot.imputed(dated, "gene 1", truth=truth)
    observed, missing, known = ax.lines
    assert len(observed.get_ydata()) == 30 and len(missing.get_ydata()) == 10
    np.testing.assert_allclose(known.get_ydata(), truth[5:15, 1], rtol=1e-12)
    assert known.get_markerfacecolor() == "none"
    cells = dated._completed(dated._fit.table())
    np.testing.assert_allclose(missing.get_ydata(), cells["mean"][5:15, 1], rtol=1e-12)
    ends = np.array(of_kind(ax, LineCollection)[0].get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, np.column_stack([cells[part][5:15, 1] for part in ("q05", "q95")]), rtol=1e-12)
    assert ax.get_ylabel() == "gene 1" and ax.get_xlabel() == "time"
    assert missing.get_xdata().astype("datetime64[D]")[0] == np.datetime64(DAYS[5])


def test_imputed_cells_of_one_sequence_or_by_row(dated, fitted, curve):
    ax = plot.imputed(dated, 1, sequence="b")
    assert len(ax.lines[0].get_ydata()) == 20
    ax = plot.imputed(fitted, 0)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), curve.table[:, 0], rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", "column 1")


def test_what_cannot_be_imputed_is_refused(dated):
    for given, sentence in [
        (dict(column="gene 99"), "no such column"),
        (dict(column=12), "columns of this fit are 0 to 11"),
        (dict(column=0, sequence="c"), "known are a, b"),
        (dict(column=0, truth=[1.0]), "truth has 1 rows"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            plot.imputed(dated, **given)


def test_labels_of_a_fit_of_the_program_are_shown(tmp_path, curve):
    """Where the table had a column of labels, nothing has to be said."""
    frame = pd.DataFrame(curve.table[:40, :5]).assign(kind=["b", "a"] * 20)
    frame.to_csv(tmp_path / "table.csv", index=False)
    settings = "--likelihood poisson --labels kind --features 20 --warmup 5 --draws 5 --seed 1 --quiet".split()
    command = [sys.executable, "-m", "rflvm", "fit", tmp_path / "table.csv", *settings, "--out", tmp_path / "fit"]
    subprocess.run(command, check=True)
    ax = plot.latent(rflvm.load(tmp_path / "fit"))
    assert texts(ax) == ["a", "b"]
    assert texts(plot.latent(rflvm.load(tmp_path / "fit"), labels=["z"] * 40)) == ["z"]
