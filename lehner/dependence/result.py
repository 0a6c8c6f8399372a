"""The result of the check for shared mistakes."""

from dataclasses import dataclass
from typing import Any

from lehner.core.estimate import plain
from lehner.data.ratings import Ratings
from lehner.dependence.effective import EffectiveRaters, mean_raters
from lehner.dependence.pairs import Pair
from lehner.dependence.words import effective_line, pair_lines, triple_line


@dataclass(frozen=True, kw_only=True, repr=False)
class Dependence:
    """What the agreement of raters shows about mistakes that they share.

    Parameters
    ----------
    pairs : tuple of Pair
        Each pair of raters, compared with raters who are equal and independent. Empty if pairs were
        not tested.
    p_equal : float or None
        p-value of the test that all pairs agree as equal raters do.
    p_own : float or None
        p-value of the test that no pair agrees more than independent raters of different accuracy
        do.
    triples, triples_expected, triples_sd : float or None
        Share of triples of ratings, the system's included, that all agree; the share that the
        agreement of pairs implies for independent raters; standard deviation of the difference.
        None with two categories, where agreement of triples follows from that of pairs.
    effective_raters : EffectiveRaters
        The number of independent raters who would be as informative.
    n_raters : int
        Number of raters, the system included.
    reason : str
        The reason why pairs were not tested; empty if they were.
    replicates : int
        Number of simulated data sets behind each p-value.
    """

    pairs: tuple[Pair, ...]
    p_equal: float | None
    p_own: float | None
    triples: float | None
    triples_expected: float | None
    triples_sd: float | None
    effective_raters: EffectiveRaters
    n_raters: int
    reason: str
    replicates: int

    def __repr__(self) -> str:
        return "\n".join(["Shared mistakes", *(f"  {line}" for line in self.lines())])

    def warnings(self) -> tuple[str, ...]:
        """Name the pairs that agree more, or less, than equal raters would.

        Returns
        -------
        tuple of str
            A sentence for each such pair.
        """
        return pair_lines(self.pairs, self.n_raters)

    def lines(self) -> tuple[str, ...]:
        """List all findings.

        Returns
        -------
        tuple of str
            A sentence for each finding.
        """
        sentences: tuple[str, ...]
        if self.reason:
            sentences = (f"whether raters share mistakes was not tested: {self.reason}",)
        else:
            sentences = self.warnings() or (
                "no two raters agree more than equal raters would; mistakes that all of them "
                "share cannot be detected",
            )
        triples = triple_line(self.triples, self.triples_expected, self.triples_sd)
        return (*sentences, *triples, effective_line(self.effective_raters))

    def to_dict(self) -> dict[str, Any]:
        """Give the result in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields of the object by name, and `lines`.
        """
        return dict(plain(self)) | {"lines": list(self.lines())}


def untested(
    ratings: Ratings, truths: EffectiveRaters | None, reason: str, replicates: int
) -> Dependence:
    """Give the result if pairs cannot be tested.

    Parameters
    ----------
    ratings : Ratings
    truths : EffectiveRaters or None
        What known truths show.
    reason : str
    replicates : int

    Returns
    -------
    Dependence
    """
    unknown = EffectiveRaters(
        n_raters=mean_raters(ratings), effective=None, correlation=None, source="unknown"
    )
    return Dependence(
        pairs=(),
        p_equal=None,
        p_own=None,
        triples=None,
        triples_expected=None,
        triples_sd=None,
        effective_raters=truths or unknown,
        n_raters=ratings.n_raters + (ratings.system is not None),
        reason=reason,
        replicates=replicates,
    )
