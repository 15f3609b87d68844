"""Bars in terminals and notebooks, and tables in notebooks."""

import os
import pty
import subprocess
import sys
import types
import unittest
from unittest import mock

import ingot
from ingot import _progress

CHILD = """
import os, sys
from ingot import _progress
_progress._DELAY_SECONDS = 0
import ingot
ingot.compile(os.environ["AFFINE"], target="c")
"""


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Bar:
    def __init__(self):
        self.calls = []

    def show(self, what, fraction):
        self.calls.append((what, fraction))

    def close(self):
        self.calls.append("closed")


class Notebook:
    """What IPython offers in a notebook: outputs that can be changed."""

    def __init__(self):
        self.outputs = []

    def HTML(self, text):
        return text

    def display(self, output, display_id):
        assert display_id
        self.outputs.append([output])
        return types.SimpleNamespace(update=self.outputs[-1].append)


class ProgressTest(unittest.TestCase):
    def test_a_terminal_shows_a_bar_and_is_clean_after_it(self):
        main, terminal = pty.openpty()
        child = subprocess.Popen([sys.executable, "-c", CHILD], stderr=terminal, stdout=subprocess.PIPE)
        os.close(terminal)
        text = b""
        try:
            while chunk := os.read(main, 4096):
                text += chunk
        except OSError:  # Linux raises it once the terminal's other end is closed.
            pass
        os.close(main)
        self.assertEqual(child.communicate()[0], b"")
        self.assertEqual(child.returncode, 0, text)
        lines = text.decode().split("\r")
        self.assertRegex(lines[1], r"^\[ {24}\]   0% starting")
        self.assertRegex(lines[-2], r"^\[#{24}\] 100% done")
        self.assertEqual(lines[-1], "\x1b[K")

    def test_nothing_is_said_elsewhere(self):
        child = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, check=True)
        self.assertEqual((child.stdout, child.stderr), (b"", b""))

    def test_a_notebook_shows_one_output(self):
        notebook = Notebook()
        shell = types.SimpleNamespace(kernel=object())
        ipython = types.SimpleNamespace(get_ipython=lambda: shell, display=notebook)
        with mock.patch.dict(sys.modules, {"IPython": ipython}), mock.patch.object(
            _progress, "_DELAY_SECONDS", 0
        ):
            ingot.compile(os.environ["AFFINE"], target="c")
            (output,) = notebook.outputs
            self.assertIn("<progress value='0.000' max='1'></progress> starting", output[0])
            self.assertIn("value='1.000'", output[-2])
            self.assertEqual(output[-1], "")
            ingot.compile(os.environ["AFFINE"], target="c", progress=False)
            ingot.compile(os.environ["AFFINE"], target="c", on_progress=lambda what, fraction: None)
            self.assertEqual(len(notebook.outputs), 1)
            # The shell of a terminal is none of a notebook.
            shell.kernel = None
            self.assertIsNone(_progress.bar_for_here())

    def test_quick_work_shows_nothing(self):
        clock, bar = Clock(), Bar()
        shown = _progress.Shown(bar, clock)
        shown("starting", 0.0)
        shown.close()
        self.assertEqual(bar.calls, [])
        shown("lowering", 0.2)
        clock.now = 1.0
        shown("lowering", 0.4)
        shown.close()
        self.assertEqual(bar.calls, [("lowering", 0.4), "closed"])


class TablesTest(unittest.TestCase):
    def test_sets_models_and_reports_are_tables(self):
        artifacts = ingot.compile(os.environ["AFFINE"], target="c")
        self.assertIn("<td>plan.binpb</td>", artifacts._repr_html_())
        self.assertIn("<td>f32[rows, 3]</td>", artifacts.load()._repr_html_())
        placed = ingot.explain(os.environ["LEAKY_RELU"], target="cblas,c")
        self.assertRegex(placed._repr_html_(), "<td>LeakyRelu</td><td>c</td><td>cblas: .+</td>")
        other = ingot.compile(os.environ["AFFINE"], target="c", opt_level=0)
        self.assertIn("<td>option opt-level</td>", artifacts.diff(other)._repr_html_())
        self.assertIn("equal", artifacts.diff(artifacts)._repr_html_())

    def test_names_from_a_model_are_no_html(self):
        placed = ingot.Placement([ingot.PlacedNode("<script>", "Relu", "c", {"dnnl": "a < b"})])
        self.assertNotIn("<script>", placed._repr_html_())
        self.assertIn("a &lt; b", placed._repr_html_())


if __name__ == "__main__":
    unittest.main()
