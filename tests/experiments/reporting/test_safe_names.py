"""Tests of folders named after what users name: safe, unique and reversible."""

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from experiments.reporting.safe_names import DEVICES, LONGEST, safe_names

TAKEN = ("results.csv", "estimates.tex", "manifest.json", "systems.pdf")
WORDS = ("gpt", "GPT", "..", ".", "~", "a/b", "a:b", "a b", "a_b", "results.csv", "CON")
NAMES = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.text("aAsſKßẞéÉ%25eE/._ ~\u0301\u0345", max_size=6),
        st.sampled_from(WORDS),
        st.text("gpt/", min_size=80, max_size=300),
    ),
    unique=True,
    max_size=8,
)


def _forms(name):
    """Give what a file system may take a name for."""
    folded = unicodedata.normalize("NFC", name.casefold())
    return {folded, unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())}


@given(NAMES)
@example(["GPT", "gpt", "%47%50%54", "%67%70%74"])
@example(["é", "e\u0301", "%C3%A9"])
@example(["x" * 300, "X" * 300, "x" * 255, "é" * 200])
def test_safe_names_are_single_different_and_can_be_read_back(names):
    safe = safe_names(names, TAKEN)
    assert list(safe) == names
    seen = set().union(*map(_forms, TAKEN))
    for name, folder in safe.items():
        assert not _forms(folder) & seen
        seen |= _forms(folder)
        assert 0 < len(folder.encode()) <= LONGEST
        assert not set(folder) & set('/\\:*?"<>|~ \0\n') or folder[-17] == "~"
        assert folder == folder.strip(". ")
        assert folder.split(".")[0].casefold() not in DEVICES
        assert "~" in folder or unquote(folder) == name


@pytest.mark.parametrize(
    "name", ["gpt-4", "gpt-4o_2024.08", "GPT", "modèle", "模型", "Ångström", "x" * 255, "-v1"]
)
def test_names_that_any_file_system_takes_stay(name):
    assert safe_names([name, "other"], TAKEN)[name] == name


@given(NAMES)
def test_a_name_does_not_depend_on_the_order_of_the_others(names):
    assert safe_names(names, TAKEN) == safe_names(reversed(names), TAKEN)
