"""Sphinx configuration. Build: `python -m uv run --group docs sphinx-build -W docs docs/_build`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("NUMBA_OPT", "1")

from api_pages import filename_map, write_api_pages
from copies import copy_notebooks, copy_site, link_notebooks, write_example_report
from pygments.lexers import TextLexer
from sphinx.highlighting import lexers

import lehner

project = "lehner"
author = "The lehner developers"
copyright = "the lehner developers; BSD-3-Clause"
version = release = getattr(lehner, "__version__", "")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "upstream/**", "paper/**", "explorer/**", "api/generated/*.md"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["lehner.css"]
html_favicon = "_static/favicon.svg"
html_js_files = ["sidebar.js"]

WIDE = ("simulated", "benchmark", "replication", "speed")
html_theme = "pydata_sphinx_theme"
html_title = "lehner"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    # Pages with wide tables have their room.
    "secondary_sidebar_items": {"**": ["page-toc"], **{f"results/{name}": [] for name in WIDE}},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"get_started": [], "which_method": [], "gallery": [], "explorer": []}
html_show_sourcelink = False

# Saved outputs are shown; the test suite runs the notebooks and the examples.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

default_role = "py:obj"
autodoc_typehints = "none"
autosummary_generate = True
autosummary_imported_members = True
autosummary_filename_map = filename_map()
numpydoc_show_class_members = False
nitpicky = True
# Single backticks in docstrings also hold arguments and values, and other projects are not loaded.
nitpick_ignore_regex = [("py:obj", r"(?s).*"), ("py:class", ".*"), ("py:exc", ".*")]

lexers["mermaid"] = TextLexer()  # a model's graph in a notebook

write_api_pages(HERE / "api")
copy_notebooks(HERE.parent / "notebooks", HERE / "notebooks")


def setup(app):
    """Put what Sphinx does not build, the bias explorer and an example report, beside its pages."""
    app.connect("source-read", link_notebooks)
    app.connect("build-finished", copy_site)
    app.connect("build-finished", write_example_report)
