"""Calls of the programs `ingot` and `ingot-compiler`, which compile and link."""

import os
import re
import shutil
import subprocess
import tempfile
from typing import Callable, List, Optional

from ingot._errors import Error

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


def call(
    words: List[str],
    on_progress: Optional[OnProgress] = None,
    is_answer: Callable[[str], bool] = lambda printed: False,
) -> str:
    """Runs `ingot` with `words` and returns what it printed.

    Raises Error with its error line when it fails, unless what it printed is an answer all the same.
    """
    # A file for what it prints, which may be long: a full pipe would stop the program.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            process = subprocess.Popen(
                [find_program()] + words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
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
        errors = [line for line in lines if line.startswith("ingot: ")]
        message = errors[-1][len("ingot: ") :] if errors else " ".join(lines)
        raise Error(message or f"`ingot {words[0]}` ended with {process.returncode}")
    return printed
