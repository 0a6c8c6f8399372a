"""The result of the check for shared mistakes, and its sentences."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from lehner.core.estimate import plain
from lehner.core.number_format import decimal, percent, printed_p_value
from lehner.core.warning import Warning, warn
from lehner.core.wording import counted
from lehner.dependence.effective import KNOWN_TRUTHS, EffectiveRaters, Pair

MOST_PAIRS_SHOWN = 3
SIGNIFICANCE = 0.01
MORE = "agree more than their accuracies explain"
MEANING = "share mistakes, or prefer the same wrong answers, or find the same items difficult"


@dataclass(frozen=True, kw_only=True, repr=False)
class Dependence:
    """What the agreement of raters shows about mistakes that they share.

    Parameters
    ----------
    pairs : tuple of Pair
        Each two raters who rated an item in common, the system included. Empty if pairs were not
        tested.
    p_value : float or None
        p-value of the test that no pair agrees more than its accuracies explain: the smallest of
        those of the pairs.
    p_value_together : float or None
        p-value of the test that the pairs, taken together, do not agree more. It is small where
        items differ in difficulty, or are of hidden types with mistakes that raters share.
    undecided : bool
        Whether, among four raters, two pairs stand out of which only one need share mistakes.
    effective_raters : EffectiveRaters
        The number of independent raters who would be as informative.
    n_raters : int
        Number of raters, the system included.
    n_truths : int
        Number of items whose known truth was used; 0 if they are probably not a random sample.
    reason : str
        The reason why pairs were not tested; empty if they were.
    """

    pairs: tuple[Pair, ...]
    p_value: float | None
    p_value_together: float | None
    undecided: bool
    effective_raters: EffectiveRaters
    n_raters: int
    n_truths: int
    reason: str

    def __repr__(self) -> str:
        return "\n".join(["Shared mistakes", *(f"  {line}" for line in self.lines())])

    def standing_out(self) -> list[Pair]:
        """List the pairs that stand out, those of the smallest p-value first.

        Returns
        -------
        list of Pair
        """
        found = (pair for pair in self.pairs if pair.stands_out)
        return sorted(found, key=lambda pair: (pair.p_value, -pair.shared))

    def clearest_pair(self) -> str:
        """Name the pair that stands out most clearly, or the two of which one shares mistakes.

        Returns
        -------
        str
            A part of a sentence, also if no pair stands out.
        """
        standing_out = self.standing_out()
        if not standing_out:
            if self._some_agree_more:
                p = printed_p_value(self.p_value or 0.0)
                return f"some raters {MORE} ({p}), but no two of them stand out"
            return f"no two raters {MORE}"
        if self.undecided:
            one, other = standing_out[:2]
            return (
                f"either {_names(one)} or {_names(other)} {MORE} "
                f"({printed_p_value(one.p_value)}), and among four one cannot tell which"
            )
        return _more_agreement(standing_out[0])

    @property
    def _some_agree_more(self) -> bool:
        return self.p_value is not None and self.p_value <= SIGNIFICANCE

    def warnings(self) -> tuple[Warning, ...]:
        """Name the pairs that stand out.

        Returns
        -------
        tuple of Warning
            One of the code "shared-mistakes" for each pair, the clearest first, or one for two
            pairs of which one shares mistakes.
        """
        if self.undecided:
            return (warn("shared-mistakes", f"{self.clearest_pair()}: those two {MEANING}"),)
        lines = [f"{_more_agreement(pair)}: they {MEANING}" for pair in self.standing_out()]
        rest = len(lines) - MOST_PAIRS_SHOWN
        if rest > 0:
            lines[MOST_PAIRS_SHOWN:] = [f"{counted(rest, 'more pair')} {MORE}"]
        return tuple(warn("shared-mistakes", text) for text in lines)

    def warnings_of_estimates(self, allowed: Collection[str] = ()) -> tuple[Warning, ...]:
        """Say what concerns the estimate of each method.

        Parameters
        ----------
        allowed : collection of str
            Names of a pair whose dependence is part of the estimate.

        Returns
        -------
        tuple of Warning
            One of the code "system-copies-rater" for each rater whom the system may copy, the
            clearest first; or one of the code "agreement-unexplained", if no pair stands out and
            all together agree more than their accuracies explain.
        """
        found, p = self.standing_out(), self.p_value_together
        if not found and p is not None and p <= SIGNIFICANCE:
            text = (
                f"raters, taken together, {MORE} ({printed_p_value(p)}): items differ in "
                "difficulty, or are of hidden types with mistakes of their own, or raters prefer "
                "the same wrong answers"
            )
            return (warn("agreement-unexplained", text),)
        rival = [pair for pair in found if not pair.with_system] if self.undecided else []
        or_else = f"; or {_names(rival[0])} share mistakes, which looks the same" if rival else ""
        return tuple(
            warn(
                "system-copies-rater",
                f"{_more_agreement(pair)}, as if the system repeated {pair.raters[0]} on "
                f"{percent(pair.shared, 0)} of them; if so, both seem too accurate{or_else}",
            )
            for pair in found
            if pair.with_system and set(pair.raters) != set(allowed)
        )

    def lines(self) -> tuple[str, ...]:
        """List all findings.

        Returns
        -------
        tuple of str
            A sentence for each finding.
        """
        found = tuple(map(str, self.warnings())) or (self._no_pair(),)
        return (*found, _effective_line(self.effective_raters))

    def _no_pair(self) -> str:
        if self.reason:
            return f"whether raters share them was not tested: {self.reason}"
        if self._some_agree_more:
            return (
                f"{self.clearest_pair()}: several share mistakes, or items are not equally "
                "difficult, or raters prefer the same wrong answers"
            )
        return f"{self.clearest_pair()}; mistakes that all of them share cannot be detected"

    def to_dict(self) -> dict[str, Any]:
        """Convert the result to plain types, ready for JSON.

        Returns
        -------
        dict
            The fields of the object by name, and `lines`.
        """
        return dict(plain(self)) | {"lines": list(self.lines())}


def _effective_line(effective: EffectiveRaters) -> str:
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
    at_most = f"the {raters} are at most as informative as {worth}"
    return f"if the raters who {MORE} share mistakes, {at_most}"


def _more_agreement(pair: Pair) -> str:
    return (
        f"{_names(pair)} agree on {pair.agreement:.3f} of their items, more than their accuracies "
        f"explain ({pair.expected:.3f}; {printed_p_value(pair.p_value)})"
    )


def _names(pair: Pair) -> str:
    return f"{pair.raters[0]} and {'the system' if pair.with_system else pair.raters[1]}"
