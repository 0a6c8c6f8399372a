"""The commands of ratings as they are: datasets, doctor, agreement, check, bounds."""

from dataclasses import dataclass

import lehner
from lehner.command import options
from lehner.command.options import Output
from lehner.data.reading import Reading


def datasets() -> None:
    """List the data sets that come with lehner, with their sizes and sources.

    Examples
    --------
    lehner datasets
    """
    for dataset in lehner.list_datasets():
        ratings = lehner.load_dataset(dataset.name)
        print(f"{dataset.name}\n  {dataset.title}\n  {ratings}\n  {dataset.source}")
        if dataset.doi:
            print(f"  https://doi.org/{dataset.doi}")
        if dataset.licence:
            print(f"  licence: {dataset.licence}")


def doctor(data: str, *, reading: Reading, as_json: bool = False) -> None:
    """Say how each column of a file is read, what the file permits, and which commands to type.

    The file is read as all commands read it. If they refuse it, the command proposes options with
    which they read it, and prints commands that have these options. Nothing is estimated.

    Examples
    --------
    lehner doctor ratings.csv
    lehner doctor logs/ --system gpt
    """
    from lehner.command.doctor import examine

    answer = examine(data, reading, quiet=as_json)
    options.emit(answer, Output(as_json=as_json))


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Which coefficients, of what.

    Parameters
    ----------
    coefficients : NAMES
        The coefficients to show, in this order, separated by commas, as in alpha,ac1: each is a
        name as in the JSON, or a word of it that no other has. Default: all; by group or criterion
        percent agreement, Krippendorff's alpha and Gwet's AC1.
    weights : NAMES
        Weights of disagreements, separated by commas: identity; linear, quadratic or ordinal, by
        the positions of the categories; linear_by_value, interval or ratio, by their values.
        Default: identity; for ordered categories also linear, quadratic and ordinal.
    group : COLUMNS
        The column of the file that groups the items, such as their condition, or several that are
        crossed. You get the agreement in each group, and differences.
    criteria : NAMES
        The columns of the ratings by each of several criteria, where each row has the ratings of a
        rater. You get the agreement by each criterion.
    pairs : bool
        Compare all raters in pairs, even if there are more than 50.
    within_rater : bool
        Measure how far raters who rated an item more than once agree with themselves.
    """

    coefficients: list[str] | None = None
    weights: list[str] | None = None
    group: list[str] | None = None
    criteria: list[str] | None = None
    pairs: bool = False
    within_rater: bool = False


def agreement(
    data: str, level: float = 0.9, *, asked: Coefficients, reading: Reading, output: Output
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Examples
    --------
    lehner agreement ratings.csv
    lehner agreement ratings.csv --ordered --weights quadratic --output results/
    lehner agreement ratings.csv --coefficients alpha,ac1 --sentence
    lehner agreement ratings.csv --group condition --report agreement.html
    """
    from lehner.command.show_ratings import answer_agreement

    answer = answer_agreement(data, reading, level, **vars(asked))
    options.emit(answer, output, data)


def check(
    data: str, replicates: int = 999, seed: int = 1, *, reading: Reading, output: Output
) -> None:
    """Test the assumptions of the algebra.

    These are the K-properties: all raters are equally accurate, all their errors are equally
    probable, and all items are equally difficult. The exit code is 1 if none can be tested.

    Parameters
    ----------
    replicates : N
        The number of simulated data sets behind each p-value.

    Examples
    --------
    lehner check ratings.csv --system gpt
    lehner check lehner_table2 --system System --replicates 9999
    """
    from lehner.command.show_ratings import answer_check

    answer = answer_check(data, reading, replicates=replicates, seed=seed)
    options.emit(answer, output, data, reading.truth)


def bounds(
    data: str,
    correlation: list[float] | None = None,
    above: float | None = None,
    level: float = 0.9,
    seed: int = 1,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Give bounds of the accuracy if errors correlate, without a model of raters and items.

    Parameters
    ----------
    correlation : P
        The highest correlation that the errors of two raters, and of the system and a rater, may
        have. The option may be repeated. Default: 0.1, 0.25 and 0.5.
    above : P
        An accuracy: you learn how much errors must correlate for the true accuracy not to be above
        it. Default: the highest multiple of .05 that correlations as in half of the public crowds
        do not put in doubt.

    Examples
    --------
    lehner bounds ratings.csv --system gpt
    lehner bounds ratings.csv --system gpt --above 0.8 --output bounds/
    """
    from lehner.command.show_ratings import answer_bounds

    answer = answer_bounds(data, reading, correlation, above, level=level, seed=seed)
    options.emit(answer, output, data, reading.truth)
