"""The program `rflvm`, as `python -m rflvm` and as the command that comes with the package."""

from __future__ import annotations

import signal
import sys

from ._native import main as run


def main() -> int:
    """Run the program with the arguments of this process; return its exit code."""
    if hasattr(signal, "SIGPIPE"):
        # As of other programs, a reader such as `head` that has seen enough ends this one quietly.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return run(["rflvm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
