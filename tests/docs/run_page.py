"""Does what a page says: run_page.py PAGE.md [NAME=FILE]...

In a folder with these files and `bazel-bin`, which has the files of the test, in the page's order, each fenced part whose
info string begins with

- `sh` is run by bash, with the program `ingot` in PATH; a command that fails ends the test,
- `bash` changes the machine that it runs on and so is only looked up: the scripts that it names must be there,
- `python` is run by one interpreter, which keeps its names,
- anything and then a file's name is written to that file.

`text` right after `sh` or `python` is what that printed. Other parts are for reading.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Tuple


def parts_of(page: str) -> List[Tuple[str, str]]:
    """(info string, text) of each fenced part."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run_sh(text: str) -> str:
    done = subprocess.run(
        ["bash", "-O", "expand_aliases", "-euo", "pipefail", "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"exit status {done.returncode} of:\n{text}{done.stdout}")
    return done.stdout


def look_up(text: str, files: str) -> None:
    for command in re.split(r"&&|\n", text.strip()):
        program = command.split()[0]
        if program == "bazel":
            run_sh(command)
        elif not os.access(os.path.join(files, program), os.X_OK):
            raise SystemExit(f"the page names {program}, which is no program of the test's files")


def run_python(text: str, names: Dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "<page>", "exec"), names)
    return printed.getvalue()


def main(path: str, given: Dict[str, str]) -> None:
    with open(path, encoding="utf-8") as file:
        parts = parts_of(file.read())
    names: Dict[str, Any] = {"__name__": "__main__"}
    ran, printed = 0, ""
    # A page of another workspace has the files of that one.
    files = os.path.abspath(re.match(r"external/[^/]+|", os.path.relpath(path))[0])
    with tempfile.TemporaryDirectory() as folder:
        for name, file in given.items():
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copyfile(file, os.path.join(folder, name))
        os.chdir(folder)
        os.symlink(files, "bazel-bin")
        sys.path.insert(0, folder)
        for info, text in parts:
            language, _, name = info.partition(" ")
            if name:
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
                if text.startswith("#!"):
                    os.chmod(name, 0o755)
            elif language == "sh":
                ran, printed = ran + 1, run_sh(text)
            elif language == "bash":
                look_up(text, files)
                ran, printed = ran + 1, ""
            elif language == "python":
                ran, printed = ran + 1, run_python(text, names)
            elif language == "text" and text not in printed:
                raise SystemExit(f"the page shows\n{text}where this was printed:\n{printed}")
            if language not in ("sh", "bash", "python"):
                printed = ""
        os.chdir("/")
    if ran == 0:
        raise SystemExit(f"{path} has nothing to run")
    print(f"{ran} parts of {path} were run")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
