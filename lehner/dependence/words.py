"""Sentences about shared mistakes."""

from collections.abc import Iterable, Sequence

from lehner.core.wording import counted
from lehner.dependence.effective import EffectiveRaters
from lehner.dependence.pairs import Pair

MOST_PAIRS_SHOWN = 3


def pair_lines(pairs: Iterable[Pair], n_raters: int) -> tuple[str, ...]:
    """Describe the pairs that stand out and what it may mean, the farthest pair first."""
    standing_out = sorted(
        (pair for pair in pairs if pair.stands_out), key=lambda pair: -abs(_z(pair))
    )
    more = [pair for pair in standing_out if _z(pair) > 0]
    less = [pair for pair in standing_out if _z(pair) < 0]
    lines = [_more_line(pair, n_raters) for pair in more[:MOST_PAIRS_SHOWN]]
    if len(more) > MOST_PAIRS_SHOWN:
        lines.append(f"{_rest(more)} agree more than equal raters would")
    if less:
        named = ", ".join(_names(pair) for pair in less[:MOST_PAIRS_SHOWN])
        rest = f", and {_rest(less)}," if len(less) > MOST_PAIRS_SHOWN else ""
        lines.append(
            f"{named}{rest} agree less than equal raters would: either the raters in these pairs "
            "are less accurate than the others, or the others share mistakes"
        )
    return tuple(lines)


def _more_line(pair: Pair, n_raters: int) -> str:
    return (
        f"{_names(pair)} agree on {pair.agreement:.3f} of their items, more than equal raters "
        f"would ({pair.equal_raters:.3f} ± {pair.sd:.3f}): {_meaning(pair, n_raters)}"
    )


def _meaning(pair: Pair, n_raters: int) -> str:
    if pair.unexplained:
        return (
            "different accuracies of the raters do not explain it: these two share mistakes, or "
            "errors are not equally probable, or items are not equally difficult"
        )
    who = "the others are less accurate"
    if pair.with_system:
        who = f"{pair.raters[0]} is more accurate than the other raters"
    told = "the ratings cannot show which"
    if pair.unexplained is None:
        told = f"with {counted(n_raters, 'rater')} one cannot tell which"
    return f"either {who}, or these two share mistakes; {told}"


def triple_line(
    observed: float | None, expected: float | None, sd: float | None
) -> tuple[str, ...]:
    """Compare the agreement of triples with that which the agreement of pairs implies."""
    if observed is None or expected is None or sd is None:
        return ()
    return (
        f"all three ratings agree in {observed:.3f} of the triples of ratings of an item; expected "
        f"is {expected:.3f} ± {sd:.3f} if raters err independently and items are equally difficult",
    )


def effective_line(effective: EffectiveRaters) -> str:
    """Tell how many independent raters would be as informative, and how that is known."""
    raters = f"{effective.n_raters:.3g} raters of an item"
    if effective.effective is None or effective.correlation is None:
        return (
            "without known truths it is unknown how many independent raters would be as "
            f"informative as the {raters}"
        )
    worth = f"{effective.effective:.2g} independent raters"
    if effective.source.startswith("known truths"):
        equal = ", if all are equally accurate" if effective.source.endswith("equal raters") else ""
        return (
            f"the {raters} are as informative as {worth}{equal}: on {effective.n_items} items of "
            f"known truth the mean correlation of two raters' mistakes is "
            f"{effective.correlation:.2f}"
        )
    return (
        f"if the raters who agree more than others share mistakes, the {raters} are at most as "
        f"informative as {worth}"
    )


def _rest(pairs: Sequence[Pair]) -> str:
    return counted(len(pairs) - MOST_PAIRS_SHOWN, "more pair")


def _z(pair: Pair) -> float:
    return (pair.agreement - pair.equal_raters) / pair.sd


def _names(pair: Pair) -> str:
    return f"{pair.raters[0]} and {'the system' if pair.with_system else pair.raters[1]}"
