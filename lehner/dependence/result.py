"""The result of the check for shared mistakes."""

from dataclasses import dataclass
from typing import Any

from lehner.core.estimate import plain
from lehner.core.warning import Warning
from lehner.dependence.effective import EffectiveRaters
from lehner.dependence.pairs import Pair
from lehner.dependence.words import effective_line, no_pair_line, pair_lines


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
    undecided: bool
    effective_raters: EffectiveRaters
    n_raters: int
    n_truths: int
    reason: str

    def __repr__(self) -> str:
        return "\n".join(["Shared mistakes", *(f"  {line}" for line in self.lines())])

    def warnings(self) -> tuple[Warning, ...]:
        """Name the pairs that stand out.

        Returns
        -------
        tuple of Warning
            One of the code "shared-mistakes" for each pair, the clearest first, or one for two
            pairs of which one shares mistakes.
        """
        return pair_lines(self.pairs, undecided=self.undecided)

    def lines(self) -> tuple[str, ...]:
        """List all findings.

        Returns
        -------
        tuple of str
            A sentence for each finding.
        """
        if self.reason:
            found: tuple[str, ...] = (f"whether raters share them was not tested: {self.reason}",)
        else:
            found = tuple(map(str, self.warnings())) or (no_pair_line(self.pairs),)
        return (*found, effective_line(self.effective_raters))

    def to_dict(self) -> dict[str, Any]:
        """Give the result in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields of the object by name, and `lines`.
        """
        return dict(plain(self)) | {"lines": list(self.lines())}
