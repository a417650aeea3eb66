#!/usr/bin/env python3
"""How long a sweep of one chain takes over many processes: measured compute, and a model of the network.

    evidence/benchmarks/scale_model/simulate.py                      the projection of docs/scale.md
    evidence/benchmarks/scale_model/simulate.py --rows 1e6 --columns 20000 --processes 16 64 157 --cores 16

A sweep is simulated as its sequence of sums over columns (docs/scale.md lists them): before each, every process computes its share, and then
all exchange numbers. Compute is a rate that was measured on one core, with a random slowdown per process and sum, so that a sum waits for the
slowest; the network has a latency per message and a bandwidth per process (Hockney's model). A sum of n numbers is an all-gather for n up to 4096,
of log2(R) messages, and otherwise an exchange and an all-gather of R - 1 messages each, as in crates/rflvm/src/chunks.rs.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass

LONG = 4096
WIDTH = 128
RANK = 24


@dataclass
class Machine:
    """What a process has."""

    cores: int
    rate: float  # multiplications per second and core, as measured
    latency: float  # seconds per message
    bandwidth: float  # bytes per second and process
    jitter: float  # standard deviation of ln of the time of a piece of work


def sweep(rows: int, columns: int, features: int, dim: int, evaluations: int, tries: float) -> list[tuple[str, float, float, int]]:
    """The pieces of a sweep of counts: name, multiplications for all columns, multiplications that every process repeats, numbers summed."""
    m = features + 1
    frequencies = features // 2
    pieces = []
    # Three products of the table's size for the gradient, two for the noise, and one for its momenta; HᵀH and two more with H are repeated.
    gradient = rows * dim + frequencies * dim + m * m + RANK * m + 1
    for _ in range(evaluations):
        pieces.append(("gradient", 6.0 * rows * m * columns + 4.0 * m * m * columns, 3.0 * rows * m * m, gradient))
    left = rows
    while left >= 1:
        # Row by row, the weights come from memory: 15 times as long as in a product.
        pieces.append(("positions", 15.0 * left * m * columns, 0.0, int(left)))
        left *= 1.0 - 1.0 / tries
    for _ in range(round(0.1 * frequencies * tries)):
        # An exponential per cell takes as long as some 90 multiplications.
        pieces.append(("frequencies", 90.0 * rows * columns, 0.0, 1))
    # A tenth of the columns are redrawn: Newton steps and a factor each.
    pieces.append(("weights", 0.1 * columns * 4.0 * rows * m * m / 2, 0.0, 1))
    return pieces


def seconds_of_sum(numbers: int, processes: int, machine: Machine) -> float:
    """The exchange after a piece of work, with one branch per process."""
    if processes == 1:
        return 0.0
    if numbers <= LONG:
        messages = math.ceil(math.log2(processes))
        return messages * machine.latency + 8.0 * numbers * (processes - 1) / machine.bandwidth
    messages = 2 * (processes - 1)
    return messages * machine.latency + 2 * 8.0 * numbers * (1 - 1 / processes) / machine.bandwidth


def simulate(pieces: list[tuple[str, float, float, int]], columns: int, processes: int, machine: Machine, rng: random.Random) -> tuple[float, float]:
    """Seconds of a sweep, and those of them spent in exchanges and waiting."""
    total, waiting = 0.0, 0.0
    chunks = math.ceil(columns / WIDTH)
    share = math.ceil(chunks / processes) / chunks
    speed = machine.rate * machine.cores
    for _, shared, repeated, numbers in pieces:
        alone = (shared * share + repeated) / speed
        # All but the last to arrive wait.
        slowest = alone * max(math.exp(machine.jitter * rng.gauss(0.0, 1.0)) for _ in range(processes))
        exchange = seconds_of_sum(numbers, processes, machine)
        total += slowest + exchange
        waiting += slowest - alone + exchange
    return total, waiting


def memory(rows: int, columns: int, features: int, dim: int, processes: int) -> float:
    """Bytes of a process, by the formula of docs/scale.md."""
    m, own = features + 1, columns / processes
    return 8.0 * (8 * rows * own + 10 * m * own + 3 * rows * m + 12 * rows * dim + 4 * m * m)


def main() -> None:
    """Prints one line per number of processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=float, default=20_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--latent-dim", type=int, default=2)
    parser.add_argument("--processes", type=int, nargs="+", default=[8, 16, 32, 64, 157])
    parser.add_argument("--cores", type=int, default=16, help="per process")
    parser.add_argument("--rate", type=float, default=RATE, help="multiplications per second and core")
    parser.add_argument("--latency", type=float, default=3e-6, help="seconds per message")
    parser.add_argument("--bandwidth", type=float, default=10e9, help="bytes per second and process")
    parser.add_argument("--jitter", type=float, default=0.05)
    parser.add_argument("--evaluations", type=int, default=13, help="of the gradient per sweep")
    parser.add_argument("--tries", type=float, default=3.0, help="of a slice")
    parser.add_argument("--sweeps", type=int, default=2000)
    args = parser.parse_args()
    rows, columns = int(args.rows), int(args.columns)
    pieces = sweep(rows, columns, args.features, args.latent_dim, args.evaluations, args.tries)
    rng = random.Random(1)
    machine = Machine(args.cores, args.rate, args.latency, args.bandwidth, args.jitter)
    print("processes, seconds per sweep, share of exchange and waiting, hours for the run, GB per process, MB sent per sweep and process")
    for processes in args.processes:
        total, waiting = simulate(pieces, columns, processes, machine, rng)
        sent = sum(
            8 * numbers * (processes - 1) if numbers <= LONG else 16 * numbers * (1 - 1 / processes) for *_, numbers in pieces
        )
        room = memory(rows, columns, args.features, args.latent_dim, processes)
        hours = args.sweeps * total / 3600
        print(f"{processes}, {total:.1f}, {waiting / total:.3f}, {hours:.1f}, {room / 1e9:.0f}, {sent / 1e6:.0f}")


# Measured on one core, Poisson, 500 × 4,000, M = 100: 107 evaluations of the gradient in 23.4 s; positions took 1.5 s, frequencies 0.46 s and
# weights 0.52 s per sweep.
RATE = 6e9

if __name__ == "__main__":
    main()
