"""Runs the cells of a notebook and compares what they give with what it shows.

    run_notebook.py NOTEBOOK.ipynb [--write]

With --write, writes what they give into it instead.
"""

import ast
import contextlib
import io
import json
import re
import sys
from typing import Any, Dict, List


def run_cell(source: str, names: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The outputs of a cell, in the form of nbformat 4: what it prints, and its last expression."""
    code = ast.parse(source)
    last = code.body.pop().value if isinstance(code.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last), "<cell>", "eval"), names)
    outputs = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def without_sizes(outputs: List[Dict[str, Any]]) -> str:
    """What is compared: how large an artifact is changes with every compiler."""
    return re.sub(r"(text-align:right'>)[0-9,]+", r"\1", json.dumps(outputs))


def main(path: str, write: bool) -> int:
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    names: Dict[str, Any] = {"__name__": "__main__"}
    wrong = 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        outputs = run_cell("".join(cell["source"]), names)
        if not write and without_sizes(outputs) != without_sizes(cell["outputs"]):
            print(f"cell {number} gives {json.dumps(outputs, indent=1)}\nand shows", file=sys.stderr)
            print(json.dumps(cell["outputs"], indent=1), file=sys.stderr)
            wrong += 1
        cell["outputs"] = outputs
        for output in outputs:
            print("".join(output.get("text", output.get("data", {}).get("text/plain", ""))))
    if write:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv))
