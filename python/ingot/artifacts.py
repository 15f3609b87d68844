"""Sets of artifacts: everything that compiling a model made, as data."""

import collections.abc
import contextlib
import html
import json
import os
import tempfile
from typing import Any, Dict, Iterator, NamedTuple, Optional, Union

from ingot import _native, _programs
from ingot.model import Model, load

Path = Union[str, "os.PathLike[str]"]


class Artifact(NamedTuple):
    """One artifact. `content` shows the bytes where the file is mapped; it is not a copy."""

    target_key: str
    codegen_id: str
    loader: str
    file_name: str
    content: memoryview

    @property
    def path(self) -> str:
        return f"{self.target_key}/{self.codegen_id}/{self.file_name}"

    def text(self) -> str:
        """The content of a text file, such as C source."""
        return bytes(self.content).decode()


class ArtifactSet(collections.abc.Mapping):
    """A mapping from "target key/codegen/file name" to Artifact, in that order.

    `set[path] = content` changes an artifact in memory; save, link and load then use the change.
    """

    def __init__(self, path: Path) -> None:
        """Opens a .ingot file, a dumped directory, or what a linked library carries.

        Files are mapped: their names may go.
        """
        self._native = _native.Set(os.fspath(path))
        self._indices = {}  # by path
        for index in range(len(self._native)):
            target_key, codegen_id, _, file_name = self._native.names(index)
            self._indices[f"{target_key}/{codegen_id}/{file_name}"] = index

    def __getitem__(self, path: str) -> Artifact:
        index = self._indices[path]
        return Artifact(*self._native.names(index), self._native.content(index))

    def __setitem__(self, path: str, content: Union[str, bytes]) -> None:
        if isinstance(content, str):
            content = content.encode()
        self._native.replace(self._indices[path], content)

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)

    def save(self, path: Path) -> None:
        """Writes a .ingot file, which appears whole or not at all."""
        self._native.write(os.fspath(path))

    def dump(self, folder: Path) -> None:
        """Writes a directory to read and edit; `pack` makes a set of it again."""
        with self._saved() as path:
            _programs.call(["dump", path, "-o", os.fspath(folder)])

    def inspect(self, artifact: Optional[str] = None) -> str:
        """What can be said of the set, or of one artifact, for a person."""
        with self._saved() as path:
            return _programs.call(["inspect", path] + ([f"--artifact={artifact}"] if artifact else []))

    def diff(self, other: "ArtifactSet") -> Dict[str, Any]:
        """What differs in `other`, as `ingot diff --json` says it.

        Lists of {"name", "a", "b"} under "set", "artifacts", "functions", "nodes" and "weights",
        where an empty text is of what a set does not have; and whether all are "equal".
        """
        with self._saved() as a, other._saved() as b:
            printed = _programs.call(
                ["diff", a, b, "--json"], is_answer=lambda text: '"equal":false' in text
            )
        return json.loads(printed.splitlines()[-1])

    def link(self, path: Path) -> None:
        """Makes one shared library of the set, which needs no other file."""
        with self._saved() as saved:
            _programs.call(["link", saved, "-o", os.fspath(path), "--quiet"])

    def load(self, *, threads: int = 1, variant: str = "") -> Model:
        """Links the set into a temporary library and loads that."""
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            library = os.path.join(folder, "model.so")
            self.link(library)
            return load(library, threads=threads, variant=variant)

    def __repr__(self) -> str:
        return f"<ingot.ArtifactSet of {len(self)} artifacts: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(a.target_key)}</td><td>{html.escape(a.codegen_id)}</td>"
            f"<td>{html.escape(a.loader)}</td><td>{html.escape(a.file_name)}</td>"
            f"<td style='text-align:right'>{len(a.content):,}</td></tr>"
            for a in self.values()
        )
        return (
            "<table><tr><th>target key</th><th>codegen</th><th>loader</th><th>file name</th>"
            f"<th>bytes</th></tr>{rows}</table>"
        )

    @contextlib.contextmanager
    def _saved(self) -> Iterator[str]:
        """The set as a file, while a program reads it."""
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            path = os.path.join(folder, "model.ingot")
            self.save(path)
            yield path


def open_set(path: Path) -> ArtifactSet:
    """Opens a .ingot file, a dumped directory, or what a linked library carries."""
    return ArtifactSet(path)


def pack(folder: Path, *, accept_edits: bool = False) -> ArtifactSet:
    """The set of a dumped directory. Edited files are an error unless `accept_edits`."""
    with tempfile.TemporaryDirectory(prefix="ingot-") as packed:
        path = os.path.join(packed, "model.ingot")
        _programs.call(
            ["pack", os.fspath(folder), "-o", path] + (["--accept-edits"] if accept_edits else [])
        )
        return ArtifactSet(path)
