"""Tables of text: columns, wide characters, wrapping, no blanks at ends of lines."""

from rich.cells import cell_len

from experiments.reporting.text_table import bold_table, text_table

ROWS = [["", "n", "note"], ["一致", "10", ""], ["a rater", "5", "three words here"]]


def test_columns_are_aligned_by_what_a_terminal_shows():
    lines = text_table([*ROWS[:2], ["a line of its own, however long it is"], ROWS[2]], left=(2,))
    assert lines == [
        "          n  note",
        "一致     10",
        "a line of its own, however long it is",
        "a rater   5  three words here",
    ]
    assert cell_len(lines[1]) == lines[0].index("n") + 1


def test_the_last_column_is_wrapped_but_never_to_less_than_eighteen():
    rows = [["test", "note"], ["t", "of-two " * 6]]
    lines = text_table(rows, left=(1,), width=30)
    assert lines == ["test  note", *_lines("t     ", 3), *_lines("      ", 3)]
    assert text_table(rows, left=(1,), width=10)[1] == "t     of-two of-two"


def _lines(start, times):
    return [start + " ".join(["of-two"] * times)]


def test_the_head_is_bold():
    assert [line.style for line in bold_table(ROWS)] == ["bold", "", ""]


def test_columns_are_aligned_by_what_is_shown_of_control_characters():
    lines = text_table([["", "n"], ["a\x1b[2J\nb", "1"], ["plain", "10"]])
    assert lines == [f"{'n':>15}", r"a\x1b[2J\nb   1", f"plain{'10':>10}"]
