"""The report: what it shows, in a real browser; and that it stays a file that does nothing else."""

import html
import warnings

import numpy as np
import pandas as pd
import pytest
from browser import Opened, browser
from conftest import QUICK, estimator

import rflvm

#: A name that would run a program if it were taken for markup.
HOSTILE = "<img src=x onerror=alert(1)>"
ROWS = 40


def fit(table, **settings):
    given = {key: settings.pop(key) for key in ("times", "sequences", "offset", "covariates", "row_names", "trials") if key in settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(**{**QUICK, **settings}).fit(table, **given)


def counts(columns=8, rows=ROWS):
    """Counts that rise and fall along a line."""
    along = np.linspace(-2, 2, rows)[:, None]
    names = [HOSTILE] + [f"gene {j}" for j in range(1, columns)]
    if columns > 7:
        names[7] = "a.name.that.is.much.longer.than.a.phone.is.wide.and.has.no.space"
    return pd.DataFrame(np.random.default_rng(0).poisson(np.exp(1.5 + np.sin(along * np.arange(1, columns + 1)))), columns=names)


@pytest.fixture(scope="module")
def model():
    names = [HOSTILE] + [f"cell {n}" for n in range(1, ROWS)]
    return fit(counts(), likelihood="poisson", latent_dim=3, row_names=names)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    labels = [HOSTILE if n % 2 else "other" for n in range(ROWS)]
    return model.report(tmp_path_factory.mktemp("report") / "r.html", labels=labels, label_name=HOSTILE, title=HOSTILE)


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium, path):
    tab = Opened(chromium, path)
    yield tab
    # Whatever a test did, nothing went wrong and nothing was fetched.
    assert tab.troubles == [] and tab.requests == [tab.url]
    tab.close()


