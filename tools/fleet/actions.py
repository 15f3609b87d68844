"""The actions of a build that compiled models, from what Bazel tells of it, and their table for the simulation."""

import gzip
import json
from typing import Dict, Iterator, List, NamedTuple, TextIO

_COLUMNS = ["model", "target", "seconds", "tool_bytes", "model_bytes", "set_bytes"]


class Action(NamedTuple):
    """One model, compiled for one target."""

    model: str
    target: str
    seconds: float  # of the action, transfers included
    tool_bytes: int  # of the command and its compiler
    model_bytes: int  # of the model and its external data
    set_bytes: int  # of what came out
    hit: bool  # whether a remote cache had it


def _objects(file: TextIO) -> Iterator[dict]:
    """Bazel writes one object after another, with nothing between them."""
    decoder = json.JSONDecoder()
    text = file.read()
    at = 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        yield value


def _seconds_of(profile: str) -> Dict[str, float]:
    """How long each action took, by the line that Bazel shows of it."""
    with gzip.open(profile, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return {event["name"]: event["dur"] / 1e6 for event in events if event.get("cat") == "action processing"}


def read_actions(execution_log: str, profile: str) -> List[Action]:
    """The compilations in Bazel's --execution_log_json_file and --profile, in the order of their names."""
    seconds = _seconds_of(profile)
    actions = []
    with open(execution_log, encoding="utf-8") as file:
        for spawn in _objects(file):
            if spawn["mnemonic"] != "IngotCompile":
                continue
            # A file that is there under two names is transferred twice.
            sizes = {item["path"]: int(item["digest"].get("sizeBytes", 0)) for item in spawn["inputs"]}
            outputs = [int(item["digest"]["sizeBytes"]) for item in spawn["actualOutputs"]]
            model, _, name = spawn["listedOutputs"][0].rpartition("/")
            model = model.rpartition("/")[2]
            actions.append(
                Action(
                    model=model,
                    target=name[len(model) + 1 : -len(".ingot")],
                    seconds=seconds[spawn["progressMessage"]],
                    tool_bytes=sum(size for path, size in sizes.items() if not path.startswith(model + "/")),
                    model_bytes=sum(size for path, size in sizes.items() if path.startswith(model + "/")),
                    set_bytes=sum(outputs),
                    hit=spawn["remoteCacheHit"],
                )
            )
    return sorted(actions)


def write_table(actions: List[Action], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for action in actions:
            row = action._asdict()
            row["seconds"] = f"{action.seconds:.3f}"
            file.write("\t".join(str(row[column]) for column in _COLUMNS) + "\n")


def read_table(path: str) -> List[Action]:
    """What write_table wrote; raises ValueError with the line that is off."""
    actions = []
    with open(path, encoding="utf-8") as file:
        if file.readline().split() != _COLUMNS:
            raise ValueError(f"{path}:1: the columns must be {' '.join(_COLUMNS)}")
        for number, line in enumerate(file, start=2):
            words = line.rstrip("\n").split("\t")
            try:
                model, target, seconds, *sizes = words
                tool, source, result = map(int, sizes)
                actions.append(Action(model, target, float(seconds), tool, source, result, False))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from error
    return actions
