#!/usr/bin/python3
"""Says what a build of models cost: summarize.py EXECUTION_LOG PROFILE [--table=FILE]

EXECUTION_LOG and PROFILE are what Bazel wrote for --execution_log_json_file and --profile.
"""

import argparse
import sys
from typing import List

from actions import Action, read_actions, write_table


def mebibytes(size: float) -> str:
    return f"{size / 2**20:.1f} MiB"


def summary(actions: List[Action]) -> str:
    ran = [action for action in actions if not action.hit]
    models = {action.model: action.model_bytes for action in actions}
    tools = {action.tool_bytes for action in actions}
    inputs = sum(action.tool_bytes + action.model_bytes for action in actions)
    sets = sum(action.set_bytes for action in actions)
    lines = [
        f"{len(actions)} actions: {len(actions) - len(ran)} from a remote cache, {len(ran)} run",
        f"inputs: {mebibytes(inputs)}, {mebibytes(inputs / len(actions))} an action",
        f"  each once: {mebibytes(sum(models.values()) + sum(tools))}",
        f"  of each action, the compiler: {', '.join(mebibytes(size) for size in sorted(tools))}",
    ]
    # With --remote_download_minimal they stay where they are.
    if sets:
        lines.append(f"sets: {mebibytes(sets)}, {mebibytes(sets / len(actions))} an action")
    if ran:
        slowest = max(ran, key=lambda action: action.seconds)
        total = sum(action.seconds for action in ran)
        lines.append(f"run: {total:.0f} s, {total / len(ran):.1f} s an action")
        lines.append(f"  the longest: {slowest.model} for {slowest.target}, {slowest.seconds:.1f} s")
    return "\n".join(lines)


def main(argv: List[str]) -> None:
    parser = argparse.ArgumentParser(prog="summarize", description=__doc__.partition("\n")[0])
    parser.add_argument("execution_log", metavar="EXECUTION_LOG")
    parser.add_argument("profile", metavar="PROFILE")
    parser.add_argument("--table", help="also write the actions there, for simulate.py")
    flags = parser.parse_args(argv)
    actions = read_actions(flags.execution_log, flags.profile)
    if not actions:
        raise SystemExit(f"summarize: {flags.execution_log} has no action that compiles; was all built before?")
    print(summary(actions))
    if flags.table:
        write_table(actions, flags.table)


if __name__ == "__main__":
    main(sys.argv[1:])
