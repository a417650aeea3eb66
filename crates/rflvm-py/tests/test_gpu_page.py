"""evidence/benchmarks/GPU.md has a place for each table that `make bench-gpu` and `make test-gpu` write."""

import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "evidence" / "benchmarks" / "gpu"
if not FOLDER.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import page  # noqa: E402
import right  # noqa: E402

CARD = """a card
poisson, 37 rows, 6 features
    F                            1.2e-16
    fits of columns              5.2e-15
    energy after four steps      5.3e-8 and 5.1e-11
poisson, 311 rows, 22 features, mixed precision
    F                            2.3e-16
    fits of columns              7.2e-8
gaussian, 41 rows, 6 features
    F                            3.0e-13
"""
GEWEKE = """configuration                      functions max |z|         p acceptance   act     s  verdict  worst function
device-poisson                            60    2.87    1.00e0       0.86   3.1     0  passes   (ln a)2 (4.97 independent, 4.16 chains)
device-negative-binomial-missing          72    6.01    1.00e-9      0.86   3.1     0  FAILS    lp
"""


def test_each_table_has_its_place():
    written = {name for file in FOLDER.glob("*.py") for name in re.findall(r'put\(\s*"([a-z ]+)"', file.read_text())} | {"growth", "large"}
    text = page.PAGE.read_text()
    assert len(written) == 12
    for name in written:
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- end of {name} -->") == 1, name


def test_a_table_replaces_the_last_one_and_nothing_else(tmp_path, capsys):
    copy = tmp_path / "GPU.md"
    copy.write_text("before\n<!-- a -->\nold\n<!-- end of a -->\n<!-- b -->\nkept\n<!-- end of b -->\nafter\n")
    for value in ("1", "2"):
        page.put("a", ["x", "y"], [[value, "z"]], copy)
    text = copy.read_text()
    assert "| x | y |\n| --- | --- |\n| 2 | z |\n\nMeasured 20" in text and "old" not in text and "| 1 |" not in text
    assert text.startswith("before\n") and text.endswith("<!-- b -->\nkept\n<!-- end of b -->\nafter\n")
    assert "| 2 | z |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no place for 'c'"):
        page.put("c", ["x"], [], copy)


def test_logs_of_the_tests_are_read():
    assert right.errors(CARD) == [["F", "3e-13", "2e-16"], ["fits of columns", "5e-15", "7e-08"]]
    assert right.verdicts(GEWEKE) == [["poisson", "60", "2.87", "passes"], ["negative binomial missing", "72", "6.01", "FAILS"]]
