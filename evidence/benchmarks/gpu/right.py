"""What `make test-gpu` found, as tables of GPU.md: `python evidence/benchmarks/gpu/right.py CARD.log GEWEKE.log [--page GPU.md]`."""

import argparse
import re
from collections import defaultdict
from pathlib import Path

import page


def errors(log):
    """The largest relative error of each operation, in either precision; the energy of a trajectory is not one."""
    found, is_mixed = defaultdict(lambda: [0.0, 0.0]), False
    for line in log.splitlines():
        value = re.fullmatch(r"    (\D+?)\s+(\d\.\de-?\d+)", line)
        if value:
            worst = found[value[1]]
            worst[is_mixed] = max(worst[is_mixed], float(value[2]))
        elif " rows, " in line:
            is_mixed = "mixed precision" in line
    return [[name, *(f"{error:.0e}" for error in worst)] for name, worst in found.items()]


def verdicts(log):
    """Each configuration of Geweke's test: functions, largest |z|, verdict."""
    lines = re.findall(r"^(device-\S+)\s+(\d+)\s+(\d+\.\d+)\s.*?\s(passes|FAILS|fails)\b", log, re.MULTILINE)
    return [[name.removeprefix("device-").replace("-", " "), functions, z, verdict] for name, functions, z, verdict in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("card", type=Path)
    parser.add_argument("geweke", type=Path)
    parser.add_argument("--page", type=Path, default=page.PAGE)
    args = parser.parse_args()
    header = ["operation", "largest relative error, double precision", "mixed precision"]
    page.put("errors", header, errors(args.card.read_text()), args.page)
    page.put("geweke", ["configuration", "functions", "largest &#124;z&#124;", "verdict"], verdicts(args.geweke.read_text()), args.page)


if __name__ == "__main__":
    main()
