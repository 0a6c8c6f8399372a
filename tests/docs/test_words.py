"""Pages, docstrings, messages and notebooks use the field's words; our own are in the glossary."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.examples import ROOT, list_pages

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
