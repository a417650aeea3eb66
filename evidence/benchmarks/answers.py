"""Hidden answers of a questionnaire, by the family of its columns: mean log score and ranked probability score.

The American National Election Study of 1996 as statsmodels has it: media use, seven-point scales of oneself and two candidates, party and education. A
fifth of the cells is hidden. Every method is scored by draws of the hidden answers: rounded to levels, with half a count added to each level.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

SCALES = {"TVnews": 1, "selfLR": 0, "ClinLR": 0, "DoleLR": 0, "PID": 1, "educ": 0}


def answers(rows: int, seed: int) -> pd.DataFrame:
    """Some rows, all scales counted from 1."""
    table = sm.datasets.anes96.load_pandas().data
    chosen = np.random.default_rng(seed).permutation(len(table))[:rows]
    return pd.DataFrame({name: (table[name] + up).astype(int) for name, up in SCALES.items()}).iloc[chosen].reset_index(drop=True)


def scores(drawn: np.ndarray, truth: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log score and ranked probability score of each hidden cell from its draws, cells × draws."""
    log, ranked = [], []
    for own, y, top in zip(drawn, truth, levels):
        counts = np.bincount(np.clip(np.round(own), 1, top).astype(int), minlength=top + 1)[1 : top + 1] + 0.5
        p = counts / counts.sum()
        log.append(np.log(p[y - 1]))
        ranked.append(np.sum((np.cumsum(p) - (np.arange(1, top + 1) >= y)) ** 2))
    return np.array(log), np.array(ranked)


def fitted(program: str, hidden: pd.DataFrame, family: str, place: Path, flags: list[str], draws: int) -> np.ndarray:
    """Completed tables, draws × rows × columns."""
    table, out = place / "hidden.csv", place / family
    hidden.to_csv(table, index=False)
    blocks = place / "blocks.csv"
    # Each multinomial is a separate block.
    blocks.write_text("column,likelihood,block\n" + "".join(f"{name},{family},{name if family == 'multinomial' else ''}\n" for name in hidden))
    subprocess.run([program, "fit", table, "--blocks", blocks, *flags, "--out", out, "-q"], check=True)
    subprocess.run([program, "impute", out, "--out", place / f"{family}.csv", "--draws", str(draws)], check=True, stdout=subprocess.DEVNULL)
    return np.stack([pd.read_csv(place / f"{family}-{i + 1}.csv").to_numpy(float) for i in range(draws)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/rflvm")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("flags", nargs="*", default=["--chains", "2", "--warmup", "150", "--draws", "100", "--features", "30"])
    given = parser.parse_args()
    found: dict[str, list] = {}
    for seed in range(1, given.seeds + 1):
        table = answers(given.rows, seed)
        mask = np.random.default_rng(100 + seed).random(table.shape) < 0.2
        hidden = table.astype(object).mask(mask, "")
        rows, columns = np.nonzero(mask)
        truth, levels = table.to_numpy()[mask], table.max().to_numpy()[columns]
        with tempfile.TemporaryDirectory() as folder:
            for family in ("ordinal", "gaussian", "multinomial"):
                drawn = fitted(given.program, hidden, family, Path(folder), [*given.flags, "--seed", str(seed)], given.draws)
                found.setdefault(family, []).append(scores(drawn[:, rows, columns].T, truth, levels))
        seen = [table.loc[~mask[:, j], name] for j, name in enumerate(table)]
        by_frequency = np.array([np.random.default_rng(1).choice(seen[j], given.draws) for j in columns])
        found.setdefault("frequencies", []).append(scores(by_frequency, truth, levels))
        mode = np.array([[seen[j].mode()[0]] * given.draws for j in columns], dtype=float)
        found.setdefault("mode", []).append(scores(mode, truth, levels))
    print(f"anes96, {given.rows} rows, {len(SCALES)} columns, {given.seeds} seeds, {' '.join(given.flags)}")
    print(f"{'':<14} {'log score':>20} {'RPS':>20}")
    for name, each in found.items():
        log, ranked = (np.concatenate(part) for part in zip(*each))
        errors = [part.std() / np.sqrt(len(part)) for part in (log, ranked)]
        print(f"{name:<14} {log.mean():>12.3f} ± {errors[0]:.3f} {ranked.mean():>12.3f} ± {errors[1]:.3f}   {len(log)} cells")


if __name__ == "__main__":
    main()
