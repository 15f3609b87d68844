"""The simulation, the readers of Bazel's files and the maker of workspaces."""

import contextlib
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

import actions
import make_workspace
import summarize
import weigh_sets
from actions import Action
from fleet import Fleet, make_jobs, simulate

HERE = os.path.dirname(os.path.abspath(__file__))

# A table of two models; a machine and a store that need no time unless a test says so.
SMALL = Action("small", "c", 1.0, 100, 10, 20, False)
LARGE = Action("large", "c", 4.0, 100, 1000, 2000, False)
FREE = Fleet(machines=1, slots=1, machine_bandwidth=1e18, store_bandwidth=1e18, client_seconds=0)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text="", mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path


class SimulationTest(unittest.TestCase):
    def run_models(self, fleet, models=10, stored_share=1.0):
        return simulate(fleet, make_jobs([SMALL, LARGE], models, stored_share))

    def test_one_slot_does_one_after_another(self):
        result = self.run_models(FREE)
        self.assertEqual(result.actions, 10)
        self.assertAlmostEqual(result.seconds, 25.0)
        self.assertAlmostEqual(result.compute_seconds, 25.0)

    def test_machines_share_the_work(self):
        self.assertAlmostEqual(self.run_models(FREE._replace(machines=10)).seconds, 4.0)
        self.assertAlmostEqual(self.run_models(FREE._replace(slots=10)).seconds, 4.0)

    def test_the_client_starts_actions_one_after_another(self):
        result = self.run_models(FREE._replace(machines=10, client_seconds=10.0))
        # The tenth action is a large one.
        self.assertAlmostEqual(result.seconds, 100.0 + 4.0)

    def test_a_machine_fetches_the_compiler_once(self):
        self.assertEqual(self.run_models(FREE).fetched_bytes, 100 + 5 * 10 + 5 * 1000)
        forgetful = self.run_models(FREE._replace(keeps_files=False))
        self.assertEqual(forgetful.fetched_bytes, 10 * 100 + 5 * 10 + 5 * 1000)

    def test_a_machine_fetches_a_model_once_for_its_targets(self):
        jobs = make_jobs([SMALL, SMALL._replace(target="llvm")], 3)
        self.assertEqual(simulate(FREE, jobs).fetched_bytes, 100 + 3 * 10)

    def test_the_store_serves_one_after_another(self):
        # 6150 bytes and nothing else takes time to speak of, on as many machines as there are models.
        fleet = FREE._replace(machines=10, store_bandwidth=1.0)
        self.assertGreaterEqual(self.run_models(fleet).seconds, 10 * 100 + 5 * 10 + 5 * 1000)

    def test_what_the_store_has_is_not_stored(self):
        self.assertEqual(self.run_models(FREE).stored_bytes, 5 * 20 + 5 * 2000)
        self.assertEqual(self.run_models(FREE, stored_share=0.5).stored_bytes, 5 * 10 + 5 * 1000)

    def test_failures_lose_work_and_no_action(self):
        fleet = FREE._replace(machines=3, failures_per_hour=60.0, repair_seconds=10.0)
        jobs = make_jobs([SMALL, LARGE], 1000)
        result = simulate(fleet, jobs)
        self.assertGreater(result.lost_actions, 0)
        self.assertAlmostEqual(result.compute_seconds, 2500.0)
        self.assertGreater(result.seconds, simulate(fleet._replace(failures_per_hour=0.0), jobs).seconds)
        self.assertEqual(result, simulate(fleet, jobs))


