#!/usr/bin/python3
"""Says what a store would keep of sets, by what it keeps once: weigh_sets.py --tool=INGOT SET...

Whole files are what a cache keeps of sets as they are. Artifacts are what it would keep of dumped sets, a file for each
artifact. Tensors are what it would keep if each weight were a file.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from typing import Dict, Iterator, List

KINDS = ["files", "artifacts", "tensors"]


def tensors_of(content: bytes) -> Iterator[bytes]:
    """Each tensor of a safetensors file, and what is in front of them."""
    start = 8 + int.from_bytes(content[:8], "little")
    yield content[:start]
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield content[start + begin : start + end]


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Stores:
    """For each kind of thing, those that are there by digest, with their sizes."""

    def __init__(self) -> None:
        self.kept: Dict[str, Dict[bytes, int]] = {kind: {} for kind in KINDS}
        self.given = 0

    def _keep(self, kind: str, content: bytes) -> None:
        self.kept[kind][hashlib.sha256(content).digest()] = len(content)

    def add(self, tool: str, path: str) -> None:
        content = read(path)
        self.given += len(content)
        self._keep("files", content)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([tool, "dump", path, "-o", folder], check=True, stdout=subprocess.DEVNULL)
            for at, _, names in os.walk(folder):
                for name in names:
                    self._add_artifact(name, read(os.path.join(at, name)))

    def _add_artifact(self, name: str, content: bytes) -> None:
        self._keep("artifacts", content)
        parts = tensors_of(content) if name.endswith(".safetensors") else [content]
        for part in parts:
            self._keep("tensors", part)


def main(argv: List[str]) -> None:
    parser = argparse.ArgumentParser(prog="weigh_sets", description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", required=True, help="the program ingot")
    parser.add_argument("sets", metavar="SET", nargs="+")
    flags = parser.parse_args(argv)
    stores = Stores()
    for path in flags.sets:
        try:
            stores.add(flags.tool, path)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"weigh_sets: {path}: {error}") from error
    print(f"{len(flags.sets)} sets: {stores.given / 2**20:.1f} MiB")
    for kind, kept in stores.kept.items():
        print(f"  each of {len(kept)} {kind} once: {sum(kept.values()) / 2**20:.1f} MiB")


if __name__ == "__main__":
    main(sys.argv[1:])
