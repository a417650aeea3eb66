"""gallery.py FOLDER [PAGE …]: runs pages of docs/gallery, or all, each in a separate folder, where the site finds its pictures and reports."""

import os
import shutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Pages are run as the tests run those of docs/.
sys.path.insert(0, str(ROOT / "crates" / "rflvm-py" / "tests"))


def main(out, *names):
    from test_docs import run

    pages = [page for page in sorted((ROOT / "docs" / "gallery").glob("*.md")) if page.stem != "README"]
    for page in [page for page in pages if not names or page.stem in names]:
        folder = Path(out).resolve() / page.stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        os.chdir(folder)
        with warnings.catch_warnings():
            # Fits as short as these may not converge, and say so.
            warnings.simplefilter("ignore")
            run(page, {"__name__": "page"})
        os.chdir(ROOT)


if __name__ == "__main__":
    main(*sys.argv[1:])