class ActionsTest(Folder):
    def test_a_table_is_read_as_it_was_written(self):
        path = os.path.join(self.folder, "table.tsv")
        actions.write_table([SMALL, LARGE], path)
        self.assertEqual(actions.read_table(path), [SMALL, LARGE])

    def test_a_wrong_table_is_named_with_its_line(self):
        with self.assertRaisesRegex(ValueError, "wrong.tsv:1: the columns must be model target"):
            actions.read_table(self.write("wrong.tsv", "model\n"))
        path = os.path.join(self.folder, "table.tsv")
        actions.write_table([SMALL], path)
        with open(path, "a", encoding="utf-8") as file:
            file.write("large\tc\n")
        with self.assertRaisesRegex(ValueError, "table.tsv:3: "):
            actions.read_table(path)

    def test_reads_what_bazel_writes(self):
        def spawn(mnemonic, target, hit):
            def item(path, size):
                return {"path": path, "digest": {"sizeBytes": str(size)}}

            return {
                "mnemonic": mnemonic,
                # Bazel lists a file as often as it found it.
                "inputs": [
                    item("tool/ingot-compiler", 7),
                    item("tool/ingot-compiler", 7),
                    item("mlp/model.onnx", 30),
                    item("mlp/weights.bin", 5),
                ],
                "listedOutputs": [f"bazel-out/k8/bin/mlp/mlp_{target}.ingot"],
                "actualOutputs": [item(f"bazel-out/k8/bin/mlp/mlp_{target}.ingot", 40)],
                "progressMessage": f"Compiling {target}",
                "remoteCacheHit": hit,
            }

        spawns = [
            spawn("IngotCompile", "c", False),
            spawn("IngotLink", "c", False),
            spawn("IngotCompile", "aarch64", True),
        ]
        log = self.write("log.json", "".join(json.dumps(one, indent=2) for one in spawns))
        profile = os.path.join(self.folder, "profile.gz")
        events = [
            {"cat": "action processing", "name": f"Compiling {name}", "dur": 2500000} for name in ["c", "aarch64"]
        ]
        with gzip.open(profile, "wt", encoding="utf-8") as file:
            json.dump({"traceEvents": [{"cat": "other", "name": "Compiling c"}, *events]}, file)
        read = actions.read_actions(log, profile)
        there, here = Action("mlp", "aarch64", 2.5, 7, 35, 40, True), Action("mlp", "c", 2.5, 7, 35, 40, False)
        self.assertEqual(read, [there, here])
        self.assertIn("2 actions: 1 from a remote cache, 1 run\n", summarize.summary(read))


class WeighSetsTest(unittest.TestCase):
    def test_tensors_are_taken_apart(self):
        entries = {"__metadata__": {}, "a": {"data_offsets": [0, 2]}, "b": {"data_offsets": [2, 5]}}
        header = json.dumps(entries).encode()
        front = len(header).to_bytes(8, "little") + header
        self.assertEqual(list(weigh_sets.tensors_of(front + b"aabbb")), [front, b"aa", b"bbb"])


class MakeWorkspaceTest(Folder):
    def setUp(self):
        super().setUp()
        self.write("compiler", "#!/bin/sh\n", 0o755)
        self.write("models/mlp/model.onnx", "first")

    def make(self, *more):
        words = [f"{self.folder}/models", f"{self.folder}/out", f"--compiler={self.folder}/compiler", *more]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            make_workspace.main(words)
        return printed.getvalue()

    def fails_with(self, text, *more):
        with self.assertRaises(SystemExit) as caught:
            self.make(*more)
        self.assertIn(text, str(caught.exception.code))

    def read(self, name):
        with open(os.path.join(self.folder, "out", name), encoding="utf-8") as file:
            return file.read()

    def test_a_model_and_its_weights(self):
        self.write("models/mlp/weights.bin", "w")
        self.write("models/mlp/test_data_set_0/input_0.pb")
        self.write("models/notes/readme.txt")
        self.assertEqual(self.make("--target=v4=llvm -mcpu=x86-64-v4"), "1 models for 1 targets: 1 actions\n")
        self.assertIn('external_data = ["weights.bin"]', self.read("mlp/BUILD.bazel"))
        self.assertEqual(self.read("mlp/weights.bin"), "w")
        self.assertEqual(self.read("targets.bzl"), 'TARGETS = {\n    "v4": ["llvm -mcpu=x86-64-v4"],\n}\n')
        self.assertIn('"//mlp:sets"', self.read("BUILD.bazel"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "out", "notes")))

    def test_what_it_made_before_is_replaced(self):
        self.make()
        self.write("models/lstm/model.relay")
        self.assertEqual(self.make(), "2 models for 3 targets: 6 actions\n")
        self.assertIn("//lstm:sets", self.read("BUILD.bazel"))

    def test_nothing_else_is_replaced(self):
        self.write("out/WORKSPACE", 'workspace(name = "mine")\n')
        self.fails_with("is neither empty nor a workspace that this program made")
        self.assertEqual(self.read("WORKSPACE"), 'workspace(name = "mine")\n')

    def test_the_key_is_of_the_libraries(self):
        self.make()
        self.assertRegex(self.read(".bazelrc"), r"ingot-libraries=[0-9a-f]{64}\n")
        digest = make_workspace.libraries_digest
        self.assertEqual(digest("/bin/sh"), digest("/bin/true"))
        self.assertNotEqual(digest("/bin/sh"), digest("/usr/bin/python3"))

    def test_errors_say_what_to_do(self):
        self.fails_with("write NAME=TARGET", "--target=c")
        self.fails_with("there is a target c already", "--target=c=c", "--target=c=llvm")
        self.write("models/mlp/other.onnx")
        self.fails_with("has more than one model: model.onnx, other.onnx")
        os.remove(os.path.join(self.folder, "models", "mlp", "other.onnx"))
        os.chmod(os.path.join(self.folder, "compiler"), 0o644)
        self.fails_with("is no program. 'bazel build //tools:ingot' makes bazel-bin")
        os.remove(os.path.join(self.folder, "models", "mlp", "model.onnx"))
        self.fails_with("has no folder with an .onnx or .relay file in it")


