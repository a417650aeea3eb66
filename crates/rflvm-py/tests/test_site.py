"""The documentation site: every example of its gallery runs, it builds without a warning, and its links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


#: Pages of the gallery that are run here; `make site` runs all.
PAGES = ("digits", "wine")


def run(*words):
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_pages_of_the_gallery_run_and_the_site_builds_without_a_warning(tmp_path):
    for needed in ("mkdocs", "mkdocstrings", "sklearn", "pandas"):
        pytest.importorskip(needed)
    gallery = ROOT / "target" / "gallery"
    run("scripts/gallery.py", str(gallery), *PAGES)
    said = run("-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site"))
    # Links and anchors that lead nowhere are warnings. Only what pages that were not run would have made may be missing.
    not_run = {page.stem for page in (ROOT / "docs" / "gallery").glob("*.md")} - set(PAGES)
    warned = [line for line in said.splitlines() if line.startswith("WARNING")]
    assert [line for line in warned if not any(f"'gallery/{page}.md' contains a link '{page}/" in line for page in not_run)] == []
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Gallery" in home and 'href="rust/rflvm/index.html"' in home
    for name in PAGES:
        assert (tmp_path / "site" / "gallery" / name / "fit" / "report.html").stat().st_size > 100_000
    # Nothing is fetched from elsewhere.
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://[^"]+\.(?:js|css|woff2?|png)"', home)
