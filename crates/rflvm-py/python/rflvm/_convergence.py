"""Whether the chains of a fit have converged, reported when the fit ends."""

from __future__ import annotations

from typing import Mapping, Optional

from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning

from ._warn import warn

#: Largest acceptable R̂ and smallest acceptable effective sample size (Vehtari et al. 2021).
AGREE, ENOUGH = 1.01, 400


class ConvergenceWarning(_ConvergenceWarning):
    """The chains of a fit have not converged, or convergence cannot be assessed."""


def tell(diagnostics: Mapping, warmup: int, stopped: Optional[str] = None) -> None:
    """Warn once if a fit has not converged or was stopped, and say what to do."""
    doubt = doubt_of(diagnostics, warmup)
    if doubt is not None:
        warn(doubt if stopped is None else f"{stopped}; and so far, {doubt}", ConvergenceWarning)
    elif stopped is not None:
        warn(stopped)


def remind(diagnostics: Mapping) -> None:
    """Warn that an answer is that of a fit that has not converged."""
    if (advice := diagnostics.get("advice")) is not None:
        judged = "cannot be judged" if diagnostics["verdict"] == "cannot-tell" else "has not been reached"
        warn(f"convergence {judged}, so this answer may change; {advice}", ConvergenceWarning)


def doubt_of(diagnostics: Mapping, warmup: int) -> Optional[str]:
    """Why the draws are unreliable, and what to do; None if they are reliable."""
    verdict, draws, chains = diagnostics["verdict"], diagnostics["draws"], diagnostics["chains"]
    # Chains that began apart are in several modes, and their mixture is the answer.
    if verdict in ("converged", "several-modes"):
        return None
    if verdict == "not-stationary":
        longer = max(2 * warmup, 1000)
        return f"the log joint density still rises over the kept draws: warm up for longer with model.resume(warmup={longer})"
    if verdict == "run-longer":
        more = diagnostics["draws_advised"]
        return (
            f"more draws are needed: {measures(diagnostics)}. About {more} draws per chain should be enough: "
            f"continue with model.resume(draws={more}), or fit again with sampling=rflvm.Sampling(draws={more})"
        )
    if verdict == "chains-disagree":
        aside = [n + 1 for n, chain in enumerate(chains) if not chain["used"]]
        # A search for modes lets all chains begin in the same one.
        apart = "the chains have not mixed inside the mode" if "modes" in diagnostics else "the chains disagree"
        why = measures(diagnostics) if not aside else lesser(aside, chains)
        return (
            f"{apart}: {why}. Do not rely on these results: warm up for longer with model.resume(warmup={max(2 * warmup, 1000)}), or fit "
            "again with more chains, and look at rflvm.plot.trace(model)"
        )
    if len(chains) < 2:
        return "convergence cannot be judged from a single chain; fit with sampling=rflvm.Sampling(chains=2) or more"
    return f"convergence cannot be judged from {draws} draws per chain; continue with model.resume(draws={max(1000, 2 * draws)})"


def measures(diagnostics: Mapping) -> str:
    """The largest R̂ and the smallest effective sample size, with the values that they should have."""
    moving = [q for q in diagnostics["quantities"] if q["sd"] and q["r_hat"] is not None and q["ess_bulk"] is not None]
    if not moving:
        return "no quantity has changed"
    apart = max(moving, key=lambda q: q["r_hat"])
    slow = min(moving, key=lambda q: min(q["ess_bulk"], q["ess_tail"]))
    least = min(slow["ess_bulk"], slow["ess_tail"])
    return (
        f"R̂ is up to {apart['r_hat']:.3f} (for {apart['label']}; at most {AGREE} is good), and the effective sample size "
        f"is down to {least:.0f} (for {slow['label']}; at least {ENOUGH} is good)"
    )


def lesser(aside: list[int], chains: list) -> str:
    """Which chains were set aside."""
    names = ", ".join(str(n) for n in aside)
    depth = max(chains[n - 1]["below_best"] for n in aside)
    which = f"chain {names} is" if len(aside) == 1 else f"chains {names} are"
    return f"{which} in a minor mode, with a log joint density up to {depth:.0f} below that of the best chain, and set aside"
