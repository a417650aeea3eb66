"""Writes FOLDER/commands.txt: one line per fit of rflvm, which fits a table, scores its hidden cells and deletes the fit.

    python evidence/benchmarks/imputation/ours.py FOLDER [--tables cmu] [--masks run20] [--seeds 1] [--variants none matern12]
    cd FOLDER && RFLVM=rflvm xargs -P 16 -d '\\n' -n 1 sh -c < commands.txt

FOLDER is that of prepare.py and all that the lines need, so it can be moved to another machine. A line whose
rows/NAME+VARIANT.json exists does nothing, so a run can be done in parts.
"""

import json
from dataclasses import dataclass

from prepare import chosen, masks_of

PATH = "--time time --time-kernel matern32"
SERIES = f"--likelihood gaussian {PATH}"


@dataclass
class Variant:
    """A fit of the tables of one kind: its flags, latent axes more than the table's `dim`, and sweeps of warm-up and of
    draws."""

    name: str
    kind: str
    flags: str
    more: int = 0
    sweeps: int = 500


# Edit this list to try others. D is the paper's where the name does not say "+3".
VARIANTS = [
    Variant("static", "series", "--likelihood gaussian --id time", sweeps=1000),
    Variant("none", "series", f"{SERIES} --column-process none"),
    Variant("matern12", "series", f"{SERIES} --column-process matern12"),
    Variant("matern32", "series", f"{SERIES} --column-process matern32"),
    Variant("random-walk", "series", f"{SERIES} --column-process random-walk"),
    Variant("none+3", "series", f"{SERIES} --column-process none", more=3),
    Variant("matern12+3", "series", f"{SERIES} --column-process matern12", more=3),
    Variant("random-walk+3", "series", f"{SERIES} --column-process random-walk", more=3),
    Variant("gaussian", "static", "--likelihood gaussian --id time", sweeps=1000),
    Variant("gaussian+5", "static", "--likelihood gaussian --id time", more=5, sweeps=1000),
    Variant("poisson", "counts", f"--likelihood poisson {PATH}"),
    Variant("negative-binomial", "counts", f"--likelihood negative-binomial {PATH}"),
    Variant("negative-binomial-matern12", "counts", f"--likelihood negative-binomial {PATH} --column-process matern12"),
]


def kind_of(facts):
    return "counts" if facts["counts"] else "series" if facts["timed"] else "static"


def line(case, seed, dim, variant):
    name = f"{case}+{variant.name}"
    run = f"--latent-dim {dim + variant.more} --warmup {variant.sweeps} --draws {variant.sweeps} --chains 2 --threads 1 --seed {seed}"
    return (
        f"test -e rows/{name}.json || {{ $RFLVM fit {case}.csv {variant.flags} {run} -q --overwrite --out fits/{name}"
        f" && $RFLVM impute fits/{name} --truth {case}-truth.csv --json > rows/{name}.part"
        f" && mv rows/{name}.part rows/{name}.json && rm -r fits/{name}; }}"
    )


def main():
    parser = chosen(__doc__)
    parser.add_argument("--variants", nargs="+", choices=[v.name for v in VARIANTS], help="only these")
    args = parser.parse_args()
    about = json.loads((args.folder / "about.json").read_text())
    for folder in ("rows", "fits"):
        (args.folder / folder).mkdir(exist_ok=True)
    # Seeds come first, so that a run that is stopped has all tables.
    lines = [
        line(f"{table}-{mask}-{seed}", seed, facts["dim"], variant)
        for seed in args.seeds
        for table, facts in about.items()
        if table in (args.tables or about)
        for mask in masks_of(table)
        if mask in (args.masks or masks_of(table))
        for variant in VARIANTS
        if variant.kind == kind_of(facts) and variant.name in (args.variants or [variant.name])
    ]
    (args.folder / "commands.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} fits: {args.folder / 'commands.txt'}")


if __name__ == "__main__":
    main()
