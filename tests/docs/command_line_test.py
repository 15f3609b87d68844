"""docs/command_line.md has every subcommand of `ingot`, and its flags are those of `ingot help`."""

import os
import re
import subprocess
import unittest

FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def ingot(*words):
    return subprocess.run(
        [os.environ["INGOT_BINARY"], *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def sections():
    """The page's sections by the subcommands in their headings, which may be two."""
    with open("docs/command_line.md", encoding="utf-8") as file:
        parts = re.split(r"^## (.*)$", file.read(), flags=re.MULTILINE)
    return {
        name: text for heading, text in zip(parts[1::2], parts[2::2]) for name in heading.split(" and ")
    }


class CommandLineTest(unittest.TestCase):
    def test_flags_are_those_of_the_program(self):
        by_name = sections()
        everywhere = set(FLAG.findall(by_name["What holds for all of them"]))
        commands = re.findall(r"^  (\w+) +\w", ingot("help"), re.MULTILINE)
        self.assertGreater(len(commands), 10)
        with open("docs/command_line.md", encoding="utf-8") as file:
            table = re.findall(r"^\| \[`(\w+)`\]", file.read(), re.MULTILINE)
        self.assertEqual(table, commands)
        wrong = []
        for command in commands:
            text = by_name[command]
            synopses = re.findall(rf"^ingot {command} .*(?:\n .*)*", text, re.MULTILINE)
            self.assertTrue(synopses, command)
            known = set(re.findall(r"^  --([a-z-]+)", ingot("help", command), re.MULTILINE))
            told = everywhere | set(FLAG.findall(text))
            wrong += [f"{command}: --{flag} is not in the page" for flag in sorted(known - told)]
            shown = set(FLAG.findall("".join(synopses)))
            wrong += [f"{command}: there is no --{flag}" for flag in sorted(shown - known)]
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
