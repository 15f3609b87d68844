#!/usr/bin/env python3
"""Writes the man page of `ingot` as its help has it: make_man.py INGOT OUT.1.gz"""

import gzip
import re
import subprocess
import sys

_FLAG = re.compile(r"^  (-\S+(?: \S+)*?)  +(.*)$")
_COMMAND = re.compile(r"^  (\w+) +(.*)$")


def _help(program, *command):
    return subprocess.run(
        [program, "help", *command], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.rstrip()


def _roff(text):
    """`text` with what means something to roff as it stands."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def _item(term, text):
    return f".TP\n.B {_roff(term)}\n{_roff(text)}"


def _flags(lines):
    return [_item(*_FLAG.match(line).groups()) for line in lines]


def _command(program, name):
    """The section of one subcommand: usage, what it does, its flags."""
    usage, _, rest = _help(program, name).partition("\n\n")
    description, _, flags = rest.partition("\n\nFlags:\n")
    lines = []
    for line in description.splitlines():
        # Indented text, such as a list, keeps its lines.
        lines += [".br"] * line.startswith(" ") + [_roff(line.strip())]
    usage = _roff(usage[len("Usage: ") :])
    return [f".SS {name}", f".B {usage}", ".PP", *lines, *_flags(flags.splitlines())]


def _page(program):
    title, _, rest = _help(program).partition("\n\n")
    version = title.split()[1]
    commands = [match.groups() for match in map(_COMMAND.match, rest.splitlines()) if match]
    page = [
        f'.TH INGOT 1 "" "Ingot {version}" "User Commands"',
        ".SH NAME",
        f"ingot, ingot\\-compiler \\- {_roff(title.split(maxsplit=2)[2].rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B ingot",
        ".I COMMAND",
        "\\&...",
        ".SH DESCRIPTION",
        _roff(title + " One command makes them, others look at them, link them and run them."),
        _roff("The program ingot has no compiler. It starts ingot-compiler, beside it, where it needs one."),
        *(_item(name, text) for name, text in commands),
        ".SH COMMANDS",
    ]
    for name, _ in commands:
        page += _command(program, name)
    page += [
        ".SH ENVIRONMENT",
        _item("INGOT_COMPILER", "the path of ingot-compiler, where it does not lie beside ingot"),
        _item("INGOT_LLD", "the LLD that links objects; ld.lld-19 otherwise"),
        _item("INGOT_CC", "the C compiler for sets with C source, whatever they name"),
        ".SH EXIT STATUS",
        _roff("0: done. 1: the work failed, and a line on stderr says why. 2: the words of the call are off."),
    ]
    return "\n".join(page) + "\n"


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as output:
        output.write(gzip.compress(_page(sys.argv[1]).encode(), mtime=0))
