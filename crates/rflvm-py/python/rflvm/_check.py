"""Posterior predictive checks: does the model reproduce the fitted table, and does the posterior contradict the priors?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

#: p-values below this are pointed out.
SMALL = 0.05


@dataclass(frozen=True)
class Statistic:
    """A statistic of the table, compared with its values in tables drawn from the posterior."""

    name: str
    family: str
    #: The columns that it is computed from.
    columns: list[str] = field(repr=False)
    observed: float
    #: Mean and 5% and 95% quantiles over the drawn tables.
    mean: float
    lower: float
    upper: float
    #: Two-sided.
    p_value: float
    #: What to try if the p-value is small.
    advice: Optional[str] = None


@dataclass(frozen=True)
class Conflict:
    """A prior whose central 99% does not contain the posterior median; columns or axes with the same prior share the one percent."""

    #: What the prior is about: "strength of weights", "amplitude", a parameter of the family, "alpha", "clusters", …
    quantity: str
    #: None if it is not about columns.
    family: Optional[str]
    #: How many columns or axes conflict, of how many.
    conflicting: int
    of: int
    #: The column or axis that is farthest from the prior, its posterior median, and the limits of the prior.
    worst: Optional[str]
    median: float
    prior_low: float
    prior_high: float
    #: All of this in a sentence.
    words: str = field(repr=False)
    #: Which setting to change; None if the chains have not converged.
    advice: Optional[str] = None


@dataclass(frozen=True, repr=False)
class Check:
    """Posterior predictive checks of a fit, and conflicts of its priors. It prints as a table; `RFLVM.check` returns one.

    >>> check = model.check()
    >>> check.p_values
    {'share of zeros': 0.31, 'variance over mean': 0.012, ...}
    >>> check.to_pandas()
    """

    statistics: list[Statistic]
    """The statistics that are compared."""
    draws: int
    """Number of replicated tables."""
    is_converged: bool
    """Whether the chains have converged. If not, small p-values may come from the sampler, and no advice is given."""
    conflicts: list[Conflict] = field(default_factory=list)
    """Priors that conflict with their posterior."""
    picture: dict = field(default_factory=dict)
    """What `rflvm.plot.check` draws."""

    @staticmethod
    def of(told: Mapping, is_converged: bool) -> Check:
        """From the report of the engine."""
        parts = {"observed": "observed", "mean": "mean", "lower": "q05", "upper": "q95", "p_value": "p"}
        lines = []
        for line in told["checks"]:
            numbers = {name: float("nan") if line[part] is None else float(line[part]) for name, part in parts.items()}
            advice = line["suggests"] if is_converged else None
            lines.append(Statistic(name=line["statistic"], family=line["family"], columns=list(line["names"]), advice=advice, **numbers))
        conflicts = []
        for line in told.get("conflicts", []):
            line = dict(line)
            advice = line.pop("suggests")
            conflicts.append(Conflict(**line, advice=advice if is_converged else None))
        return Check(lines, int(told["draws"]), is_converged, conflicts, told.get("picture", {}))

    @property
    def labels(self) -> list[str]:
        """Names of the statistics; with their columns where several blocks of columns have the same statistic."""
        names = [line.name for line in self.statistics]
        return [name if names.count(name) == 1 else f"{name} of {of_columns(line)}" for name, line in zip(names, self.statistics)]

    @property
    def p_values(self) -> dict[str, float]:
        """Two-sided p-values, by the names of the statistics."""
        return {label: line.p_value for label, line in zip(self.labels, self.statistics)}

    @property
    def advice(self) -> dict[str, str]:
        """What to try where p-values are small, by the names of the statistics; empty if the chains have not converged."""
        return {label: line.advice for label, line in zip(self.labels, self.statistics) if line.advice is not None}

    def to_pandas(self) -> Any:
        """One line per statistic: family, statistic, observed, mean, lower, upper, p_value, advice."""
        import pandas

        parts = ("observed", "mean", "lower", "upper", "p_value", "advice")
        lines = [[line.family, label, *(getattr(line, part) for part in parts)] for label, line in zip(self.labels, self.statistics)]
        return pandas.DataFrame(lines, columns=["family", "statistic", *parts])

    def verdict(self) -> str:
        """The conclusion, in a sentence."""
        small = sum(line.p_value < SMALL for line in self.statistics)
        told = "no p-value is small" if small == 0 else f"{small} p-value{' is' if small == 1 else 's are'} below {SMALL}"
        if self.is_converged:
            return f"{self.draws} replicated tables; {told}."
        return (
            f"{self.draws} replicated tables; {told}. The chains have not converged, so this may say more about the sampler than about "
            "the model, and there is no advice: see model.diagnostics_['words'] for what to do first."
        )

    def __repr__(self) -> str:
        head = ("statistic", "observed", "replicated", "5% to 95%", "p")
        rows = [
            (label, digits(s.observed), digits(s.mean), f"{digits(s.lower)} … {digits(s.upper)}", f"{s.p_value:.3f}")
            for label, s in zip(self.labels, self.statistics)
        ]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]) for row in [head, *rows]]
        for n, line in reversed(list(enumerate(self.statistics))):
            if line.advice is not None:
                lines.insert(n + 2, f"  → {line.advice}")
        lines.append(self.verdict())
        for conflict in self.conflicts:
            lines.append(f"The prior of {conflict.quantity} conflicts with its posterior: {conflict.words}.")
            if conflict.advice is not None:
                lines.append(f"  → {conflict.advice}")
        if not self.conflicts:
            lines.append("No prior conflicts with its posterior.")
        return "\n".join(lines)


def of_columns(line: Statistic) -> str:
    """A short description of the columns of a statistic: a category by its name."""
    first = line.columns[0].split("=")[0]
    return first if all(name.split("=")[0] == first for name in line.columns) else f"{line.family}, {len(line.columns)} columns"


def digits(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"
