"""Agreement of raters by every usual coefficient, and of each pair of raters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.algebra.steps import brennan_prediger
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import check_number, find
from lehner.core.estimate import plain
from lehner.core.lazy import pd, special, xr
from lehner.core.text import counted, percent
from lehner.core.warning import Warning, warn
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.interrater.coefficients import (
    Coefficient,
    choose_coefficients,
    coefficient_of_items,
    percent_agreement,
    printed_name,
)
from lehner.interrater.votes import (
    ItemVotes,
    Linearised,
    accuracy,
    cohen_kappa,
    count_votes,
    standard_error,
)
from lehner.interrater.weights import AgreementWeights, find_all_weights, weights_notes


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterPairs:
    """Each rater compared with each other rater.

    Parameters
    ----------
    weights : tuple of str
    raters : tuple of str
        The system, if there is one, is the last.
    n_items : ndarray, shape (n_raters, n_raters)
        Number of items that both rated.
    coefficients : dict of str to ndarray, shape (n_weights, n_raters, n_raters)
        `percent_agreement`, `cohen_kappa`, its `standard_error` and the ends `lower` and `upper` of
        its interval; NaN if there is nothing to compare, and for a rater with itself.
    """

    weights: tuple[str, ...]
    raters: tuple[str, ...]
    n_items: Floats
    coefficients: dict[str, Floats]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of a table with a row for each pair, for one of the weights at a time.

        Returns
        -------
        dict of str to ndarray
            `rater`, `other_rater`, `weights`, `n_items`, `percent_agreement`, `cohen_kappa`,
            `standard_error`, `lower`, `upper`.
        """
        first, second = np.triu_indices(len(self.raters), 1)
        names, n_weights = np.array(self.raters), len(self.weights)
        return {
            "rater": np.tile(names[first], n_weights),
            "other_rater": np.tile(names[second], n_weights),
            "weights": np.repeat(np.array(self.weights), len(first)),
            "n_items": np.tile(self.n_items[first, second], n_weights),
        } | {name: values[:, first, second].ravel() for name, values in self.coefficients.items()}

    def to_xarray(self) -> "xr.Dataset":
        """Label the coefficients, dims (weights, rater, other_rater), and the numbers of items."""
        dims = ("rater", "other_rater")
        data: dict[str, Any] = {"n_items": (dims, self.n_items)}
        data |= {name: (("weights", *dims), v) for name, v in self.coefficients.items()}
        raters = list(self.raters)
        return xr.Dataset(data, {"weights": list(self.weights), **dict.fromkeys(dims, raters)})


def rater_pairs(
    ratings: Ratings, weights: Sequence[AgreementWeights], level: float = 0.9
) -> RaterPairs:
    """Compare each rater with each other rater, and with the system if there is one.

    Only items that both rated are used. Repeated ratings of an item by a rater share one vote.

    Parameters
    ----------
    ratings : Ratings
        Ratings whose raters are named.
    weights : sequence of AgreementWeights
    level : float
        Probability of the intervals, by Student's t.

    Returns
    -------
    RaterPairs
    """
    votes = count_votes(ratings.all_given, ratings.weights, ratings.n_categories, ratings.cluster)
    n_raters = len(ratings.all_raters)
    shape = (len(weights), n_raters, n_raters)
    arrays = {
        name: np.full(shape, np.nan)
        for name in ("percent_agreement", "cohen_kappa", "standard_error", "lower", "upper")
    }
    n_items = np.zeros(shape[1:])
    for rater in range(n_raters):
        tables = votes.tables(rater, n_raters)
        n_items[rater] = tables.sum(axis=(-2, -1)).round(9)
        others = np.flatnonzero((n_items[rater] > 0) & (np.arange(n_raters) != rater))
        for i, weights_of_kind in enumerate(weights):
            kappa = cohen_kappa(tables[others], weights_of_kind.matrix)
            weighted = accuracy(tables[others], weights_of_kind.matrix).value
            arrays["percent_agreement"][i, rater, others] = weighted
            arrays["cohen_kappa"][i, rater, others] = kappa.value
            if ratings.repeated or ratings.cluster is not None:
                error, n = _errors_of_shared_votes(votes, rater, others, kappa.influence)
            else:
                n = n_items[rater, others]
                cells = tables[others].reshape(len(others), ratings.n_categories**2)
                error = standard_error(kappa, cells, n)
            half = error * special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2)
            arrays["standard_error"][i, rater, others] = error
            arrays["lower"][i, rater, others] = np.clip(kappa.value - half, -1, kappa.value)
            arrays["upper"][i, rater, others] = np.minimum(kappa.value + half, 1)
    return RaterPairs(
        weights=tuple(kind.name for kind in weights),
        raters=ratings.all_raters,
        n_items=n_items,
        coefficients=arrays,
    )


