"""The lines of code of each folder, and of TOML: not blank, not comment, not docstring.

Run `python tests/count_lines.py`; with `--files`, each file is counted too. With `--check`, the
counts are compared with `[tool.lehner]` in `pyproject.toml`, which may fall and never rise.
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("lehner", "bayes_models", "experiments")
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# TOML that is data: studies, simulations, and lists of sources.
DATA = ("studies/", "study/quick.toml", "simulations/", "benchmarks/real/", "sources.toml")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(source: str) -> int:
    """Count the lines of a file that are neither blank nor comment nor docstring."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstrings |= lines_of(node.body[0])
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def lines_of_imports(source: str) -> int:
    """Count the lines of a file that import something."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines |= lines_of(node)
    return len(lines)


def lines_of(node: ast.stmt) -> set[int]:
    """List the lines of a statement."""
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def read_sources(folder: str) -> dict[Path, str]:
    """Read the Python files below a folder of the repository."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in paths}


def count_toml() -> int:
    """Count the lines of TOML in the packages that are no data."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.toml")]
    texts = [path.read_text(encoding="utf-8") for path in paths if not is_data(path)]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def is_data(path: Path) -> bool:
    """Tell whether a TOML file is data."""
    return any(part in path.as_posix() for part in DATA)


def print_folders() -> None:
    """Print the lines of code by folder, and of the three packages together."""
    total = 0
    for package in PACKAGES:
        files = {path: lines_of_code(source) for path, source in read_sources(package).items()}
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


def check_limits() -> bool:
    """Print each count beside its limit, and say whether all are within."""
    sources = [source for package in PACKAGES for source in read_sources(package).values()]
    lines = sum(map(lines_of_code, sources))
    counts = {
        "most_lines": lines,
        "most_files": len(sources),
        "most_lines_of_tests": sum(map(lines_of_code, read_sources("tests").values())),
        "most_lines_of_toml": count_toml(),
    }
    with (ROOT / "pyproject.toml").open("rb") as file:
        limits = tomllib.load(file)["tool"]["lehner"]
    for name, count in counts.items():
        note = "" if count <= limits[name] else ": delete before you add"
        print(f"{name}: {count:,} of {limits[name]:,}{note}")
    print(
        f"imports: {sum(map(lines_of_imports, sources)) / lines:.1%} of the lines of the packages"
    )
    return all(count <= limits[name] for name, count in counts.items())


if __name__ == "__main__":
    if "--check" not in sys.argv:
        print_folders()
    elif not check_limits():
        sys.exit(1)