class ScriptsTest(Folder):
    def call(self, script, *words, path=None):
        environment = dict(os.environ, **({"PATH": path} if path else {}))
        return subprocess.run(
            ["/bin/bash", os.path.join(HERE, script), *words],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment,
        )

    def test_words_that_are_off(self):
        for script in ["start_cache.sh", "start_worker.sh", "start_balancer.sh", "show_fleet.sh"]:
            done = self.call(script)
            self.assertEqual(done.returncode, 2, script)
            self.assertIn(f"usage: {script}", done.stderr)
        for words in [("start_cache.sh", "x"), ("start_worker.sh", "x"), ("start_balancer.sh", "x", "1")]:
            done = self.call(words[0], self.folder, *words[1:])
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("the port 'x' is no number", done.stderr)
        self.assertIn("is not empty", self.call("show_fleet.sh", HERE, HERE, HERE).stderr)

    def test_a_folder_that_nginx_would_misread(self):
        done = self.call("start_cache.sh", os.path.join(self.folder, "a;b"), "1")
        self.assertIn("nginx cannot take the name", done.stderr)


class PageTest(unittest.TestCase):
    """docs/fleet.md shows what simulate.py prints, and names files that are there."""

    def setUp(self):
        self.root = os.path.join(HERE, "..", "..")
        with open(os.path.join(self.root, "docs", "fleet.md"), encoding="utf-8") as file:
            self.page = file.read()

    def printed_by(self, words):
        words = ["/usr/bin/python3", *words]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=self.root).stdout

    def test_simulations_print_what_the_page_shows(self):
        parts = r"^```sh\n(tools/fleet/simulate.py [^\n]*)\n```\n+```text\n(.*?)^```$"
        shown = re.findall(parts, self.page, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(shown), 0)
        for command, text in shown:
            self.assertEqual(self.printed_by(shlex.split(command)), text, command)

    def test_rows_of_tables_are_simulations(self):
        row = r"^\| `(--[^`]*)` \| (\d+) s \| (\d+) GB \| (\d+) GB \|"
        rows = re.findall(row, self.page, re.MULTILINE)
        self.assertGreater(len(rows), 4)
        simulation = ["tools/fleet/simulate.py", "tools/fleet/measured.tsv", "--models=10000"]
        for flags, *figures in rows:
            printed = self.printed_by(simulation + shlex.split(flags))
            names = ["time", "fetched", "stored"]
            found = [re.search(rf"^{name}: +(\d+) ", printed, re.MULTILINE)[1] for name in names]
            self.assertEqual(found, figures, flags)

    def test_scripts_are_there(self):
        scripts = set(re.findall(r"tools/fleet/\w+\.\w+", self.page))
        self.assertGreater(len(scripts), 5)
        for script in scripts:
            self.assertTrue(os.path.exists(os.path.join(self.root, script)), script)


if __name__ == "__main__":
    unittest.main()
