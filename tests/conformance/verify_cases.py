"""Runs a folder of ONNX's test cases through the command `ingot verify`, as they are.

Every folder with a model.onnx is a case; its data sets lie beside the model. Prints a line for each case
that does not pass, with the command's last words, then how many do.

  verify_cases.py INGOT FOLDER [--target=llvm | --interpret] [--jobs=2] [--only=TEXT] [--timeout=300]
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys


def cases_below(folder):
    return sorted(root for root, _, files in os.walk(folder) if "model.onnx" in files)


def verify(ingot, case, flags, timeout):
    """Returns None if the case passes, or else why it does not."""
    command = [ingot, "verify", os.path.join(case, "model.onnx"), "--test-data=" + case, "--quiet"] + flags
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"runs for more than {timeout} seconds"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ingot", help="the command")
    parser.add_argument("folder", help="with cases at any depth")
    parser.add_argument("--target", default="", help="as --target of `ingot verify`; its default otherwise")
    parser.add_argument("--interpret", action="store_true", help="as --interpret of `ingot verify`")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--only", default="", help="cases whose path has this text in it")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a case")
    args = parser.parse_args()
    # `bazel run` starts programs in a folder of its own.
    folder = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), args.folder)
    cases = [case for case in cases_below(folder) if args.only in case]
    if not cases:
        sys.exit(f"there are no cases in {folder}")
    flags = ["--target=" + args.target] if args.target else []
    if args.interpret:
        flags.append("--interpret")
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda case: verify(args.ingot, case, flags, args.timeout), cases)
        for case, reason in zip(cases, results):
            if reason is None:
                passed += 1
            else:
                print(f"{os.path.relpath(case, folder)}: {reason}", flush=True)
    print(f"{passed} of {len(cases)} cases pass")
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
