"""`lehner ask`: which items an expert should label."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli.options import AsJson, Data, Interval, Reading, Seed, Systems
from experiments.report.terminal import json_text

if TYPE_CHECKING:
    from lehner import Ratings

TO_LABEL = Path("to_label.csv")


def ask(
    data: Data,
    system: Systems = None,
    n: int = 20,
    by: str = "votes",
    seed: Seed = 1,
    interval: Interval = 0.9,
    until: float = 0.05,
    *,
    reading: Reading,
    output: Path = TO_LABEL,
    as_json: AsJson = False,
) -> None:
    """Choose the items whose truth an expert should find out, and say how much that will tell.

    The chosen items stand for all: each item that the system answered has the same chance. If
    several systems are named, items are chosen on which they differ: only these tell which is
    better, and they tell nothing of how accurate each is. The file has a row for each with an
    empty column `truth`. Fill it in without looking at the ratings, blank where you cannot tell,
    and give it to lehner estimate as --truth. The widths are those of the corrected interval of
    the accuracy in this sample.

    Parameters
    ----------
    n : N
        How many items an expert can label.
    by : WAY
        How items are drawn: random, or votes, in proportion to how the raters voted.
    until : HALF-WIDTH
        How far the interval may reach from its middle when you stop: the command says how many
        truths lead there, and when it is reached.
    output : FILE
        The CSV file for the expert; a file that exists is not overwritten.

    Examples
    --------
    lehner ask ratings.csv --system gpt --n 20
    lehner estimate ratings.csv --system gpt --truth to_label.csv
    """
    from experiments.cli.load import load
    from experiments.report.files import write_csv
    from experiments.report.options import data_notes, header_lines
    from lehner import InputError, choose_items
    from lehner.core.errors import check_number
    from lehner.core.estimate import require_systems
    from lehner.core.lazy import pd

    check_number("until", until, 0.001, 0.5)
    if output.exists():
        problem = "this file exists and may contain an expert's labels"
        raise InputError(problem, "name another with --output, or delete it", file=output)
    ratings = load(data, reading.options(system), require=require_systems)
    rows = choose_items(ratings, n, by=by, seed=seed)  # type: ignore[arg-type]
    items = list(map(str, ratings.items[rows]))
    content = {"n": n, "by": by, "seed": seed, "interval": interval, "until": until, "items": items}
    if len(ratings.systems) == 1:
        content |= _expect_widths(ratings, n, interval, 2 * until, seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_csv(pd.DataFrame({"item": ratings.items[rows], "truth": ""}), output)
    print("\n".join(header_lines(data_notes(ratings))), file=sys.stderr)
    print(json_text(content) if as_json else "\n".join(_lines(content, ratings)))
    print(f"wrote {output}; fill in its column truth, and then run", file=sys.stderr)
    print(f"  lehner estimate {data} … --truth {output}", file=sys.stderr)


WIDTHS = ("width_of_algebra", "width_before", "expected_width", "n_until", "n_until_alone")


def _expect_widths(
    ratings: "Ratings", n: int, interval: float, width: float, seed: int
) -> dict[str, Any]:
    """Widths of intervals, before and after; none without probabilities to start from."""
    from lehner import estimate_algebraic, estimate_calibrated, probabilities_right
    from lehner.known_truths.correction import own_variance, proportion_posterior
    from lehner.known_truths.partly_known import rightness
    from lehner.known_truths.sampling_design import (
        expected_width,
        n_for_width,
        n_for_width_alone,
    )

    algebra = estimate_algebraic(ratings, aggregation="likelihood", level=interval, seed=seed)
    own = algebra.system_accuracy_in_sample
    if own.estimate is None or own.lower is None or own.upper is None:
        return dict.fromkeys(WIDTHS)
    items = rightness(ratings, probabilities_right(ratings, algebra))
    options: dict[str, Any] = {"variance": own_variance(algebra), "level": interval, "seed": seed}
    calibrated = estimate_calibrated(ratings).system_accuracy_in_sample.estimate or 0.5
    alone = n_for_width_alone(calibrated, items.n_items, width, interval)
    lower, upper = proportion_posterior(items, options["variance"]).interval(interval)
    values = (
        own.upper - own.lower,
        upper - lower,
        expected_width(items, n, **options),
        n_for_width(items, width, **options),
        max(0, alone - items.n_known),
    )
    return dict(zip(WIDTHS, values, strict=True))


def _lines(content: dict[str, Any], ratings: "Ratings") -> Iterator[str]:
    from lehner.core.text import counted, decimal, percent, short
    from lehner.known_truths.sampling_design import unlabelled

    several = len(ratings.systems) > 1
    which = "the systems answered differently" if several else "the system answered"
    how = "at random" if content["by"] == "random" else "in proportion to the raters' votes"
    n = content["n"]
    yield (
        f"{counted(n, 'item')} of the {len(unlabelled(ratings))} that {which} and that have no "
        f"gold label were chosen {how}, with seed {content['seed']}."
    )
    if several:
        return
    if content["width_before"] is None:
        yield "The ratings give no probabilities to start from, so that no widths can be expected."
        return
    own, before, after = (decimal(content[name], 2) for name in WIDTHS[:3])
    level = percent(content["interval"])
    yield f"The {level} interval of the accuracy in this sample has the width"
    yield f"  {own} by the algebra, if errors of system and raters are independent"
    yield f"  {before} without gold labels, if their errors may be correlated"
    yield f"  {after} expected with {n} more gold labels"
    goal = f"±{short(content['until'], 3).rstrip('0')}"
    if content["n_until"] == 0:
        yield f"The interval is already within {goal}: you can stop."
    else:
        yield (
            f"About {counted(content['n_until'], 'more gold label')} would give {goal} if the "
            f"algebra is right; {content['n_until_alone']} by Wilson's interval of the gold labels "
            "alone."
        )
