#!/usr/bin/python3
"""Says how long a fleet would take for many models like some measured ones.

    simulate.py measured.tsv --models=10000 --machines=1000

The table is what summarize.py wrote of a real build. fleet.py says what is simulated.
"""

import argparse
import sys
from typing import List

from actions import read_table
from fleet import Fleet, make_jobs, simulate


def parser_of_flags() -> argparse.ArgumentParser:
    usual = Fleet(machines=1)
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.partition("\n")[0])
    parser.add_argument("table", metavar="TABLE", help="measured actions")

    def flag(name: str, kind: type, default: object, text: str) -> None:
        parser.add_argument(name, type=kind, default=default, required=default is None, help=text)

    flag("--models", int, None, "how many models are there")
    flag("--changed", int, -1, "how many of them have other inputs than before; all otherwise")
    flag("--machines", int, None, "how many machines are there")
    flag("--slots", int, usual.slots, "actions that a machine runs at once")
    flag("--machine-gbit", float, usual.machine_bandwidth * 8 / 1e9, "a machine's network")
    flag("--store-gbit", float, usual.store_bandwidth * 8 / 1e9, "that of the cache")
    flag("--client-ms", float, usual.client_seconds * 1e3, "the client's work for an action")
    flag("--stored-share", float, 1.0, "what of the sets' bytes the store does not have yet")
    flag("--failures-per-hour", float, usual.failures_per_hour, "of each machine")
    parser.add_argument("--forgetful", action="store_true", help="machines fetch all inputs of each action")
    return parser


def main(argv: List[str]) -> None:
    flags = parser_of_flags().parse_args(argv)
    if min(flags.models, flags.machines, flags.slots) < 1:
        raise SystemExit("simulate: there must be at least one model, one machine and one slot")
    fleet = Fleet(
        machines=flags.machines,
        slots=flags.slots,
        machine_bandwidth=flags.machine_gbit / 8 * 1e9,
        store_bandwidth=flags.store_gbit / 8 * 1e9,
        client_seconds=flags.client_ms / 1e3,
        keeps_files=not flags.forgetful,
        failures_per_hour=flags.failures_per_hour,
    )
    changed = flags.models if flags.changed < 0 else min(flags.changed, flags.models)
    try:
        actions = read_table(flags.table)
    except (OSError, ValueError) as error:
        raise SystemExit(f"simulate: {error}") from error
    result = simulate(fleet, make_jobs(actions, changed, flags.stored_share))
    used = result.compute_seconds / (result.seconds * fleet.machines * fleet.slots) if result.seconds else 0
    print(f"actions:  {result.actions}, and {result.lost_actions} that ran again")
    print(f"time:     {result.seconds:.0f} s; {used:.0%} of the slots' time is compiling")
    print(f"fetched:  {result.fetched_bytes / 1e9:.0f} GB")
    print(f"stored:   {result.stored_bytes / 1e9:.0f} GB")


if __name__ == "__main__":
    main(sys.argv[1:])
