"""Cells of a table of results, one JSON line each, so that a long run can be done in parts and on several machines.

A cell is known by its set, method, seed and settings. Every `*.jsonl` file of the folder is read, so rows from another machine only
need to be put there; of two rows of the same cell the later date counts.
"""

import json
from datetime import datetime, timezone


def key(row):
    """What a cell is known by."""
    return row["set"], row["method"], row["seed"], json.dumps(row["settings"], sort_keys=True)


def now():
    """The date and time of a row."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class Cells:
    """The rows of a folder; `name` is the file that new ones are added to."""

    def __init__(self, folder, name="table1"):
        self.folder, self.path = folder, folder / f"{name}.jsonl"

    def rows(self):
        """All rows by key, read each time, because another process may be adding rows."""
        lines = [line for path in sorted(self.folder.glob("*.jsonl")) for line in path.read_text().splitlines() if line.strip()]
        return {key(row): row for row in sorted(map(json.loads, lines), key=lambda row: row["date"])}

    def find(self, row):
        """The row of the same cell, or None."""
        return self.rows().get(key(row))

    def add(self, row):
        """Adds a row, with its date."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(row | {"date": row.get("date", now())}) + "\n")
