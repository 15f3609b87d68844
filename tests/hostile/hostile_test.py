"""Runs `ingot` on hostile files, as a service would on a stranger's: hostile_test.py INGOT [CASE...]

Each call gets 1 GiB and 10 seconds. It ends within them, by itself, with status 0 or 1 and at most one line on stderr, which
is short and names the file, and leaves no file but its output. What compiles is also listed, inspected and run.
Prints a table: what each case took and said.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import models

MEMORY_MIB, SECONDS = 1024, 10
LONGEST_LINE = 1000
# A process has code and mapped files beside what its budget counts.
MOST_RESIDENT_MIB = MEMORY_MIB + 256
# Until the process has ended on a busy machine.
GRACE_SECONDS = 10


class Session:
    """A folder for files, and the calls that went wrong with them."""

    def __init__(self, ingot, folder):
        self.ingot = os.path.abspath(ingot)
        self.folder = folder
        self.wrong = []

    def call(self, label, words, quiet_table=False, must_fail=None):
        """Runs one call; returns whether it succeeded. `must_fail`: what its line says then; "": it must succeed."""
        before = set(os.listdir(self.folder))
        budget = ["--max-memory=%dM" % MEMORY_MIB, "--max-seconds=%d" % SECONDS]
        start = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([self.ingot] + words + budget, stdout=out, stderr=err, cwd=self.folder,
                                       env={"HOME": self.folder, "PATH": os.environ["PATH"],
                                            "TMPDIR": self.folder})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            seconds = time.monotonic() - start
            err.seek(0)
            said = err.read()
        resident = usage.ru_maxrss // 1024
        lines = [l for l in said.split(b"\n") if l and not (l.startswith(b"[") and l[4:7] == b"%] ")]
        problems = []
        if os.WIFSIGNALED(status):
            problems.append("was ended by signal %d" % os.WTERMSIG(status))
        elif os.WEXITSTATUS(status) not in (0, 1):
            problems.append("status %d" % os.WEXITSTATUS(status))
        failed = status != 0
        if failed and len(lines) != 1:
            problems.append("%d lines on stderr" % len(lines))
        for line in lines:
            if len(line) > LONGEST_LINE:
                problems.append("a line of %d bytes" % len(line))
            if any(c < 32 for c in line):
                problems.append("control characters")
            if failed and words[1].encode() not in line:
                problems.append("the line does not name %s" % words[1])
        if must_fail is not None and failed != bool(must_fail):
            problems.append("status %d" % status)
        if must_fail and must_fail.encode() not in said:
            problems.append("does not say '%s'" % must_fail)
        if seconds > SECONDS + GRACE_SECONDS:
            problems.append("took %.0f s" % seconds)
        if resident > MOST_RESIDENT_MIB:
            problems.append("took %d MiB" % resident)
        allowed = {"out.ingot", "folder", ".cache"} if not failed else {".cache"}
        left = set(os.listdir(self.folder)) - before - allowed
        if left:
            problems.append("left %s" % ", ".join(sorted(left)))
        if problems:
            self.wrong.append("%s: %s: %s\n    %r" % (label, " ".join(words), "; ".join(problems), said[:2000]))
        if not quiet_table or problems:
            print("%-32s %-8s %5.1f s %5d MiB  %s" % (label, words[0], seconds, resident,
                                                     lines[0].decode(errors="replace")[:150] if lines else "done"),
                  flush=True)
        return not failed

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def remove(self, name):
        path = os.path.join(self.folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


def try_model(session, name):
    session.write(name + ".onnx", models.CASES[name]())
    if session.call(name, ["compile", name + ".onnx", "-o", "out.ingot", "--quiet"], must_fail=models.REFUSED.get(name)):
        for words in (["list", "out.ingot"], ["inspect", "out.ingot", "--artifact=plan.binpb"]):
            session.call(name, words, quiet_table=True, must_fail="")
        session.call(name, ["run", "out.ingot", "--quiet"])
    if name in models.RIGHT:
        session.call(name, ["verify", name + ".onnx", "--reference=" + name + ".onnx", "--quiet"], must_fail="")
    session.remove("out.ingot")
    session.remove(name + ".onnx")


def damaged(content, chance):
    """The same with a few bytes changed, left out or cut off."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed))
        kind = chance.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at] = chance.randrange(256)
        elif kind == 2:
            del changed[at:at + chance.randint(1, 16)]
        else:
            del changed[max(at, 1):]
    return bytes(changed)


def try_damaged_files(session, rounds):
    """Sets, libraries and models with bytes that changed."""
    chance = random.Random(15)
    session.write("good.onnx", models.many_nodes("Exp", 3))
    for words in (["compile", "good.onnx", "-o", "good.ingot", "--quiet"], ["link", "good.ingot", "-o", "good.so", "--quiet"]):
        subprocess.run([session.ingot] + words, cwd=session.folder, check=True)
    for source, call in (("good.ingot", ["list"]), ("good.ingot", ["inspect"]), ("good.ingot", ["dump", "-o", "folder"]),
                         ("good.so", ["inspect"]), ("good.onnx", ["compile", "-o", "out.ingot", "--quiet"])):
        with open(os.path.join(session.folder, source), "rb") as file:
            content = file.read()
        name = "bad" + os.path.splitext(source)[1]
        done = 0
        for number in range(rounds):
            session.write(name, damaged(content, chance))
            done += session.call("damaged %d" % number, [call[0], name] + call[1:], quiet_table=True)
            session.remove("folder")
            session.remove("out.ingot")
        session.remove(name)
        print("%-32s %-8s %d of %d accepted" % ("damaged " + source, call[0], done, rounds), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        session = Session(sys.argv[1], folder)
        for name in sys.argv[2:] or models.CASES:
            try_model(session, name)
        if len(sys.argv) == 2:
            try_damaged_files(session, 60)
    for problem in session.wrong:
        print("WRONG:", problem)
    print("%d wrong" % len(session.wrong))
    return 1 if session.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
