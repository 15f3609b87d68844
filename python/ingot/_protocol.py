"""Answers what the compiler asks backends in Python (docs/external_backends.md)."""

import json
import os
import socket
import sys
from typing import Any, Dict, List, Optional

from ingot._errors import Error
from ingot.artifact import LIVE_LOADER, Artifact, InMemoryArtifact
from ingot.backends import Backends, TargetKind
from ingot.relay import (
    CUSTOM,
    Node,
    Target,
    dtype_text,
    node_of,
    operands_of,
    region_of,
    target_of,
)

_VERSION = 2


class _Payload:
    """The bytes that an answer sends after its line."""

    def __init__(self) -> None:
        self.parts: List[bytes] = []
        self.size = 0

    def add(self, content: bytes) -> List[int]:
        """Adds bytes and returns what means them in the answer."""
        place = [self.size, len(content)]
        self.parts.append(content)
        self.size += len(content)
        return place


class Server:
    """One conversation. Objects of this process that artifacts stand for are kept in `live`."""

    def __init__(self, backends: Backends, can_live: bool = True) -> None:
        self.live: List[InMemoryArtifact] = []
        self.exception: Optional[BaseException] = None  # that a backend raised last
        self._backends = backends
        self._can_live = can_live

    def serve(self, connection: socket.socket) -> None:
        """Answers until the other side closes the connection."""
        with connection, connection.makefile("rb") as requests:
            for line in requests:
                payload = _Payload()
                try:
                    request = json.loads(line)
                    sent = requests.read(request.get("bytes", 0))
                    answer = self._answer(request, sent, payload)
                    if payload.size > 0:
                        answer["bytes"] = payload.size
                except Exception as exception:  # Whatever a backend raises, the compiler is told.
                    self.exception = exception
                    text = " ".join(str(exception).split())
                    answer = {"error": f"{type(exception).__name__}: {text}"}
                    payload = _Payload()
                try:
                    connection.sendall(json.dumps(answer).encode() + b"\n")
                    for part in payload.parts:
                        connection.sendall(part)
                except OSError:
                    return  # It ended meanwhile, for a reason of its own.

    def _answer(self, request: Dict[str, Any], sent: bytes, payload: _Payload) -> Dict[str, Any]:
        method = request["method"]
        if method == "describe":
            return self._describe()
        if method == "inspect":
            artifact = dict(request["artifact"])
            offset, size = artifact.pop("content")
            rule = self._backends.inspectors[request["inspector"]]
            text = rule.inspect(Artifact(content=sent[offset : offset + size], **artifact))
            return {"text": _text(text, f"the inspector {rule.name}")}
        if method == "infer":
            operator = self._backends.operators[request["operator"]]
            operands = operands_of(request["inputs"])
            types = operator.infer(operands, json.loads(request["attributes"]))
            return {
                "outputs": [
                    {"dtype": dtype_text(type_.dtype), "shape": list(type_.shape)} for type_ in types
                ]
            }
        target = target_of(request["target"])
        kind = self._backends.targets[target.kind]
        if method == "supports":
            return _supports(kind, target, node_of(request["node"]))
        if method == "relay_to_runtime":
            artifacts = kind.relay_to_runtime(target, region_of(request["region"], sent))
            return {
                "artifacts": [self._artifact(artifact, payload) for artifact in artifacts],
                "link_libraries": list(kind.link_libraries),
            }
        raise Error(f"the request '{method}' is not known", "UNIMPLEMENTED")

    def _describe(self) -> Dict[str, Any]:
        targets = []
        for kind in self._backends.targets.values():
            described = {
                "name": kind.name,
                "doc": kind.doc,
                "loaders": [*kind.loaders, LIVE_LOADER],
                "supports": kind.supports is not None or _has_custom(kind),
                "options": dict(kind.options),
                "min_region": kind.min_region,
                "constants": kind.constants,
                "composites": [
                    {"name": name, "pattern": pattern} for name, pattern in kind.composites.items()
                ],
            }
            if kind.operators is not None:
                described["operators"] = sorted(
                    {CUSTOM if "::" in op else op for op in kind.operators}
                )
            targets.append(described)
        inspectors = [
            {
                "name": rule.name,
                "file_suffixes": list(rule.file_suffixes),
                "loader": rule.loader,
                "codegen_id": rule.codegen_id,
                "output_suffix": rule.output_suffix,
            }
            for rule in self._backends.inspectors.values()
        ]
        return {
            "version": _VERSION,
            "name": "in Python",
            "targets": targets,
            "inspectors": inspectors,
            "operators": list(self._backends.operators),
        }

    def _artifact(self, artifact: Any, payload: _Payload) -> Dict[str, Any]:
        if isinstance(artifact, InMemoryArtifact):
            if not self._can_live:
                raise Error(
                    f"{artifact.file_name} is an object of this process, which ends before the model runs",
                    "FAILED_PRECONDITION",
                )
            loader, content = LIVE_LOADER, str(len(self.live)).encode()
            self.live.append(artifact)
        else:
            loader, content = artifact.loader, artifact.data()
        return {
            "loader": loader,
            "file_name": artifact.file_name,
            "content": payload.add(content),
        }


def _has_custom(kind: TargetKind) -> bool:
    return any("::" in op for op in kind.operators or ())


def _supports(kind: TargetKind, target: Target, node: Node) -> Dict[str, str]:
    """The answer; relay knows all custom operators by one name."""
    if kind.operators is not None and node.op not in kind.operators and not node.nodes:
        return {"why_not": f"not {node.op}"}
    why_not = None if kind.supports is None else kind.supports(target, node)
    if why_not is None:
        return {}
    return {"why_not": _text(why_not, f"supports of {kind.name}") or "not supported"}


def _text(value: object, who: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{who} returned {value!r}, which is no text")
    return value


def serve(backends: Backends) -> None:
    """Makes this program one that `ingot --backend=PROGRAM` takes; call it at the end.

    What is printed goes to stderr: stdout belongs to the compiler.
    """
    connection = socket.socket(fileno=os.dup(0))
    sys.stdout = sys.stderr
    Server(backends, can_live=False).serve(connection)
