"""The command `lehner compare`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from experiments.cli.emit import emit
from experiments.cli.estimate import as_sentence
from experiments.cli.options import Data, Interval, Output, Reading, Seed

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class CompareOutput(Output):
    """Where a comparison goes.

    Parameters
    ----------
    details : bool
        Show every rater as a test: sensitivity and specificity, or the recall of each category.
    full : bool
        Show all groups, differences, raters, methods and warnings.
    """

    details: bool = False
    full: bool = False


def compare(
    data: Data,
    group: str | None = None,
    good: list[str] | None = None,
    method: list[str] | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: CompareOutput,
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

    Examples
    --------
    lehner compare answers.csv --group model --good good
    lehner compare ratings.csv
    lehner compare tests.csv --group herd --details --interval 0.95 --method dawid_skene_ml
    """
    import lehner
    from experiments.cli.columns import read_groups, split_cuts
    from experiments.cli.load import load
    from experiments.cli.progress_lines import progress_lines
    from experiments.report.estimates import answer_comparison, failed
    from lehner.estimation.compare import require_comparable

    columns = {"group": split_cuts(group)[0]} if group else {}
    try:
        ratings = load(data, reading.options(None), require=require_comparable, columns=columns)
    except lehner.InputError as error:
        # There is no system here: a column of systems' names is one of groups.
        error.remedy = error.remedy.replace("system=", "group=")
        raise
    groups: Any = group and read_groups(Path(data), group, ratings)
    with progress_lines():
        results = lehner.compare(
            ratings, good or None, groups, method or None, name=data, level=interval, seed=seed
        )
    answer = answer_comparison(results, full=output.full, in_detail=output.details)
    emit(answer, output, data, reading.truth)
    if failed(results):
        raise typer.Exit(1)


def list_compare_methods() -> list[tuple[str, str]]:
    """List the methods and what each of them does."""
    from lehner.estimation.compare import compare_methods

    return [(name, as_sentence(summary)) for name, summary in compare_methods().items()]
