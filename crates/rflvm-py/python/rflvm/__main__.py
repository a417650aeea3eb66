"""The program `rflvm`, as `python -m rflvm` and as the command that comes with the package."""

from __future__ import annotations

import sys

from ._native import main as run


def main() -> int:
    """Run the program with the arguments of this process; return its exit code."""
    return run(["rflvm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
