"""What lies outside the folder of the documentation and belongs to the site."""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ALT_TEXTS = "alt_texts.toml"
EXAMPLE = (
    "lehner estimate tickets.csv --system gpt --raters ana,ben,cai,dee --truth gold "
    "--report example_report.html"
)
"""The command that makes the example report."""


def copy_notebooks(source: Path, target: Path) -> None:
    """Copy the notebooks, with texts of their pictures and with links to pages of the site."""
    target.mkdir(exist_ok=True)
    alt_texts = tomllib.loads((target / ALT_TEXTS).read_text(encoding="utf-8"))
    pages = {
        "../docs/": "../",
        "../experiments/benchmarks/estimators.md": "../results/simulated.md",
    }
    for notebook in sorted(source.glob("*.ipynb")):
        content = json.loads(notebook.read_text(encoding="utf-8"))
        _add_alt_texts(content["cells"], alt_texts.get(notebook.stem, []), notebook.name)
        text = json.dumps(content, ensure_ascii=False, indent=1)
        for link, page in pages.items():
            text = text.replace(link, page)
        copy = target / notebook.name
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def _add_alt_texts(cells: list[dict[str, Any]], texts: list[str], name: str) -> None:
    """Say for each cell with pictures what they show."""
    drawn = [cell for cell in cells if _has_picture(cell)]
    if len(drawn) != len(texts):
        message = f"{name} has {len(drawn)} cells with pictures, {ALT_TEXTS} {len(texts)} texts"
        raise ValueError(message)
    for cell, text in zip(drawn, texts, strict=True):
        cell["metadata"]["mystnb"] = {"image": {"alt": text}}


def _has_picture(cell: dict[str, Any]) -> bool:
    outputs = cell.get("outputs", [])
    return any(kind.startswith("image/") for each in outputs for kind in each.get("data", {}))


def link_notebooks(app, name, source) -> None:
    """Link a page of the site to the copies of notebooks, which are one folder nearer."""
    source[0] = source[0].replace("](../notebooks/", "](notebooks/")
    source[0] = source[0].replace("](../../notebooks/", "](../notebooks/")


def copy_site(app, exception) -> None:
    """Copy the bias explorer, which is plain HTML and JavaScript, beside the built pages."""
    explorer = Path(app.srcdir) / "explorer"
    if exception is None and app.builder.format == "html" and explorer.is_dir():
        shutil.copytree(explorer, Path(app.outdir) / "explorer", dirs_exist_ok=True)


def write_example_report(app, exception) -> None:
    """Run the command that makes the example report, and put the page beside the built ones."""
    if exception is not None or app.builder.format != "html":
        return
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(Path(app.srcdir) / "data" / "tickets.csv", folder)
        words = [sys.executable, "-m", "lehner", *shlex.split(EXAMPLE)[1:]]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        shutil.copy(Path(folder) / "example_report.html", app.outdir)
