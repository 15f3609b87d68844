"""Bars that say how far a compilation is: in terminals and in notebooks."""

import html
import shutil
import sys
import time
from typing import Any, Callable, Optional, TextIO

# Quick work shows no bar.
_DELAY_SECONDS = 0.3
_WIDTH = 24


class TerminalBar:
    """One line of a terminal, which is gone in the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, what: str, fraction: float) -> None:
        done = round(fraction * _WIDTH)
        line = f"[{'#' * done}{' ' * (_WIDTH - done)}] {fraction:4.0%} {what}"
        columns = shutil.get_terminal_size().columns
        self._stream.write(f"\r{line[: columns - 1]}\x1b[K")
        self._stream.flush()

    def close(self) -> None:
        self._stream.write("\r\x1b[K")
        self._stream.flush()


class NotebookBar:
    """An output of a notebook's cell, empty in the end."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Optional[Any] = None

    def show(self, what: str, fraction: float) -> None:
        bar = self._display.HTML(
            f"<progress value='{fraction:.3f}' max='1'></progress> {html.escape(what)}"
        )
        if self._handle is None:
            self._handle = self._display.display(bar, display_id=True)
        else:
            self._handle.update(bar)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))


class Shown:
    """Progress as `compile` reports it, on a bar, once the work takes a while."""

    def __init__(self, bar: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = bar
        self._clock = clock
        self._start = clock()
        self._visible = False

    def __call__(self, what: str, fraction: float) -> None:
        if self._visible or self._clock() - self._start >= _DELAY_SECONDS:
            self._visible = True
            self._bar.show(what, fraction)

    def close(self) -> None:
        if self._visible:
            self._bar.close()


def bar_for_here() -> Optional[Shown]:
    """What shows progress in this program: a notebook's cell, a terminal, or nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # The shell of a notebook talks to a kernel; that of a terminal does not.
    if getattr(shell, "kernel", None) is not None:
        from IPython import display  # Only where it is there already.

        return Shown(NotebookBar(display))
    if sys.stderr is not None and sys.stderr.isatty():
        return Shown(TerminalBar(sys.stderr))
    return None
