"""Sentences about shared mistakes."""

from collections.abc import Iterable, Sequence

from lehner.core.number_format import decimal, printed_p_value
from lehner.core.warning import Warning, warn
from lehner.core.wording import counted
from lehner.dependence.effective import KNOWN_TRUTHS, EffectiveRaters
from lehner.dependence.pairs import Pair

MOST_PAIRS_SHOWN = 3
SIGNIFICANCE = 0.01
NO_PAIR = "no two raters agree more than their accuracies explain"
UNSEEN = "mistakes that all of them share cannot be detected"
MEANING = "share mistakes, or prefer the same wrong answers, or find the same items difficult"


def pair_lines(pairs: Sequence[Pair], *, undecided: bool) -> tuple[Warning, ...]:
    """Describe the pairs that stand out and what it may mean, the clearest first."""
    if undecided:
        text = f"{clearest_pair(pairs, undecided=True)}: those two {MEANING}"
        return (warn("shared-mistakes", text),)
    lines = [f"{_more_agreement(pair)}: they {MEANING}" for pair in clearest_first(pairs)]
    rest = len(lines) - MOST_PAIRS_SHOWN
    more = [f"{counted(rest, 'more pair')} agree more than their accuracies explain"]
    lines = [*lines[:MOST_PAIRS_SHOWN], *(more if rest > 0 else [])]
    return tuple(warn("shared-mistakes", text) for text in lines)


def clearest_first(pairs: Iterable[Pair]) -> list[Pair]:
    """Give the pairs that stand out, those of the smallest p-value first."""
    return sorted(
        (pair for pair in pairs if pair.stands_out), key=lambda pair: (pair.p_value, -pair.shared)
    )


def clearest_pair(pairs: Sequence[Pair], *, undecided: bool) -> str:
    """Say which pair stands out most clearly, or which two of which one shares mistakes."""
    standing_out = clearest_first(pairs)
    if not standing_out:
        least = min(pairs, key=lambda pair: pair.p_value)
        if least.p_value > SIGNIFICANCE:
            return NO_PAIR
        p = printed_p_value(least.p_value)
        return (
            f"some raters agree more than their accuracies explain ({p}), but no two of them stand "
            "out"
        )
    if undecided:
        one, other = standing_out[:2]
        return (
            f"either {_names(one)} or {_names(other)} agree more than their accuracies explain "
            f"({printed_p_value(one.p_value)}), and among four one cannot tell which"
        )
    return _more_agreement(standing_out[0])


def effective_line(effective: EffectiveRaters) -> str:
    """Tell how many independent raters would be as informative, and how that is known."""
    raters = f"{round(effective.n_raters, 2):.10g} raters of an item"
    if effective.effective is None or effective.correlation is None:
        return (
            "without known truths of items drawn at random it is unknown how many independent "
            f"raters would be as informative as the {raters}"
        )
    worth = f"{effective.effective:.2g} independent raters"
    if effective.source in KNOWN_TRUTHS:
        equal = ", if all are equally accurate" if effective.source == KNOWN_TRUTHS[1] else ""
        return (
            f"the {raters} are as informative as {worth}{equal}: on {effective.n_items} items of "
            f"known truth the mean correlation of two raters' mistakes is "
            f"{decimal(effective.correlation, 2)}"
        )
    return (
        f"if the raters who agree more than their accuracies explain share mistakes, the {raters} "
        f"are at most as informative as {worth}"
    )


def no_pair_line(pairs: Sequence[Pair]) -> str:
    """Say what is known if no pair stands out."""
    found = clearest_pair(pairs, undecided=False)
    if found == NO_PAIR:
        return f"{found}; {UNSEEN}"
    return (
        f"{found}: several share mistakes, or items are not equally difficult, or raters prefer "
        "the same wrong answers"
    )


def _more_agreement(pair: Pair) -> str:
    return (
        f"{_names(pair)} agree on {pair.agreement:.3f} of their items, more than their accuracies "
        f"explain ({pair.expected:.3f}; {printed_p_value(pair.p_value)})"
    )


def _names(pair: Pair) -> str:
    return f"{pair.raters[0]} and {'the system' if pair.with_system else pair.raters[1]}"