def _errors_of_shared_votes(
    votes: ItemVotes, rater: int, others: Integers, influence: Floats
) -> tuple[Floats, Floats]:
    """Find standard errors of items with repeated ratings, or in clusters, and how many these are.

    The influence of an item on kappa is the mean influence of its cells.
    """
    k, mine = votes.n_categories, votes.lay_out_rater(rater)
    errors, sizes = np.empty(len(others)), np.empty(len(others))
    for i, other in enumerate(others):
        theirs = votes.lay_out_rater(other)
        both = votes.weights * (mine.any(axis=1) & theirs.any(axis=1))
        moved = ((mine @ influence[i].reshape(k, k)) * theirs).sum(axis=1)
        kappa = Linearised(value=np.float64(np.nan), influence=moved)
        n = both.sum() if votes.cluster is None else len(np.unique(votes.cluster[both > 0]))
        errors[i], sizes[i] = standard_error(kappa, both, n, votes.cluster), n
    return errors, sizes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Agreement:
    """Coefficients of agreement.

    Parameters
    ----------
    coefficients : tuple of Coefficient
        One for each name and kind of weights; `agreement[name]` and `agreement[name, weights]` find
        one.
    level : float
        Probability of their intervals, between 0 and 1.
    n_items : float or None
        Number of items with a rating; the total of a table of counts; None for a table of
        probabilities.
    rater_pairs : RaterPairs, optional
        Agreement of each pair of raters; the system is the rater `system`.
    notes : tuple of Warning
        Notes that apply to all coefficients.
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    n_items: float | None
    rater_pairs: RaterPairs | None = None
    notes: tuple[Warning, ...] = ()

    @cached_property
    def pairs(self) -> "xr.Dataset | None":
        """Every pair of raters, dims (weights, rater, other_rater).

        `n_items` (without weights), `percent_agreement`, `cohen_kappa`, its `standard_error` and
        the ends of its interval, `lower` and `upper`; NaN if there is nothing to compare, and for a
        rater with itself.
        """
        return None if self.rater_pairs is None else self.rater_pairs.to_xarray()

    def __getitem__(self, key: str | tuple[str, str]) -> Coefficient:
        """Find a coefficient by its name, or by name and weights; by default the first weights."""
        name, weights = (key, None) if isinstance(key, str) else key
        if weights is not None:
            find("kind of weights", weights, {c.weights: c for c in self.coefficients})
        by_name = {c.name: c for c in reversed(self.coefficients) if weights in (None, c.weights)}
        return find("coefficient", name, by_name)

    def __repr__(self) -> str:
        wide = max((len(c.name) for c in self.coefficients), default=0)
        unknown = "an unknown number of items"
        items = unknown if self.n_items is None else counted(self.n_items, "item")
        lines = [f"Agreement on {items} [{percent(self.level)} interval]"]
        lines += [
            f"  {c.name:<{wide}}  {c.weights:<9}  {c}  {c.note if c.estimate is None else ''}"
            for c in self.coefficients
        ]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Result in plain types, undefined numbers as None, ready for JSON.

        Returns
        -------
        dict
            Keys `n_items`, `level`, `coefficients`, `pairs`, `notes`.
        """
        columns = {} if self.rater_pairs is None else self.rater_pairs.columns()
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return {
            "n_items": self.n_items,
            "level": self.level,
            "coefficients": plain(self.coefficients),
            "pairs": plain([dict(zip(columns, row, strict=True)) for row in rows]),
            "notes": plain(self.notes),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Table with a row per coefficient.

        Returns
        -------
        pandas.DataFrame
            The fields of `Coefficient` as columns.
        """
        return pd.DataFrame([vars(coefficient) for coefficient in self.coefficients])

    def pairs_frame(self) -> "pd.DataFrame":
        """Table with a row per pair of raters and kind of weights.

        Returns
        -------
        pandas.DataFrame
            Columns `rater`, `other_rater`, `weights`, `n_items`, `percent_agreement`,
            `cohen_kappa`, `standard_error`, `lower`, `upper`.
        """
        return pd.DataFrame({} if self.rater_pairs is None else self.rater_pairs.columns())


ANONYMOUS = "undefined: it is not known who gave which rating"
SAME_AGREEMENT = 1e-9
MANY_ROWS = 10_000
"""From so many items on, those with the same ratings are counted rather than kept."""


def agreement(
    ratings: Ratings,
    *,
    coefficients: str | Sequence[str] | None = None,
    weights: Any = None,
    level: float = 0.9,
) -> Agreement:
    """Measure the agreement of raters by every usual coefficient, with sampling errors.

    All but Krippendorff's are :math:`(P_a - P_e) / (1 - P_e)`. Ratings may be missing and raters
    unequal in number: :math:`P_a` is the mean, over items with two or more raters, of the
    agreement of two of the item's raters, and items with one rating count towards :math:`P_e`
    (Gwet 2014, chapter 2). `pairwise_agreement`, Lehner's, pools pairs of ratings instead, so that
    items with many ratings weigh more; without missing ratings both are the same. Krippendorff's
    alpha leaves items with one rating out and weighs the others by their ratings.

    A rater's m ratings of the same item are 1/m of a vote each, and are not compared with one
    another: two raters agree as often as two of their ratings do. Estimates of accuracy take the
    most frequent rating instead (`Ratings.flat`). The system is left out; only `pairs` has it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are used only in `pairs`.
    coefficients : str or sequence of str, optional
        Names of coefficients, or a word of a name that no other has, as "alpha" and "ac1": only
        these are given, in this order. By default all.
    weights : str, array_like or sequence of str, optional
        Agreement weights: names, or a symmetric matrix, (n_categories, n_categories). "linear",
        "quadratic" and "ordinal" depend on the order of the categories; "linear_by_value",
        "interval" and "ratio" depend on the categories' values, which must be numbers. By default
        identity and, for ordered categories, linear, quadratic and ordinal.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Agreement
        For each of the weights: `percent_agreement`; `brennan_prediger_kappa`, the paper's;
        `cohen_kappa` and `scott_pi` for two raters, on items both rated; their generalisations
        `conger_kappa` and `fleiss_kappa`; `krippendorff_alpha`; `gwet_ac1`, with weights
        `gwet_ac2`. With identity weights `fleiss_kappa[category]` and, for two raters,
        `bangdiwala_b` too.

    Raises
    ------
    InputError
        If there is no such coefficient, if the weights do not suit the categories, if the level is
        not between 0 and 1, or if there are fewer items than were rated.

    Notes
    -----
    Standard errors treat items as drawn at random and raters as fixed, and linearise the
    coefficient in its means over items. Without missing ratings this is Gwet's (2014) variance and,
    for Cohen's kappa, that of Fleiss, Cohen & Everitt (1969) times n / (n − 1). With missing
    ratings Gwet's published variance treats an item with one rating as an item without agreement.
    The mean over items with two or more ratings does not depend on such items, and neither does its
    variance here. In 1,500 simulated samples of 100 items with 40% of the ratings missing, the
    percent agreement had a standard deviation of .0459; the mean standard error was .0463, and
    .0527 by the published formula. Krippendorff's ordinal alpha allows for the ranks' dependence on
    the ratings.

    `p_value` is computed from this standard error and Student's t, as Gwet recommends.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition. Fleiss, Cohen & Everitt (1969),
    Psychological Bulletin 72(5), 323-327. Lehner (2015), Eq. 1 and 2. Krippendorff (2011).

    Examples
    --------
    >>> from lehner import load_dataset
    >>> result = agreement(load_dataset("krippendorff"), weights=["identity", "ordinal"])
    >>> round(result["krippendorff_alpha"].estimate, 3)
    0.743
    >>> round(result["krippendorff_alpha", "ordinal"].estimate, 3)
    0.815
    """
    kinds = find_all_weights(weights, ratings.categories, ordered=ratings.ordered)
    if ratings.n_rows > MANY_ROWS and not ratings.repeated:
        ratings = ratings.collapse(truth=False)
    items = count_votes(ratings.given, ratings.weights, ratings.n_categories, ratings.cluster)
    check_number("level", level, 1e-6, 1 - 1e-6)
    several = ratings.n_raters + (ratings.system is not None) > 1 and not ratings.anonymous
    return Agreement(
        coefficients=choose_coefficients(
            (c for kind in kinds for c in _coefficients(ratings, items, kind, level)),
            coefficients,
        ),
        level=level,
        n_items=int(items.n_items),
        rater_pairs=rater_pairs(ratings, kinds, level)
        if several and not ratings.anonymous
        else None,
        notes=(*_notes(ratings), *weights_notes(kinds, ratings.categories)),
    )


def _coefficients(
    ratings: Ratings, items: ItemVotes, weights: AgreementWeights, level: float
) -> Iterator[Coefficient]:
    show = partial(coefficient_of_items, weights=weights, level=level)
    identity = weights.name in ("identity", "nominal")
    note, kappa_note = _pooled_notes(items) if identity else ("", "")
    unknown = ANONYMOUS if ratings.anonymous else ""
    both, not_two = items.select_rows(items.n_raters == 2), ""
    if ratings.n_raters != 2:
        not_two = f"undefined: it is for two raters, and there are {ratings.n_raters}; see "
    no_scott = not_two and f"{not_two}{printed_name('fleiss_kappa')}"
    no_cohen = unknown or (not_two and f"{not_two}{printed_name('conger_kappa')} and the pairs")
    yield show("percent_agreement", items, note=note)
    yield show("brennan_prediger_kappa", items, note=kappa_note)
    yield show("cohen_kappa", both, reason=no_cohen)
    yield show("conger_kappa", items, reason=unknown)
    yield show("scott_pi", both, reason=no_scott)
    yield show("fleiss_kappa", items)
    if identity and ratings.n_categories > 1:
        halves = AgreementWeights(name=weights.name, matrix=np.eye(2))
        for k, category in enumerate(ratings.categories):
            category_items = items.collapse_to(k)
            name = f"fleiss_kappa[{category}]"
            yield show(name, category_items, weights=halves)
    yield show("krippendorff_alpha", items)
    yield show("gwet_ac1" if identity else "gwet_ac2", items)
    if identity and not no_cohen:
        yield show("bangdiwala_b", both)


def _pooled_notes(items: ItemVotes) -> tuple[str, str]:
    """Write Lehner's agreement and kappa if they differ from Gwet's."""
    n_pairs = float(items.weights @ (items.n_raters * (items.n_raters - 1)))
    if n_pairs == 0:
        return "", ""
    k = items.n_categories
    identity = AgreementWeights(name="identity", matrix=np.eye(k))
    mean = float(percent_agreement(items, identity).value)
    pooled = float(items.weights @ items.pair_sums(identity.matrix)) / n_pairs
    if abs(mean - pooled) < SAME_AGREEMENT:
        return "", ""
    say = "mean over items; pooled over pairs of ratings, as in Lehner (2015), it is {:.6f}"
    return say.format(pooled), say.format(float(brennan_prediger(pooled, k))) if k > 1 else ""


def _notes(ratings: Ratings) -> Iterator[Warning]:
    yield from cluster_warnings(ratings)
    if ratings.repeated:
        text = (
            "a rater's repeated ratings of an item share one vote here; estimates of accuracy take "
            "the most frequent one"
        )
        yield warn("repeats-share-vote", text)
    if ratings.system is not None:
        text = "only raters are compared; the system is compared with each of them in the pairs"
        yield warn("system-not-a-rater", text)
