"""gallery.py FOLDER: runs the pages of docs/gallery, each in a separate folder, where the site finds its pictures and reports."""

import os
import shutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Pages are run as the tests run those of docs/.
sys.path.insert(0, str(ROOT / "crates" / "rflvm-py" / "tests"))


def main(out):
    from test_docs import run

    for page in sorted((ROOT / "docs" / "gallery").glob("*.md")):
        if page.stem == "README":
            continue
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
    main(sys.argv[1])
