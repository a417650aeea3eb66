"""Posterior draws: arrays by name, and datasets for ArviZ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Optional

import numpy as np

from ._parameter import whole

if TYPE_CHECKING:
    from . import _native


class Posterior:
    """The draws of a fit, by name: chains × draws × the quantity's own axes.

    `x` is aligned to the coordinates of `embedding_`; all other quantities are as sampled. Chains in a minor mode are left out
    (`diagnostics_` says which). Scalars include `lp` (log joint density), `log_likelihood`, `alpha` (concentration of the Dirichlet
    process over frequencies) and `w2` (sum of squared frequencies).

    >>> model.posterior_["x"].shape
    (2, 1000, 500, 2)
    """

    def __init__(self, drawn: _native.Answers):
        self._drawn = drawn

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "x":
            return self._drawn.positions()
        group = self._group(name)
        return self._drawn.draws(f"{group}/{name}")

    def __iter__(self) -> Iterator[str]:
        for group in ("posterior", "sample_stats"):
            yield from (name for name in self._drawn.names(group) if self._is_drawn(group, name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __repr__(self) -> str:
        chains, draws = len(self.chains), self._drawn.size[1]
        return f"<rflvm.Posterior: {chains} chains of {draws} draws: {', '.join(self)}>"

    @property
    def chains(self) -> list[int]:
        """The chains in use, counted from 0."""
        return self._drawn.used

    @property
    def draws(self) -> int:
        """Number of draws per chain."""
        return self._drawn.size[1]

    def dims(self, name: str) -> list[str]:
        """Names of the axes of a quantity."""
        return self._drawn.dims(f"{self._group(name)}/{name}")

    def log_likelihood(self, of: str = "cell", *, thin: int = 1) -> np.ndarray:
        """Pointwise log-likelihood under each draw.

        `of="cell"`: ln p of each cell given the position of its row, chains × draws × N × J, NaN where nothing is observed; a
        multinomial row is one observation, in the place of its first cell. `of="row"`: ln p of each row with its position integrated
        out, chains × draws × N, so that leaving out a row also leaves out its position.
        """
        return self._drawn.log_likelihood(of, thin=whole(thin, "thin", least=1))

    def to_arviz(self, *, log_likelihood: Optional[str] = None, thin: int = 1) -> Any:
        """The draws for ArviZ: an `xarray.DataTree` for ArviZ 1 and later, an `arviz.InferenceData` before.

        `log_likelihood` ("cell" or "row") adds the group that `arviz.loo` needs. `thin=k` keeps every k-th draw.
        """
        import xarray

        thin = whole(thin, "thin", least=1)

        groups = {
            "posterior": self._dataset("posterior", thin),
            "sample_stats": self._dataset("sample_stats", thin),
            "observed_data": self._fixed("observed_data", ["y"]),
            "constant_data": self._fixed("constant_data", ["offset"]),
        }
        if log_likelihood is not None:
            groups["log_likelihood"] = self._pointwise(log_likelihood, thin)
        try:
            import arviz
        except ImportError:
            return xarray.DataTree.from_dict(groups)
        if int(arviz.__version__.split(".")[0]) >= 1:
            return xarray.DataTree.from_dict(groups)
        return arviz.InferenceData(**groups)

    def _group(self, name: str) -> str:
        for group in ("posterior", "sample_stats"):
            if name in self._drawn.names(group):
                return group
        raise KeyError(f"there are no draws of '{name}'; there are {', '.join(self)}")

    def _is_drawn(self, group: str, name: str) -> bool:
        return self._drawn.dims(f"{group}/{name}")[:2] == ["chain", "draw"]

    def _coordinates(self, group: str, dims: set[str], thin: int) -> dict[str, Any]:
        coordinates: dict[str, Any] = {}
        if "chain" in dims:
            coordinates["chain"] = self.chains
        if "draw" in dims:
            coordinates["draw"] = np.arange(0, self.draws, thin)
        for dim in dims - {"chain", "draw"}:
            if dim in self._drawn.names(group):
                coordinates[dim] = self._drawn.coordinate(f"{group}/{dim}")
        return coordinates

    def _dataset(self, group: str, thin: int) -> Any:
        import xarray

        arrays: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
        for name in self._drawn.names(group):
            if not self._is_drawn(group, name):
                continue
            if (group, name) == ("posterior", "x"):
                # Axes are those of the embedding, not of the draws: some may be unused.
                arrays[name] = (("chain", "draw", "row", "axis"), self._drawn.positions(thin=thin))
            else:
                path = f"{group}/{name}"
                arrays[name] = (tuple(self._drawn.dims(path)), self._drawn.draws(path, thin=thin))
        dims = {dim for named, _ in arrays.values() for dim in named}
        return xarray.Dataset(arrays, coords=self._coordinates(group, dims, thin))

    def _fixed(self, group: str, names: list[str]) -> Any:
        import xarray

        arrays = {name: (tuple(self._drawn.dims(f"{group}/{name}")), self._drawn.fixed(f"{group}/{name}")) for name in names}
        dims = {dim for named, _ in arrays.values() for dim in named}
        return xarray.Dataset(arrays, coords=self._coordinates(group, dims, 1))

    def _pointwise(self, of: str, thin: int) -> Any:
        import xarray

        pieces = self.log_likelihood(of, thin=thin)
        if of == "row":
            coordinates = self._coordinates("observed_data", {"chain", "draw", "row"}, thin)
            return xarray.Dataset({"y": (("chain", "draw", "row"), pieces)}, coords=coordinates)
        # ArviZ does not accept NaN: missing cells are left out.
        flat = pieces.reshape(*pieces.shape[:2], -1)
        seen = ~np.isnan(flat[0, 0])
        coordinates = self._coordinates("observed_data", {"chain", "draw"}, thin)
        return xarray.Dataset({"y": (("chain", "draw", "observed"), flat[:, :, seen])}, coords=coordinates)
