"""What README and documentation show is what commands and snippets do."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, list_pages

_SPEC = importlib.util.spec_from_file_location("examples", Path(__file__).with_name("examples.py"))
examples = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(examples)

PAGES = {str(page.relative_to(examples.ROOT)): page for page in examples.list_pages()}
BLOCKS = {name: examples.read_blocks(page) for name, page in PAGES.items()}


def run(blocks, folder):
    examples.lay_out(folder)
    names = {}
    with chdir(folder):
        return [wrong for block in blocks for wrong in examples.run_block(block, names)]


@pytest.mark.parametrize(
    "name", [n for n, result in BLOCKS.items() if not all(b.slow for b in result)]
)
def test_examples_do_what_they_show(name, tmp_path):
    blocks = [block for block in BLOCKS[name] if not block.slow]
    assert not run(blocks, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, result in BLOCKS.items() if any(b.slow for b in result)])
def test_slow_examples_do_what_they_show(name, tmp_path):
    assert not run(BLOCKS[name], tmp_path)


def test_a_wrong_number_or_word_is_seen():
    printed = "head\nsystem accuracy  0.864 [0.808, 0.915]\n\nlast line of it\n"
    assert (
        examples.find_missing("...\nsystem accuracy 0.865 [0.808, 0.915]\n...", printed, None)
        is None
    )
    assert examples.find_missing("...\nsystem accuracy 0.874 [0.808, 0.915]\n...", printed, None)
    assert examples.find_missing("...\nsystem precision 0.864 [0.808, 0.915]\n...", printed, None)
    assert examples.find_missing("head\n", printed, None)


def test_readme_is_short():
    assert len((examples.ROOT / "README.md").read_text(encoding="utf-8").split()) <= 450


# Pages, docstrings, messages and notebooks use the field's words; our own are in the glossary.


OF_OUR_OWN = re.compile(
    r"\b(known[- ]truths?|shared? (?:mistakes|errors)|intervals? (?:\w+ )?holds?|errs? least"
    r"|(?:ratings|labels|truths|raters|judges|answers|votes) an item|known items?|hardly be meant"
    r"|samples the models|has the fits done|(?:is|are|was|were) told of|dealt?|evaluation deals?"
    r"|crowds with known truth|bad ones)\b",
    re.IGNORECASE,
)
NOT_PROSE = re.compile(
    r"<!-- table.*?end of table -->|```.*?^```|`[^`]*`|\]\([^)]*\)|<[^>]*>",
    re.DOTALL | re.MULTILINE,
)

EXPLAINED = {
    "RMSE": "root mean squared error",
    "[Cc]overage": "contain|cover",
    "[Gg]old label": "true|expert",
}
"""Terms, and words of which one is on each page that has the term."""


def list_texts() -> Iterator[tuple[Path, str]]:
    for path in list_pages():
        if path.name != "glossary.md":
            yield path, path.read_text("utf-8")
    included = ROOT.glob("experiments/**/*.md")
    for path in (*ROOT.glob("notebooks/*.py"), *included, ROOT / "lehner/report/report.toml"):
        yield path, path.read_text("utf-8")
    for package in ("lehner", "bayes_models", "experiments"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                # A text without a space is a code or a name.
                text = str(node.value) if isinstance(node, ast.Constant) else ""
                if " " in text:
                    yield path, text


def test_words_of_our_own_are_in_the_glossary_only():
    result = [
        f"{path.relative_to(ROOT)}: {word}"
        for path, text in list_texts()
        for word in OF_OUR_OWN.findall(NOT_PROSE.sub(" ", text))
    ]
    assert not result


def test_pages_explain_terms_that_a_newcomer_lacks():
    for path in list_pages():
        text = " ".join(NOT_PROSE.sub(" ", path.read_text("utf-8")).split())
        for term, words in EXPLAINED.items() if "contributing" not in path.parts else ():
            assert not re.search(term, text) or re.search(words, text), (path, term)
