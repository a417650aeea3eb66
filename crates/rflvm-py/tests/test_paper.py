"""The harnesses of the evidence, on a tiny table and with a stand-in for the program."""

import subprocess
import sys
from pathlib import Path

EVIDENCE = Path(__file__).resolve().parents[3] / "evidence"
CHECK = EVIDENCE / "paper/check.py"
#: Prints what it is asked; its advice is to resume.
STAND_IN = """#!/bin/sh
echo "said: $*"
case "$1" in
doctor) echo "next: rflvm fit t.csv --out fit" ;;
summary) printf 'seconds per sweep: 1\nnot converged: run longer\n  `rflvm resume fit-t --draws 9`\n' ;;
fit) echo "oh, $2" >&2; exit 3 ;;
esac
"""


def test_harness_of_the_papers_tables() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", str(CHECK)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fresh_tables_keep_what_was_printed(tmp_path) -> None:
    program, folder = tmp_path / "rflvm", tmp_path / "tables"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n1,2\n")
    for step in ("fit", "advise"):
        subprocess.run([sys.executable, str(EVIDENCE / "benchmarks/fresh.py"), step, str(program), str(folder)], check=True)
    told = (folder / "transcript.txt").read_text()
    assert told.startswith("said: --version, ") and "1 of 1 tables: t." in told
    typed = [line for line in told.splitlines() if line.startswith("$ ")]
    summary = "$ rflvm summary fit-t"
    assert typed == ["$ rflvm doctor t.csv", "$ rflvm fit t.csv --out fit-t", summary, "$ rflvm resume fit-t --draws 9", summary]
    assert "said: fit t.csv --out fit-t\noh, t.csv\n[exit code 3, 0 s]\n" in told
