#!/usr/bin/python3
"""Makes a Bazel workspace that compiles a folder of models for several targets: docs/fleet.md.

    make_workspace.py MODELS WORKSPACE --compiler=FILE [--target=NAME=TARGET]... [--ingot=FOLDER]

MODELS has a folder for each model, with one .onnx or .relay file and, beside it, the files of its external weights.
WORKSPACE is new, or one that this made before. Models are linked, not copied. The compiler is copied: it is an input of
every action, and a build must not change under one's hands. It has all that actions need of the command, which would
only start it.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from typing import Dict, List, NamedTuple

COMPILER = "ingot-compiler"
SUFFIXES = (".onnx", ".relay")
MARK = "# Made by Ingot's tools/fleet/make_workspace.py.\n"
TARGETS = {
    "x86_64_v3": "llvm -mcpu=x86-64-v3",
    "aarch64": "llvm -mtriple=aarch64-linux-gnu -mcpu=generic",
    "c": "c",
}

WORKSPACE = """\
workspace(name = "fleet")

local_repository(
    name = "ingot",
    path = {ingot},
)

load("@ingot//third_party:repositories.bzl", "ingot_repositories")

ingot_repositories()
"""

# The libraries that the command finds on the machine that runs it are no inputs of its actions. What a cache keeps
# under a key that leaves them out would outlive an update of LLVM.
BAZELRC = """\
build --nosandbox_debug
build --incompatible_strict_action_env
build --remote_default_exec_properties=ingot-libraries={libraries}
"""

MODEL = """\
load("@ingot//tools:ingot.bzl", "ingot_model")
load("//:targets.bzl", "TARGETS")

[
    ingot_model(
        name = "{name}_" + target,
        src = "{src}",
        cc = False,
        external_data = {external_data},
        ingot = "//tool:ingot-compiler",
        targets = targets,
    )
    for target, targets in TARGETS.items()
]

filegroup(
    name = "sets",
    srcs = ["{name}_%s.ingot" % target for target in TARGETS],
    visibility = ["//:__pkg__"],
)
"""

ALL = """\
filegroup(
    name = "sets",
    srcs = {sets},
)
"""


class Model(NamedTuple):
    """A model and the files that it reads."""

    name: str
    path: str
    external_data: List[str]


def die(text: str) -> None:
    raise SystemExit(f"make_workspace: {text}")


def starlark(value: object) -> str:
    """Strings, lists and dictionaries are written with double quotes, as Bazel's own formatter does."""
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')
    if isinstance(value, list):
        return "[%s]" % ", ".join(starlark(item) for item in value)
    if isinstance(value, dict):
        rows = [f"    {starlark(name)}: {starlark(item)},\n" for name, item in value.items()]
        return "{\n%s}" % "".join(rows)
    raise TypeError(value)


def find_models(folder: str) -> List[Model]:
    """The models in a folder, by name."""
    models = []
    for name in sorted(os.listdir(folder)):
        inside = os.path.join(folder, name)
        if not os.path.isdir(inside):
            continue
        files = sorted(entry.name for entry in os.scandir(inside) if entry.is_file())
        sources = [file for file in files if file.endswith(SUFFIXES)]
        if not sources:
            continue
        if len(sources) > 1:
            die(f"{inside} has more than one model: {', '.join(sources)}. Give each a folder of its own")
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            die(f"{inside}: a folder's name becomes a Bazel package; use letters, digits, '_', '-' and '.'")
        if name == "tool":
            die(f"{inside}: the workspace has a folder 'tool' itself; rename the model's")
        beside = [file for file in files if file not in sources]
        models.append(Model(name, os.path.join(inside, sources[0]), beside))
    if not models:
        die(f"{folder} has no folder with an .onnx or .relay file in it")
    return models


