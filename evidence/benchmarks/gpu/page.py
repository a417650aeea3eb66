"""Tables of GPU.md: each step replaces its own, between `<!-- NAME -->` and `<!-- end of NAME -->`, and leaves the words around it."""

import re
import subprocess
from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "GPU.md"


def card():
    """The card and its driver, in words."""
    ask = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        names = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip().splitlines()
    except (OSError, subprocess.CalledProcessError):
        return "no card"
    name, driver = names[0].split(", ")
    return f"{len(names)} × {name}, driver {driver}" if len(names) > 1 else f"{name}, driver {driver}"


def lines(header, rows):
    """A table in Markdown."""
    return ["| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows]]


def put(name, header, rows, page=PAGE):
    """Prints a table, and puts it in its place on the page, with the date and the card."""
    text = "\n".join([*lines(header, rows), "", f"Measured {date.today()}: {card()}."])
    print(text, flush=True)
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    whole = Path(page).read_text()
    if begin not in whole or end not in whole:
        raise SystemExit(f"{page} has no place for '{name}': it needs the lines {begin} and {end}")
    Path(page).write_text(re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", whole, flags=re.DOTALL))
