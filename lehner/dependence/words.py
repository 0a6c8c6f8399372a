"""What was found about shared mistakes, in sentences."""

from collections.abc import Iterable, Sequence

from lehner.core.wording import counted
from lehner.dependence.effective import EffectiveRaters
from lehner.dependence.pairs import Pair

MOST_PAIRS_SHOWN = 3


def pair_lines(pairs: Iterable[Pair], n_raters: int) -> tuple[str, ...]:
    """Say of the pairs that stand out what it may mean, the farthest first."""
    found = sorted((pair for pair in pairs if pair.stands_out), key=lambda pair: -abs(_z(pair)))
    more = [pair for pair in found if _z(pair) > 0]
    less = [pair for pair in found if _z(pair) < 0]
    lines = [_more_line(pair, n_raters) for pair in more[:MOST_PAIRS_SHOWN]]
    if len(more) > MOST_PAIRS_SHOWN:
        lines.append(f"{_rest(more)} agree more than equal raters would")
    if less:
        named = ", ".join(_names(pair) for pair in less[:MOST_PAIRS_SHOWN])
        rest = f", and {_rest(less)}," if len(less) > MOST_PAIRS_SHOWN else ""
        lines.append(
            f"{named}{rest} agree less than equal raters would: either who is in these pairs is "
            "less accurate than the others, or the others share mistakes"
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
            "accuracies of their own would not explain it; these two share mistakes, or errors or "
            "difficulty differ"
        )
    who = "the others are less accurate"
    if pair.with_system:
        who = f"{pair.raters[0]} is more accurate than the other raters"
    told = "the ratings do not tell which"
    if pair.unexplained is None:
        told = f"{counted(n_raters, 'rater')} cannot tell"
    return f"either {who}, or these two share mistakes; {told}"


def triple_line(
    observed: float | None, expected: float | None, sd: float | None
) -> tuple[str, ...]:
    """Compare how often three agree with what agreement by two implies."""
    if observed is None or expected is None or sd is None:
        return ()
    return (
        f"three ratings of an item all agree in {observed:.3f}, and {expected:.3f} ± {sd:.3f} "
        "would if raters erred independently and items were equally difficult",
    )


def effective_line(found: EffectiveRaters) -> str:
    """Say how many independent raters the raters are worth, and how that is known."""
    raters = f"{found.n_raters:.3g} raters of an item"
    if found.effective is None or found.correlation is None:
        return (
            f"how many independent raters the {raters} are worth cannot be told without known "
            "truths"
        )
    worth = f"{found.effective:.2g} independent ones"
    if found.source == "known truths":
        return (
            f"the {raters} are worth {worth}: on {found.n_items} items of known truth their "
            f"mistakes correlate with {found.correlation:.2f}"
        )
    return (
        f"if the raters who agree more than others share mistakes, the {raters} are worth {worth} "
        "at most"
    )


def _rest(pairs: Sequence[Pair]) -> str:
    return counted(len(pairs) - MOST_PAIRS_SHOWN, "more pair")


def _z(pair: Pair) -> float:
    return (pair.agreement - pair.equal_raters) / pair.sd


def _names(pair: Pair) -> str:
    return f"{pair.raters[0]} and {'the system' if pair.with_system else pair.raters[1]}"