def libraries_digest(program: str) -> str:
    """The SHA-256 of the shared libraries that the program finds on this machine."""
    # It fails for a program that needs none.
    done = subprocess.run(
        ["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    missing = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if missing:
        die(f"{program} needs {', '.join(missing)}, which this machine lacks: tools/setup.sh installs them")
    digest = hashlib.sha256()
    for path in sorted(re.findall(r"(/\S+) \(0x", done.stdout)):
        with open(path, "rb") as file:
            digest.update(f"{os.path.basename(path)}\n".encode())
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_compiler(compiler: str, folder: str) -> str:
    if not os.path.isfile(compiler) or not os.access(compiler, os.X_OK):
        die(f"{compiler} is no program. 'bazel build //tools:ingot' makes bazel-bin/tools/ingot/{COMPILER}")
    write(os.path.join(folder, "BUILD.bazel"), f'exports_files(["{COMPILER}"])\n')
    copy = os.path.join(folder, COMPILER)
    shutil.copyfile(compiler, copy)
    os.chmod(copy, 0o755)
    return copy


def write_model(model: Model, folder: str) -> None:
    os.makedirs(folder)
    for file in [os.path.basename(model.path)] + model.external_data:
        os.symlink(os.path.join(os.path.dirname(model.path), file), os.path.join(folder, file))
    text = MODEL.format(
        name=model.name,
        src=os.path.basename(model.path),
        external_data=starlark(model.external_data),
    )
    write(os.path.join(folder, "BUILD.bazel"), text)


def make_room(workspace: str) -> None:
    """Only what this program made is ever replaced."""
    if os.path.isdir(workspace) and os.listdir(workspace):
        try:
            with open(os.path.join(workspace, "WORKSPACE"), encoding="utf-8") as file:
                made_here = file.readline() == MARK
        except FileNotFoundError:
            made_here = False
        if not made_here:
            die(f"{workspace} is neither empty nor a workspace that this program made; name another folder")
        shutil.rmtree(workspace)
    os.makedirs(workspace, exist_ok=True)


def make_workspace(models: List[Model], workspace: str, compiler: str, ingot: str, targets: Dict[str, str]) -> None:
    make_room(workspace)
    # A later call may replace what an interrupted one left.
    write(os.path.join(workspace, "WORKSPACE"), MARK + WORKSPACE.format(ingot=starlark(ingot)))
    copy = copy_compiler(compiler, os.path.join(workspace, "tool"))
    write(os.path.join(workspace, ".bazelrc"), BAZELRC.format(libraries=libraries_digest(copy)))
    lists = {name: [target] for name, target in targets.items()}
    write(os.path.join(workspace, "targets.bzl"), f"TARGETS = {starlark(lists)}\n")
    for model in models:
        write_model(model, os.path.join(workspace, model.name))
    sets = [f"//{model.name}:sets" for model in models]
    write(os.path.join(workspace, "BUILD.bazel"), ALL.format(sets=starlark(sets)))


def parse_targets(texts: List[str]) -> Dict[str, str]:
    targets = {}
    for text in texts:
        name, equals, target = text.partition("=")
        if not equals or not re.fullmatch(r"\w+", name) or not target:
            die(f"--target={text}: write NAME=TARGET, such as --target='v3=llvm -mcpu=x86-64-v3'")
        if name in targets:
            die(f"--target={text}: there is a target {name} already")
        targets[name] = target
    return targets or TARGETS


def main(argv: List[str]) -> None:
    parser = argparse.ArgumentParser(prog="make_workspace", description=__doc__.partition("\n")[0])
    parser.add_argument("models", metavar="MODELS", help="a folder with a folder for each model")
    parser.add_argument("workspace", metavar="WORKSPACE", help="the folder to make")
    parser.add_argument("--compiler", required=True, help="bazel-bin/tools/ingot/ingot-compiler, or a release's")
    names = ", ".join(TARGETS)
    parser.add_argument("--target", action="append", default=[], help=f"NAME=TARGET; {names} otherwise")
    here = os.path.dirname(os.path.realpath(__file__))
    parser.add_argument("--ingot", default=os.path.join(here, "..", ".."), help="where Ingot's rules are")
    flags = parser.parse_args(argv)
    if not os.path.isdir(flags.models):
        die(f"{flags.models} is no folder")
    models = find_models(os.path.abspath(flags.models))
    targets = parse_targets(flags.target)
    make_workspace(models, flags.workspace, flags.compiler, os.path.abspath(flags.ingot), targets)
    print(f"{len(models)} models for {len(targets)} targets: {len(models) * len(targets)} actions")


if __name__ == "__main__":
    main(sys.argv[1:])