def test_it_opens_from_disk_and_nothing_can_be_fetched(chromium, path):
    tab = Opened(chromium, path)
    assert tab.troubles == [] and tab.requests == [tab.url]
    sections = tab.page.locator("main section h2").all_inner_texts()
    assert sections == ["Latent map", "Decode", "Kernel", "Fit", "Trust"]
    assert "could not be drawn" not in tab.page.inner_text("main") and "Not in this report" not in tab.page.inner_text("main")
    # The policy stops a request that a page should not make.
    refused = tab.page.evaluate("() => fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert refused == "refused" and any("Content Security Policy" in text for text in tab.troubles)
    tab.close()


def test_names_stay_text(opened, path):
    assert opened.page.locator("img").count() == 0
    assert opened.page.inner_text("h1") == HOSTILE and opened.page.title() == HOSTILE
    assert HOSTILE in opened.page.inner_text(".legend")
    assert HOSTILE in opened.page.locator("#map select").first.inner_text()
    x, y = opened.places()[0]
    opened.page.mouse.move(x, y)
    assert HOSTILE in opened.page.inner_text(".tip")
    assert "<img" not in path.read_text().split('id="data"')[0].split("<body>")[1]


def test_pointing_at_a_row_shows_its_name_and_its_ellipse(opened, model):
    # The row that is farthest from all others, so that the pointer means no other; buttons are in a corner.
    places = np.array(opened.places())
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(ROWS)
    box = opened.page.locator("#map canvas").first.bounding_box()
    is_free = (places[:, 0] < box["x"] + box["width"] - 60) | (places[:, 1] > box["y"] + 140)
    row = int(np.where(is_free, apart.min(axis=1), 0).argmax())
    before = opened.pixels()
    opened.page.mouse.move(*places[row])
    assert opened.page.inner_text(".tip b") == (HOSTILE if row == 0 else f"cell {row}")
    facts = opened.page.inner_text("#map .facts")
    assert f"{abs(model.embedding_[row, 0]):.2f}"[:3] in facts and "±" in facts
    assert opened.pixels() != before
    opened.page.mouse.move(5, 5)
    assert opened.page.locator(".tip").is_hidden() and opened.pixels() == before


def test_colours_follow_labels_columns_uncertainty_and_outlier_score(opened):
    menu = opened.page.get_by_label("Colour by")
    looks = {opened.pixels()}
    assert opened.page.locator("#map .legend li").count() == 2
    for name in ["gene 3", "uncertainty", "outlier score"]:
        menu.select_option(label=name)
        looks.add(opened.pixels())
        assert name in opened.page.inner_text("#map .side h3") or "sd" in opened.page.inner_text("#map .side h3")
        assert opened.page.locator(".ramp").count() == 1
    menu.select_option(label="one colour")
    looks.add(opened.pixels())
    assert len(looks) == 5
    # The colours are those of the values: the largest count is the last step of the scale.
    menu.select_option(label="gene 3")
    codes = opened.page.evaluate("Array.from(report.map.colours.codes)")
    values = counts()["gene 3"].to_numpy()
    assert np.argsort(codes).tolist() != list(range(ROWS)) and np.corrcoef(codes, values)[0, 1] > 0.99


def test_a_lasso_lists_the_rows_inside(opened):
    places = np.array(opened.places())
    middle = np.median(places[:, 0])
    inside = [n for n in range(ROWS) if places[n, 0] < middle]
    box = opened.page.locator("#map canvas").first.bounding_box()
    corners = [
        (box["x"] + 2, box["y"] + 2),
        (middle, box["y"] + 2),
        (middle, box["y"] + box["height"] - 2),
        (box["x"] + 2, box["y"] + box["height"] - 2),
    ]
    opened.page.get_by_role("button", name="Lasso").click()
    opened.page.mouse.move(*corners[0])
    opened.page.mouse.down()
    for corner in corners[1:] + corners[:1]:
        opened.page.mouse.move(*corner, steps=4)
    opened.page.mouse.up()
    numbers = opened.page.eval_on_selector_all(".names li", "items => items.map(item => item.value - 1)")
    assert numbers == inside
    assert opened.page.locator(".names li").nth(1).inner_text().startswith(f"cell {inside[1]} · ")
    assert "most different" in opened.page.inner_text("#map .side")
    opened.page.get_by_role("button", name="Clear").click()
    assert opened.page.locator(".names").count() == 0


def test_search_finds_a_row_and_goes_there(opened):
    opened.page.get_by_label("Find a row").fill("cell 1")
    assert opened.page.inner_text("#map .bar [role=status]").startswith("11 rows")
    box = opened.page.locator("#map canvas").first.bounding_box()
    x, y = opened.places()[1]
    assert abs(x - box["x"] - box["width"] / 2) < 2 and abs(y - box["y"] - box["height"] / 2) < 2
    assert opened.page.inner_text(".tip b") == "cell 1"
    opened.page.get_by_label("Find a row").press("Enter")
    opened.page.get_by_label("Find a row").press("Enter")
    assert opened.page.inner_text(".tip b") == "cell 10"


def test_axes_and_the_third_dimension(opened, model):
    def agrees(places, values, sign=1):
        return sign * np.corrcoef(places, values)[0, 1] > 0.9999

    assert agrees(np.array(opened.places())[:, 1], model.embedding_[:, 1], -1)
    opened.page.locator("#map").get_by_label("Up").select_option("2")
    assert agrees(np.array(opened.places())[:, 1], model.embedding_[:, 2], -1)
    assert agrees(np.array(opened.places())[:, 0], model.embedding_[:, 0])
    opened.page.locator("#map").get_by_label("Up").select_option("1")
    opened.page.get_by_role("button", name="3-D").click()
    before = np.array(opened.places())
    box = opened.page.locator("#map canvas").first.bounding_box()
    opened.page.mouse.move(box["x"] + 300, box["y"] + 200)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 420, box["y"] + 260, steps=5)
    opened.page.mouse.up()
    after = np.array(opened.places())
    assert np.abs(after - before).max() > 20
    # A rotation and a projection: places are a linear map of the positions with rows of equal length, at right angles.
    solved = np.linalg.lstsq(np.c_[model.embedding_, np.ones(ROWS)], after, rcond=None)[0]
    assert np.abs(np.c_[model.embedding_, np.ones(ROWS)] @ solved - after).max() < 0.1
    product = solved[:3].T @ solved[:3]
    assert abs(product[0, 1]) < 1e-3 * product[0, 0] and abs(product[0, 0] / product[1, 1] - 1) < 1e-3


def test_zoom_pan_and_keys(opened):
    before = np.array(opened.places())
    box = opened.page.locator("#map canvas").first.bounding_box()
    opened.page.mouse.move(box["x"] + 300, box["y"] + 300)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 350, box["y"] + 280)
    opened.page.mouse.up()
    assert np.allclose(np.array(opened.places()) - before, [50, -20], atol=0.5)
    canvas = opened.page.locator("#map canvas").first
    canvas.focus()
    opened.page.keyboard.press("+")
    assert np.ptp(np.array(opened.places())[:, 0]) == pytest.approx(1.25 * np.ptp(before[:, 0]), rel=1e-3)
    opened.page.mouse.wheel(0, -200)
    opened.settle()
    assert np.ptp(np.array(opened.places())[:, 0]) > 1.5 * np.ptp(before[:, 0])
    opened.page.keyboard.press("0")
    assert np.allclose(np.array(opened.places()), before, atol=0.5)
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("ArrowRight")
    first = opened.page.inner_text(".tip b")
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.inner_text(".tip b") not in ("", first)
    assert f"Row {opened.page.inner_text('.tip b')}" in opened.page.inner_text("[aria-live]")


