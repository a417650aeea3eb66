"""Tables in files, read by tiles into the one copy that the engine works on: arrays of Zarr and HDF5, and the cells of an AnnData that is backed
by a file. None of these libraries is imported.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Sequence

import numpy as np

from . import _native
from ._array import check_kind, check_shape, of_plain_numbers

#: Most cells of a tile, unless one chunk of the file has more.
TILE = 1 << 20


class Tile(NamedTuple):
    """Cells that adjoin each other in the file."""

    #: The first of its rows.
    row: int
    #: Its columns in the table.
    columns: np.ndarray
    cells: np.ndarray


class OnDisk:
    """A table in a file. Each chunk of the file is read once."""

    def __init__(self, source: Any, chosen: Optional[np.ndarray] = None, names: Optional[Sequence] = None, ids: Optional[Sequence] = None):
        self._source = source
        self._chosen = np.arange(source.shape[1]) if chosen is None else chosen
        #: Names of the columns and rows, if they are known.
        self.names, self.ids = names, ids
        self.shape = (source.shape[0], len(self._chosen))
        self.dtype = source.dtype

    def __getitem__(self, key: tuple[slice, np.ndarray]) -> OnDisk:
        """Some columns, as in `table[:, columns]`."""
        rows, columns = key
        if rows != slice(None):
            raise TypeError("a table in a file is read by tiles; choose columns only")
        return OnDisk(self._source, self._chosen[columns], ids=self.ids)

    def named(self, names: Sequence, ids: Sequence) -> OnDisk:
        """With names of its columns and rows."""
        return OnDisk(self._source, self._chosen, names, ids)

    def tiles(self) -> Iterator[Tile]:
        """All cells, once each."""
        places = np.full(self._source.shape[1], -1)
        places[self._chosen] = np.arange(len(self._chosen))
        height, width = self._size()
        rows, columns = self._source.shape
        for first in range(0, columns, width):
            within = slice(first, min(first + width, columns))
            used = np.flatnonzero(places[within] >= 0)
            if not len(used):
                continue
            for row in range(0, rows, height):
                cells = self._source[row : min(row + height, rows), within]
                cells = cells[:, used] if len(used) < cells.shape[1] else cells
                cells = cells.toarray() if hasattr(cells, "toarray") else np.asarray(cells)
                yield Tile(row, places[within][used], of_plain_numbers(cells))

    def _size(self) -> tuple[int, int]:
        """Rows and columns of a tile: whole chunks of the file."""
        rows, columns = self._source.shape
        kind, chunks = getattr(self._source, "format", None), getattr(self._source, "chunks", None)
        if kind == "csc":
            return rows, max(1, TILE // rows)
        if kind == "csr" or not chunks:
            return max(1, TILE // columns), columns
        # As many chunks side by side as a tile may have, then one above the other.
        wide = min(columns, chunks[1] * max(1, TILE // (chunks[0] * chunks[1])))
        return min(rows, chunks[0] * max(1, TILE // (chunks[0] * wide))), wide

    def fill(self, values: _native.Values) -> None:
        """Copy all cells."""
        for tile in self.tiles():
            values.tile(tile.row, tile.columns.tolist(), tile.cells)

    def sum(self, axis: int) -> np.ndarray:
        """Sums of the rows (1) or of the columns (0)."""
        total = np.zeros(self.shape[1 - axis])
        for row, columns, cells in self.tiles():
            total[slice(row, row + len(cells)) if axis else columns] += cells.sum(axis=axis, dtype=float)
        return total

    def __abs__(self) -> OnDisk:
        """Of counts, which are not negative."""
        return self


def on_disk(X: Any) -> Optional[OnDisk]:
    """A table in a file; None for anything else."""
    if isinstance(X, OnDisk):
        return X
    home = type(X).__module__.split(".")[0]
    is_array = home in ("zarr", "h5py") and hasattr(X, "chunks") and hasattr(X, "dtype")
    is_sparse = home == "anndata" and getattr(X, "format", None) in ("csr", "csc") and not hasattr(X, "tocsr")
    if not (is_array or is_sparse):
        return None
    # An array of the same shape that takes no memory.
    check_shape(np.broadcast_to(np.zeros((), dtype=X.dtype), X.shape), X)
    if X.dtype.kind not in "biuf":
        check_kind(X.dtype)
    _native.check_memory(*X.shape)
    return OnDisk(X)
