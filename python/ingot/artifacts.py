"""Sets of artifacts: everything that compiling a model made, as data."""

import collections.abc
import contextlib
import os
import tempfile
from typing import Iterator, List, Optional, Sequence, Union

from ingot import _native, _programs
from ingot._errors import Error
from ingot._protocol import Server
from ingot.artifact import LIVE_LOADER, Artifact, InMemoryArtifact
from ingot.backends import Backends
from ingot.model import Model
from ingot.report import Differences, table

Path = Union[str, "os.PathLike[str]"]


class ArtifactSet(collections.abc.Mapping):
    """A mapping from "target key/codegen/file name" to Artifact, in that order.

    `set[path] = content` changes an artifact in memory; save, link and load then use the change.
    """

    def __init__(
        self, path: Path, backends: Optional[Backends] = None, live: Sequence[InMemoryArtifact] = ()
    ) -> None:
        """Opens a .ingot file, a dumped directory, or what a linked library carries.

        Files are mapped: their names may go. `backends` are those that loading and inspecting may
        need; `live` are the objects that artifacts for the loader "callback" stand for.
        """
        self.backends = backends
        self._native = _native.Set(os.fspath(path))
        self._live = live
        self._indices = {}  # by path
        for index in range(len(self._native)):
            target_key, codegen_id, _, file_name = self._native.names(index)
            self._indices[f"{target_key}/{codegen_id}/{file_name}"] = index

    def __getitem__(self, path: str) -> Artifact:
        index = self._indices[path]
        target_key, codegen_id, loader, file_name = self._native.names(index)
        return Artifact(loader, file_name, self._native.content(index), target_key, codegen_id)

    def __setitem__(self, path: str, content: Union[str, bytes, bytearray, memoryview]) -> None:
        if self[path].loader == LIVE_LOADER:
            raise Error(f"{path} is a live object of this process, which has no content", "INVALID_ARGUMENT")
        content = content.encode() if isinstance(content, str) else bytes(memoryview(content))
        self._native.replace(self._indices[path], content)

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)

    def save(self, path: Path) -> None:
        """Writes a .ingot file, which appears whole or not at all."""
        self._check_exportable()
        self._native.write(os.fspath(path))

    def dump(self, folder: Path) -> None:
        """Writes a directory to read and edit; `pack` makes a set of it again."""
        self._check_exportable()
        with self._saved() as path:
            _programs.call(["dump", path, "-o", os.fspath(folder)], server=self._inspectors())

    def inspect(self, artifact: Optional[str] = None) -> str:
        """What can be said of the set, or of one artifact, for a person."""
        if artifact in self._indices and self[artifact].loader == LIVE_LOADER:
            return f"{self._live[int(self[artifact].text())]!r}\n"
        with self._saved() as path:
            words = ["inspect", path] + ([f"--artifact={artifact}"] if artifact else [])
            return _programs.call(words, server=self._inspectors())

    def diff(self, other: "ArtifactSet") -> Differences:
        """What differs in `other`, as `ingot diff --json` says it.

        Lists of {"name", "a", "b"} under "set", "artifacts", "functions", "nodes" and "weights",
        where an empty text is of what a set does not have; and whether all are "equal".
        """
        with self._saved() as a, other._saved() as b:
            printed = _programs.call(
                ["diff", a, b, "--json"], is_answer=lambda text: '"equal":false' in text
            )
        return Differences(_programs.last_json(printed))

    def link(self, path: Path) -> None:
        """Makes one shared library of the set, which needs no other file."""
        self._check_exportable()
        self._link(os.fspath(path))

    def load(
        self, *, threads: int = 1, variant: str = "", backends: Optional[Backends] = None
    ) -> Model:
        """Links the set into a temporary library and loads that.

        `backends` take the place of those that the set was compiled or opened with.
        """
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            library = os.path.join(folder, "model.so")
            self._link(library)
            return Model(library, threads, False, variant, backends or self.backends, self._live)

    def __repr__(self) -> str:
        return f"<ingot.ArtifactSet of {len(self)} artifacts: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        return table(
            ("target key", "codegen", "loader", "file name", "bytes"),
            (
                (a.target_key, a.codegen_id, a.loader, a.file_name, len(a.content))
                for a in self.values()
            ),
        )

    def _live_paths(self) -> List[str]:
        return [path for path in self if self[path].loader == LIVE_LOADER]

    def _check_exportable(self) -> None:
        for path in self._live_paths():
            raise Error(
                f"{path} is a live object of this process: a set with it can be loaded here but not exported",
                "FAILED_PRECONDITION",
            )

    def _inspectors(self) -> Optional[Server]:
        has_some = self.backends is not None and self.backends.inspectors
        return Server(self.backends) if has_some else None

    def _link(self, path: str) -> None:
        with self._saved() as saved:
            _programs.call(["link", saved, "-o", path, "--quiet"])

    @contextlib.contextmanager
    def _saved(self) -> Iterator[str]:
        """The set as a file, while a program reads it; numbers stand for its live objects."""
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            path = os.path.join(folder, "model.ingot")
            self._native.write(path)
            yield path


def open_set(path: Path, *, backends: Optional[Backends] = None) -> ArtifactSet:
    """Opens a .ingot file, a dumped directory, or what a linked library carries."""
    return ArtifactSet(path, backends)


def pack(
    folder: Path, *, accept_edits: bool = False, backends: Optional[Backends] = None
) -> ArtifactSet:
    """The set of a dumped directory. Edited files are an error unless `accept_edits`."""
    with tempfile.TemporaryDirectory(prefix="ingot-") as packed:
        path = os.path.join(packed, "model.ingot")
        _programs.call(
            ["pack", "-o", path] + (["--accept-edits"] if accept_edits else []) + ["--", os.fspath(folder)]
        )
        return ArtifactSet(path, backends)
