"""The documentation site: every example of its gallery runs, it builds without a warning, and its links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(*words):
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_gallery_runs_and_the_site_builds_without_a_warning(tmp_path):
    for needed in ("mkdocs", "mkdocstrings", "sklearn", "pandas"):
        pytest.importorskip(needed)
    run("scripts/gallery.py", str(ROOT / "target" / "gallery"))
    # Links and anchors that lead nowhere are warnings, which --strict refuses.
    run("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site"))
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Gallery" in home and 'href="rust/rflvm/index.html"' in home
    for name in ("digits", "wine"):
        assert (tmp_path / "site" / "gallery" / name / "fit" / "report.html").stat().st_size > 100_000
    # Nothing is fetched from elsewhere.
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://[^"]+\.(?:js|css|woff2?|png)"', home)
