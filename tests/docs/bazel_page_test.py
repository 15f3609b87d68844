"""docs/bazel.md shows the files of examples/out_of_tree_model, and its commands are of that workspace."""

import os
import re
import subprocess
import unittest

EXAMPLE = os.path.join("..", "out_of_tree_model")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# Each fenced part of the page is (language, file, text).
PARTS = re.findall(r"^```(\S*)(?: (\S+))?\n(.*?)^```$", read("docs/bazel.md"), re.MULTILINE | re.DOTALL)


class BazelPageTest(unittest.TestCase):
    def test_shows_every_file(self):
        shown = {name: text for _, name, text in PARTS if name}
        for name, text in shown.items():
            self.assertEqual(text, read(os.path.join(EXAMPLE, name)), name)
        built = {"softmax_benchmark", "softmax.so", "README.md"}
        self.assertEqual(set(os.listdir(EXAMPLE)) - built, set(shown))
        self.assertLessEqual(sum(text.count("\n") for text in shown.values()), 60)

    def test_commands_run(self):
        commands = "".join(text for language, name, text in PARTS if language == "sh" and not name)
        ran = 0
        for line in commands.splitlines():
            # The example's tests are run beside this one.
            if line == "bazel test //...":
                continue
            label, _, words = re.fullmatch(r"bazel run (//:\w+)( -- (.*))?", line).groups()
            program = os.path.join(EXAMPLE, label[len("//:") :])
            printed = subprocess.run([program, *words.split()], check=True, stdout=subprocess.PIPE, text=True).stdout
            self.assertIn("MEDIAN", printed)
            ran += 1
        self.assertEqual(ran, 1)


if __name__ == "__main__":
    unittest.main()