#: What the page computes is what the engine predicts, for every link, with a linear part, offsets, covariates and several families.
KINDS = {
    "poisson": dict(likelihood="poisson", offset=np.linspace(-0.3, 0.5, ROWS)),
    "negative-binomial": dict(likelihood="negative-binomial", linear="learned"),
    "zero-inflated-poisson": dict(likelihood="zero-inflated-poisson"),
    "binomial": dict(likelihood="binomial", trials=90),
    "multinomial": dict(likelihood="multinomial", covariates={"batch": ["a", "b"] * (ROWS // 2)}),
    "gaussian": dict(likelihood="gaussian", latent_dim=1),
    "student-t": dict(likelihood="student-t"),
    "several": dict(likelihood={"gene 1": "gaussian", "gene 2": "poisson", "gene 3": "gaussian", HOSTILE: "poisson"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_decode_is_what_the_engine_predicts(chromium, tmp_path, kind):
    # Few enough draws that the page holds all of them.
    model = fit(counts(4), **{"latent_dim": 2, **KINDS[kind], "draws": 12})
    tab = Opened(chromium, model.report(tmp_path / "r.html"))
    at = [list(model.embedding_[3]), list(model.embedding_[20] * 0.5 + 0.1)]
    shown = np.array([tab.page.evaluate("x => Array.from(report.decoder.at(Float64Array.from(x)).mean)", x) for x in at])
    expected = np.asarray(model.inverse_transform(np.array(at)), dtype=float)
    assert np.allclose(shown, expected, rtol=2e-3, atol=1e-3 * np.abs(expected).max()), (shown, expected)
    assert tab.troubles == []
    tab.close()


def test_the_pointer_decodes(opened):
    before = opened.page.inner_text("#decode tbody")
    box = opened.page.locator("#decode canvas").first.bounding_box()
    opened.page.locator("#decode canvas").first.scroll_into_view_if_needed()
    box = opened.page.locator("#decode canvas").first.bounding_box()
    opened.page.mouse.move(box["x"] + 60, box["y"] + 60)
    assert "column processes" not in opened.page.inner_text("#decode")
    place = opened.page.inner_text("#decode [role=status]")
    assert opened.page.inner_text("#decode tbody") != before and "posterior draws" in place
    opened.page.get_by_role("button", name="Hold the point").click()
    opened.page.mouse.move(box["x"] + 200, box["y"] + 200)
    assert opened.page.inner_text("#decode [role=status]") == place
    opened.page.get_by_role("button", name="Largest").click()
    values = [float(text) for text in opened.page.locator("#decode tbody td:nth-child(3)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    # The keyboard moves the point, and a slider the axis that is not in the plane.
    opened.page.locator("#decode canvas").first.focus()
    opened.page.keyboard.press("ArrowUp")
    moved = opened.page.inner_text("#decode [role=status]")
    assert moved != place
    opened.page.get_by_label("x3 of the point").fill("0.5")
    # Sliders go in steps of 1/200 of the range.
    shown = opened.page.inner_text("#decode [role=status]").split("x3 = ")[1].split(";")[0]
    assert float(shown) == pytest.approx(0.5, abs=0.05)


def test_rows_that_are_pictures(chromium, tmp_path):
    model = fit(counts(6), likelihood="poisson")
    tab = Opened(chromium, model.report(tmp_path / "r.html", image=(2, 3)))
    assert tab.page.locator("#decode .expected canvas").get_attribute("width") == "3"
    grey = "() => Array.from(document.querySelector('#decode .expected canvas').getContext('2d').getImageData(0, 0, 3, 2).data).filter((_, i) => i % 4 === 0)"
    shown = np.array(tab.page.evaluate(grey))
    mean = np.array(tab.page.evaluate("Array.from(report.decoder.at(new Float64Array(2)).mean)"))
    assert np.corrcoef(shown, np.minimum(mean, np.percentile(counts(6).to_numpy(), 99.5)))[0, 1] > 0.99
    assert tab.page.locator("#decode .uncertain").count() == 0
    tab.page.get_by_role("button", name="Uncertainty").click()
    assert tab.page.locator("#decode .uncertain canvas").count() == 1
    assert "nearest row" in tab.page.inner_text("#decode .nearest") and tab.troubles == []
    tab.close()
    with pytest.raises(ValueError, match="6 columns"):
        model.report(tmp_path / "other.html", image=(2, 2))
    assert not (tmp_path / "other.html").exists()


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    days = pd.date_range("2024-01-01", periods=ROWS // 2).tolist() * 2
    table = counts().astype(float)
    table.iloc[3, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(table, likelihood="gaussian", column_process="matern12", times=days, sequences=["a"] * (ROWS // 2) + ["b"] * (ROWS // 2))
    return model.report(tmp_path_factory.mktemp("timed") / "r.html")


def test_the_slider_goes_through_time(chromium, timed):
    tab = Opened(chromium, timed)
    assert tab.page.inner_text(".timeline output") == "2024-01-20"
    before = tab.pixels()
    tab.page.get_by_label("Show rows up to this time").fill("4")
    assert tab.page.inner_text(".timeline output") == "2024-01-05"
    faded = tab.page.evaluate("Array.from(report.map.faded)")
    assert faded == ([0] * 5 + [1] * 15) * 2 and tab.pixels() != before
    assert tab.page.locator(".now[visibility=visible]").count() == 2
    tab.page.get_by_role("button", name="Play").click()
    tab.page.locator(".timeline output", has_text="2024-01-20").wait_for()
    assert tab.page.get_by_role("button", name="Play").count() == 1
    text = tab.page.inner_text("#fit")
    assert "Forecasts" in text and "1 cell missing" in text and tab.troubles == []
    assert "column processes over time are left out" in tab.page.inner_text("#decode")
    tab.close()


def test_the_fit_and_whether_to_trust_it(opened, model):
    text = opened.page.inner_text("main")
    verdict = opened.page.inner_text("header .verdict b").rstrip(". ").lower()
    assert model.diagnostics_["words"].startswith(verdict) and len(verdict) > 8 and "seed\n1" in text and "rflvm fit --config config.toml" in text
    assert "tables drawn from the fit" in text and "inside their 90% intervals" in text
    lines = opened.page.locator("#trust tbody").first.locator("tr").count()
    assert lines == len(model.diagnostics_["quantities"])
    title = opened.page.locator("#trust svg.chart title").first
    assert title.text_content() == "Trace of lp"
    opened.page.get_by_role("button", name="w2", exact=True).click()
    assert title.text_content() == "Trace of w2"
    opened.page.locator("#fit select").first.select_option(label="gene 2")
    assert f"{ROWS} cells" in opened.page.inner_text("#fit")


@pytest.mark.parametrize("name, size, scheme", [("light", "desk", "light"), ("dark", "desk", "dark"), ("phone", "phone", "light")])
def test_light_dark_and_phone(chromium, path, timed, name, size, scheme):
    for kind, file in (("static", path), ("times", timed)):
        tab = Opened(chromium, file, size, scheme)
        tab.shot(f"{kind}-{name}")
        assert tab.page.evaluate("document.documentElement.dataset.theme") == scheme
        # Nothing is wider than the screen.
        assert tab.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        before = tab.pixels()
        tab.page.get_by_role("button", name="colours").click()
        assert tab.pixels() != before and tab.troubles == []
        # Every control and picture has a name for screen readers.
        nameless = "() => [...document.querySelectorAll('button, select, input, canvas[tabindex], svg[role=img]')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).length"
        assert tab.page.evaluate(nameless) == 0
        tab.close()


def test_a_report_without_weights_says_what_is_missing(chromium, tmp_path):
    model = fit(counts(4), likelihood="poisson", keep=("theta",))
    tab = Opened(chromium, model.report(tmp_path / "r.html"))
    assert "Not in this report" in tab.page.inner_text("#decode") and "keep" in tab.page.inner_text("#decode")
    assert tab.page.locator("#map canvas").count() == 1 and tab.troubles == []
    tab.close()


def test_what_cannot_be_reported_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="ends in .html"):
        model.report(tmp_path / "report.pdf")
    with pytest.raises(ValueError, match="one for each row"):
        model.report(tmp_path / "r.html", labels=["a"])
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_a_picture_and_the_verdict(model):
    shown = model._repr_mimebundle_()["text/html"]
    assert shown.count("<svg") == 1 and html.escape(model.diagnostics_["words"]) in shown and f"{ROWS} rows" in shown
    before = rflvm.RFLVM()._repr_mimebundle_()
    assert "RFLVM" in before["text/html"] and "<svg width" not in before["text/html"]
