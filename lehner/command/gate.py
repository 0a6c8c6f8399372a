"""The command `lehner gate`: whether a number is high enough, for a pipeline."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import typer

import lehner
from lehner.command import options
from lehner.core.text import escape
from lehner.data.reading import Reading
from lehner.report import terminal

FAILED, OPEN = 1, 3


def gate(
    data: str,
    at_least: float,
    than: str | None = None,
    good: list[str] | None = None,
    group: str | None = None,
    certainty: float = 0.95,
    seed: int = 1,
    *,
    reading: Reading,
    junit: Path | None = None,
    as_json: bool = False,
) -> None:
    """Test whether an accuracy, a rate or a difference is high enough, for a pipeline.

    With --system the accuracy of each system is tested, else the rate of the --good items of each
    group, by one judge or several and the gold labels of some items. The exit code is 0 if all pass
    with the certainty asked for, 1 if one fails with this certainty, and 3 if the gold labels do
    not tell; 2 if the input is bad.

    Parameters
    ----------
    at_least : NUMBER
        How high it must be, as .8; with --than how much higher, as 0 or -.02.
    than : NAME
        The system, or the group, with which each of the others is compared.
    good : NAMES
        The categories whose rate is tested, separated by commas.
    group : COLUMN
        The column of the file that groups the items, as prompt_version. The rate of each group is
        tested.
    certainty : P
        The probability with which a number must pass or fail.
    junit : FILE
        A file of test results (JUnit XML), which pipelines show.

    Examples
    --------
    lehner gate answers.csv --system gpt --truth gold --at-least .8
    lehner gate answers.csv --system new,old --truth gold --than old --at-least -.02
    lehner gate judged.csv --raters judge --truth human --group version --good pass --at-least .6
    """
    from lehner.command.load import load, read_groups, split_cuts
    from lehner.report.files import write_text

    columns = {"group": split_cuts(group)[0]} if group else {}
    ratings = load(data, reading, columns=columns)
    groups: Any = group and read_groups(Path(data), group, ratings)
    asked: Any = {"than": than, "certainty": certainty, "seed": seed}
    with options.show_progress():
        verdicts = lehner.gate(ratings, at_least, good=good or None, groups=groups or None, **asked)
    if as_json:
        print(terminal.to_json({"data": data, "verdicts": [each.to_dict() for each in verdicts]}))
    else:
        terminal.print_lines(map(str, verdicts))
    if junit is not None:
        write_text(_write_junit(verdicts), junit)
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes != {"passes"}:
        raise typer.Exit(FAILED if "fails" in outcomes else OPEN)


def _write_junit(verdicts: list[Any]) -> str:
    """Write a test for each number; one that is open is an error, and no failure."""
    suite = ElementTree.Element("testsuite", name="lehner gate", tests=str(len(verdicts)))
    for verdict in verdicts:
        test = ElementTree.SubElement(suite, "testcase", name=escape(verdict.quantity))
        if verdict.outcome != "passes":
            kind = "failure" if verdict.outcome == "fails" else "error"
            ElementTree.SubElement(test, kind, message=escape(str(verdict)))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
