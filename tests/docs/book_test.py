"""The book has every page of docs/ once, whole, and their links to each other lead somewhere."""

import glob
import os
import re
import unittest


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(path):
    """The anchors that headings get: lower case, words joined by dashes."""
    headings = re.findall(r"^#+ (.*)$", without_code(read(path)), re.MULTILINE)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def links_of(path):
    text = re.sub(r"`[^`\n]*`", "", without_code(read(path)))
    return re.findall(r"\]\(([^)\s]+)\)", text)


class BookTest(unittest.TestCase):
    def test_has_every_page_once(self):
        chapters = re.findall(r"^\d+\. .*$", read("docs/README.md"), re.MULTILINE)
        numbers = [int(chapter.split(".")[0]) for chapter in chapters]
        self.assertEqual(numbers, list(range(1, len(chapters) + 1)))
        listed = re.findall(r"\(([a-z_]+\.md)\)", "\n".join(chapters))
        pages = {os.path.basename(path) for path in glob.glob("docs/*.md")} - {"README.md"}
        self.assertGreater(len(pages), 10)
        self.assertEqual(sorted(listed), sorted(pages), "docs/README.md must list each page once")

    def test_has_no_merge_left_open(self):
        marks = [
            f"{page}:{number}"
            for page in glob.glob("docs/*.md") + ["README.md", "python/README.md"]
            for number, line in enumerate(read(page).splitlines(), 1)
            if re.match(r"(<{7}|>{7}) |={7}$", line)
        ]
        self.assertEqual(marks, [])

    def test_links_lead_somewhere(self):
        pages = glob.glob("docs/*.md") + ["README.md", "python/README.md"]
        wrong = []
        for page in pages:
            for link in links_of(page):
                if "://" in link or link.startswith("mailto:"):
                    continue
                path, _, anchor = link.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                # Only these pages are at hand here.
                if os.path.dirname(path) != "docs" and path not in pages:
                    continue
                if not os.path.exists(path):
                    wrong.append(f"{page}: {link}")
                elif anchor and anchor not in anchors_of(path):
                    wrong.append(f"{page}: {link}: no such heading")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
