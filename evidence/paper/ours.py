"""Our families on the tables of Table 1: what is fitted, by which command, and what its files are called."""

import numpy as np

import labelled


def counts(y, seen=None):
    """As they are."""
    return y


def logs(y, seen=None):
    """Logarithms of counts."""
    return np.log1p(y)


def compositions(y, seen=None):
    """Counts, with rows that have none marked as missing: a multinomial has nothing to say about them."""
    return np.where(y.sum(1, keepdims=True) > 0, y, np.nan)


def above(y, seen=None):
    """Whether a count exceeds the median of its column, of the rows seen if they are other ones; for rare words, whether they occur."""
    return (y > np.median(y if seen is None else seen, axis=0)).astype(float)


#: Each family by its name in the program: its name in tables, and the form of the counts that it is given.
FAMILIES = {
    "poisson": ("Poisson", counts),
    "negative-binomial": ("negative binomial", counts),
    "multinomial": ("multinomial", compositions),
    "gaussian": ("Gaussian", logs),
    "isotropic": ("isotropic Gaussian", logs),
    "bernoulli": ("Bernoulli", above),
}


#: The same by `rflvm fit --method map`: one point, the maximum of the posterior density with the weights integrated out.
MAPS = {f"{name}-map": (f"{title} RFLVM, MAP", form) for name, (title, form) in FAMILIES.items()}
#: With a learned signal strength, as the other models with Gaussian processes have; for real values it is the default.
MAPS |= {f"{name}-map-shared": (f"{title} RFLVM, MAP, shared amplitude", form) for name, (title, form) in FAMILIES.items() if form is not logs}
#: All of ours.
OURS = FAMILIES | MAPS


def arguments(parser, warmup, draws):
    """Adds the arguments of our fits."""
    parser.add_argument("--warmup", type=int, default=warmup)
    parser.add_argument("--draws", type=int, default=draws)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings of our fits")


def settings(args):
    """What identifies a fit, given its set, family and seed: the sweeps, and every setting that is not the program's default."""
    return {"warmup": args.warmup, "draws": args.draws, "chains": args.chains} | unusual(dict(word.split("=", 1) for word in args.set))


def unusual(chosen):
    """Settings without those that ask for the default, as `amplitude=default` does."""
    return {key: value for key, value in chosen.items() if value != "default"}


def table(name, family, seed):
    """The name of a table's file, without its ending."""
    return f"{name}-{seed}-{OURS[family][1].__name__}" if name in labelled.DRAWN else f"{name}-{OURS[family][1].__name__}"


def cell(name, family, seed, chosen):
    """The name of a cell's files, from which `parse` reads the cell again."""
    return "--".join([name, family, f"seed={seed}", *(f"{key}={value}" for key, value in chosen.items())])


def parse(stem):
    """Set, family, seed and settings of a cell's file."""
    name, family, *words = stem.split("--")
    chosen = dict(word.split("=", 1) for word in words)
    seed = int(chosen.pop("seed"))
    known = family in MAPS and not chosen or family in FAMILIES and {"warmup", "draws", "chains"} <= set(chosen)
    if name not in labelled.SETS or not known:
        raise ValueError
    return name, family, seed, {key: int(value) if key in ("warmup", "draws", "chains") else value for key, value in unusual(chosen).items()}


def estimate(program, path, method, seed, threads, out):
    """The words of a MAP estimate whose positions will be in OUT/embedding.csv."""
    family, _, shared = method.partition("-map")
    words = [program, "fit", path, "--method", "map", "--likelihood", family, "--latent-dim", 2, "--seed", seed, "--threads", threads, "--out", out, "-q"]
    return [str(word) for word in words + (["--amplitude", "shared"] if shared else [])]


def fit(program, path, family, seed, chosen, threads, out, keep="w"):
    """The words of a fit whose posterior mean positions will be in OUT/embedding.csv. Weights, which only predictions need, are large."""
    words = [program, "fit", path, "--likelihood", family, "--latent-dim", 2, "--seed", seed, "--threads", threads, "--keep", keep]
    words += [word for key, value in chosen.items() for word in (f"--{key}", value)]
    return [str(word) for word in [*words, "--out", out, "--overwrite", "--no-report", "-q"]]


def line(family, name, seed, chosen, threads):
    """The same as a line for bash, with the folders $TABLES and $OUT: it leaves the positions, and the seconds (wall, user, system)
    below what the program said."""
    stem = f'"$OUT/{cell(name, family, seed, chosen)}'
    program, path, out = '"${RFLVM:-rflvm}"', f'"$TABLES/{table(name, family, seed)}.csv.gz"', f'{stem}.fit"'
    words = estimate(program, path, family, seed, threads, out) if family in MAPS else fit(program, path, family, seed, chosen, threads, out)
    timed = f"{{ TIMEFORMAT='%R %U %S'; time {' '.join(words)}; }} 2> {stem}.time\""
    return f'mkdir -p "$OUT"; {timed}; cp {stem}.fit/embedding.csv" {stem}.csv"; rm -r {stem}.fit"'
