"""The harness of the paper's tables, on a tiny table and with a stand-in for the program."""

import subprocess
import sys
from pathlib import Path

CHECK = Path(__file__).resolve().parents[3] / "evidence/paper/check.py"


def test_harness_of_the_papers_tables() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", str(CHECK)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
