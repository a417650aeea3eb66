"""The program `rflvm`, as `python -m rflvm` and as the command that the package installs."""

from __future__ import annotations

import signal
import sys

from ._native import main as run


def main() -> int:
    """Run the program with the arguments of this process; return its exit code."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that closes the pipe early, such as `head`, ends the program quietly.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return run(["rflvm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
