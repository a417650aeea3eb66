"""The baselines against closed forms and simulations; under three minutes.

    python evidence/paper/baselines/check.py [NAME ...]
"""

import importlib
import pkgutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def main():
    wanted = sys.argv[1:] or [found.name for found in pkgutil.iter_modules([str(HERE / "checks")])]
    for name in wanted:
        begun = time.time()
        said = importlib.import_module(f"baselines.checks.{name}").check()
        print(f"{name}: {said} ({time.time() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
