"""Sets as data: read, edit, dump, pack, link."""

import os
import tempfile
import unittest

import ingot
import numpy as np


class ArtifactsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.artifacts = ingot.compile(os.environ["AFFINE"], target="c")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def source(self, artifacts):
        (path,) = [p for p in artifacts if p.endswith(".c")]
        return path

    def test_is_a_mapping(self):
        self.assertEqual(list(self.artifacts), sorted(self.artifacts))
        plan = self.artifacts["host/ingot/plan.binpb"]
        self.assertEqual((plan.loader, plan.path), ("metadata", "host/ingot/plan.binpb"))
        self.assertTrue(plan.content.readonly)
        self.assertGreater(len(plan.content), 0)
        self.assertNotIn("host/ingot/nothing", self.artifacts)
        with self.assertRaises(KeyError):
            self.artifacts["host/ingot/nothing"]
        self.assertIn("plan.binpb", repr(self.artifacts))
        self.assertIn("<td>plan.binpb</td>", self.artifacts._repr_html_())

    def test_saves_and_opens(self):
        path = os.path.join(self.folder, "a.ingot")
        self.artifacts.save(path)
        again = ingot.open_set(path)
        self.assertEqual({p: bytes(a.content) for p, a in again.items()},
                         {p: bytes(a.content) for p, a in self.artifacts.items()})
        with self.assertRaises(ingot.Error):
            ingot.open_set("/nowhere.ingot")

    def test_edits_in_memory_run(self):
        artifacts = ingot.compile(os.environ["AFFINE"], target="c")
        path = self.source(artifacts)
        text = artifacts[path].text()
        before = artifacts[path].content
        self.assertIn("2.0f", text)
        artifacts[path] = text.replace("2.0f", "4.0f")
        np.testing.assert_array_equal(artifacts.load()([[1, 1, 1]])[0], [[5, 6, 7]])
        self.assertEqual(bytes(before).decode(), text)  # what was shown stays

    def test_edits_of_a_dump_run_when_they_are_accepted(self):
        folder = os.path.join(self.folder, "dump")
        self.artifacts.dump(folder)
        path = os.path.join(folder, self.source(self.artifacts))
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace("2.0f", "4.0f"))
        with self.assertRaises(ingot.Error):
            ingot.pack(folder)
        edited = ingot.pack(folder, accept_edits=True)
        np.testing.assert_array_equal(edited.load()([[1, 1, 1]])[0], [[5, 6, 7]])

    def test_an_edited_plan_is_an_edit(self):
        folder = os.path.join(self.folder, "with_plan")
        self.artifacts.dump(folder)
        with open(os.path.join(folder, "host/ingot/plan.binpb.txt"), "a") as file:
            file.write("# mine\n")
        for read in (ingot.open_set, ingot.pack):
            with self.assertRaisesRegex(ingot.Error, "plan.binpb.txt was changed"):
                read(folder)

    def test_inspects_what_is_long(self):
        artifacts = ingot.compile(os.environ["AFFINE"], target="c")
        path = self.source(artifacts)
        artifacts[path] = artifacts[path].text() + "/* long */\n" * 200000
        self.assertEqual(artifacts.inspect(path).count("/* long */"), 200000)

    def test_edits_are_written_down(self):
        artifacts = ingot.compile(os.environ["AFFINE"], target="c")
        path = self.source(artifacts)
        artifacts[path] = artifacts[path].text() + "/* mine */\n"
        self.assertIn({"name": "edited", "a": "", "b": path}, self.artifacts.diff(artifacts)["set"])

    def test_takes_bytes_of_any_kind(self):
        artifacts = ingot.compile(os.environ["AFFINE"], target="c")
        path = self.source(artifacts)
        for content, text in ((b"1", "1"), (bytearray(b"2"), "2"), (memoryview(b"3"), "3"), ("4", "4")):
            artifacts[path] = content
            self.assertEqual(artifacts[path].text(), text)

    def test_names_of_files_need_not_be_utf8(self):
        folder = os.path.join(self.folder, os.fsdecode(b"\xff"))
        os.mkdir(folder)
        path = os.path.join(folder, "model.so")
        self.artifacts.link(path)
        np.testing.assert_array_equal(ingot.load(path)([[1, 1, 1]])[0], [[3, 4, 5]])
        self.artifacts.save(os.path.join(folder, "model.ingot"))
        self.assertEqual(list(ingot.open_set(os.path.join(folder, "model.ingot"))), list(self.artifacts))
        with self.assertRaises(ingot.Error):
            ingot.load(os.path.join(folder, "nothing.so"))
        with self.assertRaisesRegex(ValueError, "null byte"):
            ingot.load(path + "\0")

    def test_a_folder_may_look_like_a_flag(self):
        self.artifacts.dump(os.path.join(self.folder, "-dump"))
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.assertEqual(list(ingot.pack("-dump")), list(self.artifacts))

    def test_tells_differences(self):
        self.assertTrue(self.artifacts.diff(self.artifacts)["equal"])
        other = ingot.compile(os.environ["AFFINE"], target="c", opt_level=0)
        differences = self.artifacts.diff(other)
        self.assertFalse(differences["equal"])
        self.assertIn({"name": "option opt-level", "a": "2", "b": "0"}, differences["set"])

    def test_links_and_inspects(self):
        path = os.path.join(self.folder, "model.so")
        self.artifacts.link(path)
        np.testing.assert_array_equal(ingot.load(path)([[1, 1, 1]])[0], [[3, 4, 5]])
        self.assertIn("host/ingot/plan.binpb", ingot.open_set(path))
        self.assertIn("f32[rows, 3]", self.artifacts.inspect())
        self.assertIn("void", self.artifacts.inspect(self.source(self.artifacts)))


if __name__ == "__main__":
    unittest.main()
