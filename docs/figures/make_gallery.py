"""Make the pictures of the gallery: `python docs/figures/make_gallery.py`, in some ten minutes.

With names as arguments only these: `python docs/figures/make_gallery.py intervals paper`.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
LEHNER = f"{sys.executable} -m experiments "


def make_gallery(names: list[str]) -> None:
    """Run the commands of `gallery.toml`, each once, and keep a picture for each entry."""
    figures = tomllib.loads((HERE / "gallery.toml").read_text(encoding="utf-8"))["figure"]
    chosen = [one for one in figures if one["name"] in names or not names]
    with tempfile.TemporaryDirectory() as folder:
        for data in ("tickets.csv", "unequal.toml", "posts.csv"):
            shutil.copy(HERE.parent / "data" / data, folder)
        for command in dict.fromkeys(one["command"] for one in chosen):
            print(command, flush=True)
            subprocess.run(command.replace("lehner ", LEHNER), shell=True, check=True, cwd=folder)
        for one in chosen:
            shutil.copy(Path(folder) / one["made"], HERE / f"{one['name']}.png")


if __name__ == "__main__":
    make_gallery(sys.argv[1:])
