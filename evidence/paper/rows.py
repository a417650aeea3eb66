"""Results kept row by row in a JSON file, so that a long run can be done in parts."""

import json
import os
import time


class Rows:
    """Rows of a file, found by their `key`, a list of words."""

    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else []

    def find(self, key):
        """The row of this key, or None."""
        return next((row for row in self.rows if row["key"] == key), None)

    def run(self, key, settings, work, again=False):
        """Does `work()`, a dict of results, unless its row exists; stores it with its settings and seconds."""
        old = self.find(key)
        if old and not again:
            if old["settings"] != settings:
                print(f"kept {' '.join(key)}, which was run with {old['settings']}; --again repeats it", flush=True)
            return
        begun = time.time()
        results = work()
        row = {"key": key, "settings": settings, **results, "seconds": round(time.time() - begun, 1), "date": time.strftime("%Y-%m-%d", time.gmtime())}
        self.rows = [r for r in self.rows if r["key"] != key] + [row]
        self.save()
        said = f"MSE {row['mse']:.4f}, " if "mse" in row else f"{row['chosen']} chosen, " if "chosen" in row else ""
        print(f"{' '.join(key)}: {said}{row['seconds']:.0f} s", flush=True)

    def save(self):
        """Writes the file under another name first: an interrupted run leaves the old file intact."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text("[\n" + ",\n".join(json.dumps(row) for row in self.rows) + "\n]\n")
        os.replace(part, self.path)
