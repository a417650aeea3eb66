"""Scores of predicted cells, and how they are printed."""

import numpy as np

# Half the width of the central 50% and 90% intervals of a standard normal.
HALF, NINETY = 0.6744897501960817, 1.6448536269514722


def scores(truth, tables, cells):
    """Mean squared error on `cells`, and if there is a standard deviation, the mean log density of a normal and the share of the cells inside
    the central 50% and 90% intervals.

    The 90% interval is [q05, q95] where the method gives quantiles, else that of a normal with its mean and sd; the
    50% interval is always that of a normal, as no method reports quartiles.
    """
    y = truth[cells]
    mean, sd, low, high = (tables[name][cells] if name in tables else None for name in ("mean", "sd", "q05", "q95"))
    result = {"mse": float(np.mean((y - mean) ** 2))}
    if not np.isfinite(result["mse"]):
        raise ValueError("a hidden cell has no prediction")
    if sd is not None:
        result["log_density"] = float(np.mean(-0.5 * (np.log(2 * np.pi * sd**2) + ((y - mean) / sd) ** 2)))
        result["inside50"] = float(np.mean(np.abs(y - mean) <= HALF * sd))
        if low is None:
            low, high = mean - NINETY * sd, mean + NINETY * sd
        result["inside90"] = float(np.mean((low <= y) & (y <= high)))
    return result


def mean_and_error(values):
    """Mean and one standard error, as text; the error needs two values."""
    if not values:
        return ""
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{error}"


def print_table(header, rows):
    """A Markdown table."""
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def neighbours(x, labels, seeds=range(5), metric="euclidean"):
    """Accuracy of the nearest neighbour's label, mean over five folds, for each seed of the folds: the paper's rule. With the metric "precomputed", `x` has the
    distances between rows."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    folds = (KFold(5, shuffle=True, random_state=seed) for seed in seeds)
    return [float(cross_val_score(KNeighborsClassifier(1, metric=metric), x, labels, cv=fold).mean()) for fold in folds]
