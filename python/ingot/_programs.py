"""Calls of the programs `ingot` and `ingot-compiler`, which compile and link."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
from typing import Any, Callable, Iterator, List, Optional, Tuple

from ingot._errors import Error
from ingot._protocol import Server

# "[ 40%] lowering", as the program writes it where there is no terminal.
_PROGRESS = re.compile(r"^\[ *(\d+)%\] (.*)$")

OnProgress = Callable[[str, float], None]


def find_program() -> str:
    """The path of `ingot`: $INGOT, or the one that the package has, or the one in PATH."""
    named = os.environ.get("INGOT")
    if named:
        return named
    packaged = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ingot")
    if os.path.exists(packaged):
        return packaged
    found = shutil.which("ingot")
    if found is None:
        raise Error("the program `ingot` is not there: set INGOT to its path", "NOT_FOUND")
    return found


@contextlib.contextmanager
def _served(words: List[str], server: Optional[Server]) -> Iterator[Tuple[List[str], List[int], Callable]]:
    """The words with a connection to `server`, which answers in a thread of its own.

    And the descriptors that the program inherits, and what to call when it has them.
    """
    if server is None:
        yield words, [], lambda: None
        return
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=server.serve, args=(ours,), daemon=True)
    thread.start()
    try:
        yield [words[0], f"--backend=fd:{theirs.fileno()}", *words[1:]], [theirs.fileno()], theirs.close
    finally:
        theirs.close()
        thread.join()


def call(
    words: List[str],
    on_progress: Optional[OnProgress] = None,
    is_answer: Callable[[str], bool] = lambda printed: False,
    server: Optional[Server] = None,
) -> str:
    """Runs `ingot` with `words` and returns what it printed.

    Raises Error with its error line when it fails, unless what it printed is an answer all the same.
    A `server` answers what the program asks backends of this process.
    """
    with _served(words, server) as (words, inherited, started):
        printed, message = _run(words, on_progress, is_answer, inherited, started)
    if message is not None:
        raise Error(message) from (server.exception if server is not None else None)
    return printed


def last_json(printed: str) -> Any:
    """The JSON object in the last line of what a program printed."""
    # str.splitlines would also split at U+2028 and the like, which JSON holds as they are.
    return json.loads(printed.rstrip("\n").rpartition("\n")[2])


def _run(
    words: List[str],
    on_progress: Optional[OnProgress],
    is_answer: Callable[[str], bool],
    inherited: List[int],
    started: Callable[[], None],
) -> Tuple[str, Optional[str]]:
    """What the program printed, and its error line, if it failed."""
    # A file for what it prints, which may be long: a full pipe would stop the program.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline="") as output:
        try:
            process = subprocess.Popen(
                [find_program()] + words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                pass_fds=inherited,
            )
            started()
        except OSError as why:
            raise Error(f"{find_program()}: {why.strerror}", "NOT_FOUND") from why
        with process:
            lines = []
            try:
                for line in process.stderr:
                    shown = _PROGRESS.match(line)
                    if shown is None:
                        lines.append(line.strip())
                    elif on_progress is not None:
                        on_progress(shown.group(2), int(shown.group(1)) / 100)
            except BaseException:
                process.kill()
                raise
        output.seek(0)
        printed = output.read()
    if process.returncode != 0 and not is_answer(printed):
        errors = [line for line in lines if line.startswith("ingot: ") and not line.startswith("ingot: note: ")]
        message = errors[-1][len("ingot: ") :] if errors else " ".join(lines)
        return printed, message or f"`ingot {words[0]}` ended with {process.returncode}"
    return printed, None
