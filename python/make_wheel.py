#!/usr/bin/env python3
"""Writes a wheel, with the same bytes for the same files: make_wheel.py OUT.whl FILE..."""

import base64
import hashlib
import os
import sys
import zipfile

_PROGRAMS = ("ingot", "ingot-compiler")


def _place(path):
    """Where a file of the build lies in the package."""
    name = os.path.basename(path)
    return f"ingot/bin/{name}" if name in _PROGRAMS else f"ingot/{name}"


def main(output, files):
    name, version, tag = os.path.basename(output)[: -len(".whl")].split("-", 2)
    info = f"{name}-{version}.dist-info"
    contents = {}
    readme = ""
    for path in files:
        with open(path, "rb") as file:
            data = file.read()
        if os.path.basename(path) == "README.md":
            readme = data.decode()
        else:
            contents[_place(path)] = data
    contents[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        "Summary: Compiles machine-learning models to artifacts that are plain data, and runs them\n"
        "Requires-Python: >=3.11\nRequires-Dist: numpy\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = f"{info}/RECORD"
    lines = []
    for path, data in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    lines.append(f"{record},,\n")
    contents[record] = "".join(lines).encode()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(contents.items()):
            entry = zipfile.ZipInfo(path)  # of 1980, whenever it is made
            entry.compress_type = zipfile.ZIP_DEFLATED
            is_program = os.path.basename(path) in _PROGRAMS
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, data)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
