"""What README and documentation show is what commands and snippets do."""

import importlib.util
from contextlib import chdir
from pathlib import Path

import pytest

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
