"""What can be said of a model or of two sets, as data that notebooks show as tables."""

import html
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in HTML. Numbers stand on the right."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    return f"<table><tr>{head}</tr>{''.join(map(_row, rows))}</table>"


class PlacedNode(NamedTuple):
    """A node of a model."""

    name: str
    op: str
    target: str  # that takes it, or "folded": it costs nothing when the model runs
    why_not: Dict[str, str]  # the reasons of the targets in front of that, by target


class Placement(List[PlacedNode]):
    """Which target takes each node of a model, and why others do not."""

    def _repr_html_(self) -> str:
        return table(
            ("node", "operator", "target", "why not"),
            (
                (n.name, n.op, n.target, "; ".join(f"{t}: {why}" for t, why in n.why_not.items()))
                for n in self
            ),
        )


class Differences(Dict[str, Any]):
    """What differs between two sets; see ArtifactSet.diff."""

    def _repr_html_(self) -> str:
        if self["equal"]:
            return "<p>The sets are equal.</p>"
        return table(
            ("what", "name", "a", "b"),
            (
                (what, entry["name"], entry["a"], entry["b"])
                for what, entries in self.items()
                if isinstance(entries, list)
                for entry in entries
            ),
        )


def _row(cells: Sequence[Any]) -> str:
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"<td style='text-align:right'>{value:,}</td>"
    return f"<td>{html.escape(str(value))}</td>"
