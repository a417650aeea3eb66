"""Which cells are hidden: at random, in runs down a column, or as runs of whole rows.

Runs neither overlap nor touch, so that none is longer than its name says, except next to a real hole of the table.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Mask:
    """Hides about `share` of the cells in runs of `length` rows: of one column, or of all if `whole`."""

    share: float
    length: int = 1
    whole: bool = False

    def cells(self, observed, rng, share=None):
        """The cells to hide, all of them observed."""
        share = share or self.share
        if self.length == 1:
            # The masks of evidence/benchmarks/hidden.py and evidence/paper/missing.py.
            return (rng.random(observed.shape) < share) & observed
        rows, columns = observed.shape
        hidden = np.zeros((rows, 1 if self.whole else columns), bool)
        seen = observed.any(1)[:, None] if self.whole else observed
        enough = share * seen.sum()
        for _ in range(1000 * hidden.size):
            if (hidden & seen).sum() >= enough:
                break
            start, column = rng.integers(rows - self.length + 1), rng.integers(hidden.shape[1])
            around = slice(max(start - 1, 0), start + self.length + 1)
            # Half of every column stays, for methods that treat it alone.
            if hidden[around, column].any() or hidden[:, column].sum() + self.length > rows / 2:
                continue
            hidden[start : start + self.length, column] = True
        else:
            raise ValueError(f"no room for runs of {self.length} rows in {100 * share:.0f}% of {rows}×{columns} cells")
        return hidden & observed


MASKS = {
    "random": Mask(0.2),
    "run5": Mask(0.2, 5),
    "run20": Mask(0.2, 20),
    "run100": Mask(0.1, 100),
    "rows20": Mask(0.1, 20, whole=True),
}
