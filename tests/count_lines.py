"""The lines of code of each folder: not blank, not comment, not docstring.

Run `python tests/count_lines.py`; with `--files`, each file is counted too.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGES = ("lehner", "bayes_models", "experiments")
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(source: str) -> int:
    """Count the lines of a file that are neither blank nor comment nor docstring."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def main() -> None:
    """Print the lines of code by folder, and of the three packages together."""
    root = Path(__file__).resolve().parent.parent
    total = 0
    for package in PACKAGES:
        files = {
            path.relative_to(root): lines_of_code(path.read_text(encoding="utf-8"))
            for path in sorted((root / package).rglob("*.py"))
        }
        folders: Counter[str] = Counter()
        for path, count in files.items():
            folders[path.parent.as_posix()] += count
            if "--files" in sys.argv:
                print(f"{count:7,}  {path}")
        for folder, count in sorted(folders.items()):
            print(f"{count:7,}  {folder}/")
        total += sum(files.values())
        print(f"{sum(files.values()):7,}  {package}, all folders")
    print(f"{total:7,}  the three packages")


if __name__ == "__main__":
    main()
