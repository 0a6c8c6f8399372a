"""What lies outside the folder of the documentation and belongs to the site."""

import shutil
from pathlib import Path


def copy_notebooks(source: Path, target: Path) -> None:
    """Copy the notebooks, with links to committed results turned into links to their pages."""
    target.mkdir(exist_ok=True)
    pages = {
        "../docs/": "../",
        "../experiments/benchmarks/estimators.md": "../results/simulated.md",
        "../experiments/benchmarks/real/real.md": "../results/real.md",
    }
    for notebook in sorted(source.glob("*.ipynb")):
        text = notebook.read_text(encoding="utf-8")
        for link, page in pages.items():
            text = text.replace(link, page)
        copy = target / notebook.name
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def copy_site(app, exception) -> None:
    """Copy the bias explorer, which is plain HTML and JavaScript, beside the built pages."""
    explorer = Path(app.srcdir) / "explorer"
    if exception is None and app.builder.format == "html" and explorer.is_dir():
        shutil.copytree(explorer, Path(app.outdir) / "explorer", dirs_exist_ok=True)
