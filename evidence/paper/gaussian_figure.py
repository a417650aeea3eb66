"""The figure of the Gaussian S-curve: rflvm and GPy's Bayesian GPLVM with a fifth of the cells hidden."""

import subprocess
import sys

import numpy as np

import positions
import program
from baselines.planted import affine_r2

sys.path.append(str(program.ROOT / "evidence/benchmarks"))

#: Random features of rflvm, and inducing points of the GPLVM.
FEATURES, INDUCING = (10, 20, 50, 100, 200), (10, 20, 50)
COLUMN = 3


def of_gplvm(y, inducing, iterations=200):
    """Positions, and means of all cells side by side."""
    import gplvm

    np.random.seed(1)
    offset = np.nanmean(y, axis=0)
    model = gplvm.Gplvm(y - offset, 2, inducing)
    model.optimize(max_iters=iterations)
    return np.hstack([np.asarray(model.X.mean), model.predict(model.X)[0] + offset])


def of_rflvm(y, args):
    """The same from a fit of rflvm: rows are predicted as if observed again."""
    from figures import cells

    folder = positions.fitted("gaussian-holes", y, 2, args, "gaussian")
    command = [args.program, "predict", folder / "fit", "--rows", "all", "--out", folder / "rows.csv"]
    subprocess.run([str(word) for word in command], check=True)
    return np.hstack([program.positions(folder), cells(folder / "rows.csv", *y.shape)])


def draw(args, plt):
    from figures import nearest, panel
    from map import one_size

    z = np.load(args.data / "s_curve/gaussian.npz")
    y, truth, t, hidden = z["Y"].astype(float), z["X"], z["t"], z["mask"]
    holed = np.where(hidden, np.nan, y)
    ours = positions.kept(f"gaussian-rflvm-{args.warmup}-{args.draws}-{args.chains}", args, lambda: of_rflvm(holed, args))
    theirs = {m: positions.kept(f"gaussian-gplvm-{m}", args, lambda m=m: of_gplvm(holed, m)) for m in INDUCING}
    sizes = {m: positions.kept(f"gaussian-map-{m}", args, lambda m=m: by_features(one_size(args, z, hidden, m, 1))) for m in FEATURES}
    figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
    panel(axes[0, 0], truth, t, "truth")
    best = theirs[INDUCING[-1]]
    for axis, found, name in ((axes[0, 1], best, "GPLVM (GPy)"), (axes[1, 0], ours, "RFLVM")):
        shown = None if found is None else nearest(found[:, :2], truth)
        panel(axis, shown, t, name if shown is None else f"{name}, R² {affine_r2(found[:, :2], truth):.3f}")
    order = np.argsort(t)
    axes[1, 1].plot(t[order], z["F"][order, COLUMN], color="black", label="truth")
    for found, name in ((best, "GPLVM"), (ours, "RFLVM")):
        if found is not None:
            axes[1, 1].plot(t[order], found[order, 2 + COLUMN], linewidth=1, label=name)
    axes[1, 1].set_title(f"one function, f{COLUMN}, along the S", fontsize=9)
    axes[1, 1].legend(fontsize=7)
    errors(axes[0, 2], y, hidden, ours, theirs, sizes)
    true_kernel = np.exp(-((truth[:, None] - truth[None]) ** 2).sum(2) / 2)
    true_shape = shape(true_kernel)
    shown = [(axes[0, 3], "true K", true_shape)]
    for axis, m in ((axes[1, 2], 10), (axes[1, 3], 200)):
        found = shape(sizes[m][1:].reshape(true_kernel.shape))
        shown.append((axis, f"K̂, M = {m}, correlation {np.corrcoef(found.ravel(), true_shape.ravel())[0, 1]:.2f}", found))
    for axis, name, matrix in shown:
        axis.imshow(matrix[np.ix_(order, order)][::2, ::2], vmin=-1, vmax=1, cmap="RdBu_r")
        axis.set(xticks=[], yticks=[])
        axis.set_title(name, fontsize=9)
    return figure


def shape(kernel):
    """A kernel matrix without what the data cannot tell from the intercept and the amplitude: its rows and columns are centred, and its
    mean variance is 1."""
    centred = kernel - kernel.mean(0)
    centred -= centred.mean(1)[:, None]
    return centred / np.trace(centred) * len(centred)


def by_features(result):
    """Error of the hidden cells and the kernel matrix, in one array."""
    row, kernel, _ = result
    return np.r_[row["mse"], kernel.ravel()]


def errors(axis, y, hidden, ours, theirs, sizes):
    """Mean squared error of the hidden cells over M."""
    axis.plot(list(sizes), [kept[0] for kept in sizes.values()], marker="o", label="RFLVM, MAP")
    known = {m: ((y - found[:, 2:])[hidden] ** 2).mean() for m, found in theirs.items() if found is not None}
    axis.plot(list(known), list(known.values()), marker="s", label="GPLVM (GPy)")
    if ours is not None:
        axis.plot([100], [((y - ours[:, 2:])[hidden] ** 2).mean()], "*", markersize=11, label="RFLVM, posterior")
    axis.axhline(0.2474, color="grey", linestyle="--", label="noise")
    axis.set(xscale="log", xlabel="M")
    axis.set_title("MSE of hidden cells", fontsize=9)
    axis.legend(fontsize=7)
