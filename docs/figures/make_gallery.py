"""Make the pictures of the documentation: `python docs/figures/make_gallery.py`, in some minutes.

With names as arguments only these: `python docs/figures/make_gallery.py intervals raters`. The name
`committed` stands for the pictures of committed tables.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import k_violations
import real_ratings
from matplotlib.figure import Figure

from lehner.report.files import draw_bytes

HERE = Path(__file__).parent
LEHNER = f"{sys.executable} -m lehner "


def make_gallery(names: list[str]) -> None:
    """Run the commands of `gallery.toml`, each once, and keep a picture for each entry."""
    figures = tomllib.loads((HERE / "gallery.toml").read_text(encoding="utf-8"))["figure"]
    wanted = [figure for figure in figures if figure["name"] in names or not names]
    with tempfile.TemporaryDirectory() as folder:
        for data in ("tickets.csv", "unequal.toml"):
            shutil.copy(HERE.parent / "data" / data, folder)
        for command in dict.fromkeys(figure["command"] for figure in wanted):
            print(command, flush=True)
            subprocess.run(command.replace("lehner ", LEHNER), shell=True, check=True, cwd=folder)
        for figure in wanted:
            shutil.copy(Path(folder) / figure["made"], HERE / f"{figure['name']}.png")


def draw_committed() -> dict[Path, Figure]:
    """Draw the figures of committed tables, by the file in which each is kept."""
    return {
        HERE / f"{module.__name__}{ending}.png": module.draw(narrow=bool(ending))
        for module in (k_violations, real_ratings)
        for ending in ("", "_narrow")
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["committed"]:
        make_gallery(sys.argv[1:])
    if not sys.argv[1:] or "committed" in sys.argv:
        for path, figure in draw_committed().items():
            path.write_bytes(draw_bytes(figure, "png"))
