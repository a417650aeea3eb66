"""The documentation site builds without a warning: every page is found, and every link and anchor leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(not (ROOT / "mkdocs.yml").exists(), reason="the site is not part of this copy")
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    pictures = ROOT / "target" / "gallery"
    made, pages = [], [page for page in (ROOT / "docs" / "gallery").glob("*.md") if page.stem != "README"]
    assert len(pages) >= 12
    # What the gallery makes takes minutes, and is made by `make site`; here only links are checked.
    for page in pages:
        for name in re.findall(r"\]\(((?:%s)/[^)]+)\)" % page.stem, page.read_text(encoding="utf-8")):
            if not (pictures / name).exists():
                (pictures / name).parent.mkdir(parents=True, exist_ok=True)
                (pictures / name).write_text("")
                made.append(pictures / name)
    try:
        build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
        done = subprocess.run(build, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    finally:
        for path in made:
            path.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Gallery" in home
    # Nothing is fetched from elsewhere.
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://(?!127)[^"]+\.(?:js|css|woff2?|png)"', home)
