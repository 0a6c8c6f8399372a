"""The command `lehner compare`."""

from pathlib import Path
from typing import Any

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, Seed, typed
from experiments.cli.help_text import as_sentence


def compare(
    data: Data,
    group: str | None = None,
    good: list[str] | None = None,
    method: list[str] | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output = None,
    report: Path | None = None,
    as_json: AsJson = False,
    full: bool = False,
) -> None:
    """Compare groups of items: which has more of a category, corrected for the raters' errors.

    No system is needed: the items are the answers of several models, or the cases of several
    sites, and raters judged them. Without --group it gives base rates and the raters' accuracy. If
    the truth of some items is known (--truth), the proportions are corrected by it. The exit code
    is 1 if the ratings do not determine the proportions.

    Parameters
    ----------
    group : COLUMN
        The column of the file that groups the items, as model or site. Numbers are cut into four
        bins, or where you say, as in age:50,65.
    good : NAMES
        The category whose proportion is compared, or several that count together, separated by
        commas, as in good,excellent or 4,5. Without it, the proportion of each category is shown.
    method : NAMES
        Methods from the list below, separated by commas or in several --method; ranks are by the
        first. Default: dawid_skene, majority.
    report : FILE
        One HTML file to send: the answer first, then the figure, the tables and the warnings.
    full : bool
        Show all groups, differences, raters, methods and warnings.
    """
    from experiments.cli.emit import emit
    from experiments.cli.group_column import read_groups, split_cuts
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.report import base_rates
    from experiments.report.report import failed
    from experiments.reporting.terminal import print_wide, terminal_width
    from lehner import InputError
    from lehner import compare as compare_groups
    from lehner.core.estimate import require_pairs

    columns = {"group": split_cuts(group)[0]} if group else {}
    try:
        ratings = load(data, reading.options(None), require=require_pairs, columns=columns)
    except InputError as error:
        # There is no system here: a column of systems' names is one of groups.
        error.remedy = error.remedy.replace("system=", "group=")
        raise
    groups: Any = group and read_groups(Path(data), group, ratings)
    with progress_lines():
        results = compare_groups(
            ratings, good or None, groups, method or None, name=data, level=interval, seed=seed
        )
    files = [Path(data), Path(reading.truth or "")]
    emit(
        results.to_dict,
        lambda: print_wide(base_rates.render(results, terminal_width(), full=full)),
        as_json=as_json,
        output=output,
        write=lambda folder: base_rates.write(results, folder),
        report=report,
        page=lambda: base_rates.page(results, typed(), files),
    )
    if failed(results):
        raise typer.Exit(1)


def compare_method_rows() -> list[tuple[str, str]]:
    """List the methods and what each of them does."""
    from lehner.estimation.compare import compare_methods

    return [(name, as_sentence(summary)) for name, summary in compare_methods().items()]
