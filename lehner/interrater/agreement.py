"""Agreement of raters: every usual coefficient, each pair, a rater with himself, sets of labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.steps import brennan_prediger
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError, Warning, check_number, compose, find, warn
from lehner.core.estimate import to_plain
from lehner.core.lazy import pd, special
from lehner.core.resampling import log_progress
from lehner.core.text import pluralise, to_percent
from lehner.data.checks import list_of
from lehner.data.estimable import warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.interrater import votes as item_votes
from lehner.interrater.coefficients import (
    Coefficient,
    choose_coefficients,
    compute_coefficient,
    name_coefficient,
    percent_agreement,
)
from lehner.interrater.doubts import identity, warn_of_raters, warn_of_strays
from lehner.interrater.votes import ItemVotes, Linearised, count_votes
from lehner.interrater.weights import BY_NAME, AgreementWeights, find_all_weights, note_weights


def compare_pairs(
    ratings: Ratings, weights: Sequence[AgreementWeights], level: float = 0.9
) -> "pd.DataFrame":
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
    pandas.DataFrame
        See `Agreement.pairs`.
    """
    votes = count_votes(ratings.all_ratings, ratings.weights, ratings.n_categories, ratings.cluster)
    names = np.array(ratings.all_raters, dtype=object)
    parts: dict[str, list[pd.DataFrame]] = {kind.name: [] for kind in weights}
    n_raters = len(names)
    tell = log_progress("pairs of raters", n_raters * (n_raters - 1) / 2)
    for rater in range(n_raters - 1):
        tell(rater * (2 * n_raters - rater - 1) / 2)
        others = np.arange(rater + 1, n_raters)
        tables = votes.cross_tabulate(rater, n_raters)[others]
        n_items = tables.sum(axis=(-2, -1)).round(9)
        for kind in weights:
            with np.errstate(invalid="ignore", divide="ignore"):
                kappa = item_votes.cohen_kappa(tables, kind.matrix)
                observed = item_votes.find_accuracy(tables, kind.matrix).value
                if ratings.repeated or ratings.cluster is not None:
                    error, n = _find_errors(votes, rater, others, kappa.influence)
                else:
                    cells = tables.reshape(len(others), -1)
                    error, n = item_votes.standard_error(kappa, cells, n_items), n_items
            half = error * special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2)
            columns = {
                "rater": names[rater],
                "other_rater": names[others],
                "weights": kind.name,
                "n_items": n_items,
                "percent_agreement": observed,
                "cohen_kappa": kappa.value,
                "standard_error": error,
                "lower": np.clip(kappa.value - half, -1, kappa.value),
                "upper": np.minimum(kappa.value + half, 1),
            }
            parts[kind.name].append(pd.DataFrame(columns))
    return pd.concat([part for of_kind in parts.values() for part in of_kind], ignore_index=True)


def _find_errors(
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
        errors[i], sizes[i] = item_votes.standard_error(kappa, both, n, votes.cluster), n
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
    pairs : pandas.DataFrame, optional
        Each pair of raters, systems too, under each kind of weights: `rater`, `other_rater`,
        `weights`, `n_items` that both rated, `percent_agreement`, `cohen_kappa`, its
        `standard_error`, and the ends `lower` and `upper` of its interval; NaN if there is nothing
        to compare. None if raters are anonymous.
    notes : tuple of Warning
        Notes that apply to all coefficients.
    """

    coefficients: tuple[Coefficient, ...]
    level: float
    n_items: float | None
    pairs: "pd.DataFrame | None" = None
    notes: tuple[Warning, ...] = ()

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
        items = unknown if self.n_items is None else pluralise(self.n_items, "item")
        lines = [f"Agreement on {items} [{to_percent(self.level)} interval]"]
        lines += [
            f"  {c.name:<{wide}}  {c.weights:<9}  {c}  {c.note if c.estimate is None else ''}"
            for c in self.coefficients
        ]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the result in plain types, undefined numbers as None, ready for JSON.

        Returns
        -------
        dict
            Keys `n_items`, `level`, `coefficients`, `pairs`, `notes`.
        """
        return {
            "n_items": self.n_items,
            "level": self.level,
            "coefficients": to_plain(self.coefficients),
            "pairs": [] if self.pairs is None else to_plain(self.pairs.to_dict("records")),
            "notes": to_plain(self.notes),
        }

    def to_frame(self) -> "pd.DataFrame":
        """Make a table with a row per coefficient.

        Returns
        -------
        pandas.DataFrame
            The fields of `Coefficient` as columns.
        """
        return pd.DataFrame([vars(coefficient) for coefficient in self.coefficients])


ANONYMOUS = "undefined: it is not known who gave which rating"
SAME_AGREEMENT = 1e-9
# From so many items on, those with the same ratings are counted rather than kept.
MANY_ROWS = 10_000


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
    most frequent rating instead (`Ratings.votes`). The system is left out; only `pairs` has it.

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
        `gwet_ac2`. With identity weights `fleiss_kappa[category]` too.

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
    items = count_votes(ratings.ratings, ratings.weights, ratings.n_categories, ratings.cluster)
    check_number("level", level, 1e-6, 1 - 1e-6)
    several = ratings.n_raters + (ratings.system is not None) > 1 and not ratings.anonymous
    every = (c for kind in kinds for c in _measure(ratings, items, kind, level))
    notes = *_write_notes(ratings, items), *note_weights(kinds, ratings.categories)
    return Agreement(
        coefficients=choose_coefficients(every, coefficients),
        level=level,
        n_items=int(items.n_items),
        pairs=compare_pairs(ratings, kinds, level) if several else None,
        notes=notes,
    )


def _measure(
    ratings: Ratings, items: ItemVotes, weights: AgreementWeights, level: float
) -> Iterator[Coefficient]:
    show = partial(compute_coefficient, weights=weights, level=level)
    identity = weights.name in BY_NAME
    note, kappa_note = _write_pooled_notes(items) if identity else ("", "")
    unknown = ANONYMOUS if ratings.anonymous else ""
    both, not_two = items.select_rows(items.n_raters == 2), ""
    if ratings.n_raters != 2:
        not_two = f"undefined: it is for two raters, and there are {ratings.n_raters}; see "
    no_scott = not_two and f"{not_two}{name_coefficient('fleiss_kappa')}"
    no_cohen = unknown or (not_two and f"{not_two}{name_coefficient('conger_kappa')} and the pairs")
    yield show("percent_agreement", items, note=note)
    yield show("brennan_prediger_kappa", items, note=kappa_note)
    yield show("cohen_kappa", both, reason=no_cohen)
    yield show("conger_kappa", items, reason=unknown)
    yield show("scott_pi", both, reason=no_scott)
    yield show("fleiss_kappa", items)
    if identity and ratings.n_categories > 1:
        halves = AgreementWeights(name=weights.name, matrix=np.eye(2))
        for k, category in enumerate(ratings.categories):
            yield show(f"fleiss_kappa[{category}]", items.collapse_to(k), weights=halves)
    yield show("krippendorff_alpha", items)
    yield show("gwet_ac1" if identity else "gwet_ac2", items)


def _write_pooled_notes(items: ItemVotes) -> tuple[str, str]:
    """Write Lehner's agreement and kappa if they differ from Gwet's."""
    n_pairs = float(items.weights @ (items.n_raters * (items.n_raters - 1)))
    if n_pairs == 0:
        return "", ""
    k, equal = items.n_categories, identity(items)
    mean = float(percent_agreement(items, equal).value)
    pooled = float(items.weights @ items.sum_pairs(equal.matrix)) / n_pairs
    if abs(mean - pooled) < SAME_AGREEMENT:
        return "", ""
    say = "mean over items; pooled over pairs of ratings, as in Lehner (2015), it is {:.6f}"
    return say.format(pooled), say.format(float(brennan_prediger(pooled, k))) if k > 1 else ""


def _write_notes(ratings: Ratings, items: ItemVotes) -> Iterator[Warning]:
    yield from (*warn_of_raters(ratings), *warn_of_strays(ratings, items))
    yield from warn_of_clusters(ratings)
    if ratings.repeated:
        text = "a rater's repeated ratings of an item share one vote here; estimates of accuracy "
        text += "take the most frequent one"
        yield warn("repeats-share-vote", text)
    if ratings.system is not None:
        text = "only raters are compared; the system is compared with each of them in the pairs"
        yield warn("system-not-a-rater", text)


WITHIN_RATER = ("percent_agreement", "krippendorff_alpha", "gwet_ac1")


def within_rater_agreement(ratings: Ratings, *, level: float = 0.9) -> dict[str, Agreement]:
    """Measure how far each rater agrees with himself where he rated an item more than once.

    Parameters
    ----------
    ratings : Ratings
        With repeated ratings.
    level : float
        Probability of the intervals.

    Returns
    -------
    dict of str to Agreement
        Percent agreement, Krippendorff's alpha and Gwet's AC1 of the ratings of the items that a
        rater rated more than once, for each rater who did.

    Raises
    ------
    InputError
        If no rater rated an item more than once.

    Examples
    --------
    >>> from lehner import Ratings
    >>> twice = {"item": [1, 1, 2, 2, 1], "rater": list("xxxxy"), "rating": list("aaaba")}
    >>> by_rater = within_rater_agreement(Ratings.from_long(twice, repeated=True))
    >>> by_rater["x"]["percent_agreement"].estimate
    0.5
    """
    flat, again = ratings.ratings, ratings.ratings.is_repeated
    if not again.any():
        remedy = compose("give repeated ratings ({repeated=vote})")
        raise InputError("no rater rated an item more than once", remedy)
    agreements = {}
    for rater in np.unique(flat.rater_index[again]):
        mine = flat.rater_index == rater
        occasion = flat.occasion[mine]
        by_occasion = replace(flat.select(mine), rater_index=occasion)
        times = tuple(f"rating {k + 1}" for k in range(int(occasion.max()) + 1))
        alone = ratings.without_system().replace(ratings=by_occasion, raters=times)
        rows = np.unique(flat.item_index[again & mine])
        agreements[ratings.raters[rater]] = agreement(
            alone.take(rows), coefficients=WITHIN_RATER, weights="identity", level=level
        )
    return agreements


ALPHA, PERCENT = "krippendorff_alpha", "percent_agreement"


@dataclass(frozen=True, kw_only=True)
class SetAgreement:
    """Agreement of sets of labels.

    Parameters
    ----------
    similarity : mapping of str to Coefficient
        Mean similarity of two raters' sets of an item, by measure: `equal` (1 if the sets are
        equal), `jaccard` (the labels in common, of all labels in either set) and `masi`.
    alpha : mapping of str to Coefficient
        Krippendorff's alpha with 1 minus that similarity as the distance.
    by_label : mapping of str to Coefficient
        Krippendorff's alpha of whether a set has the label.
    """

    similarity: Mapping[str, Coefficient]
    alpha: Mapping[str, Coefficient]
    by_label: Mapping[str, Coefficient]


def set_agreement(ratings: Ratings, *, level: float = 0.9) -> SetAgreement:
    """Measure the agreement of raters who give each item a set of labels.

    Parameters
    ----------
    ratings : Ratings
        Whose categories are sets, written as lists: read with ``sets=True``.
    level : float
        Probability of the intervals.

    Returns
    -------
    SetAgreement

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC: 1 for equal sets, 2/3
    of Jaccard's measure if one set contains the other, 1/3 if they overlap (NLTK has .67 and .33).

    Examples
    --------
    >>> from lehner import read_ratings
    >>> table = {"Ann": ["[1, 2]", "[3]", "[1]"], "Bo": ["[1]", "[3]", "[1, 2]"]}
    >>> result = set_agreement(read_ratings(table, sets=True))
    >>> {name: round(value.estimate, 3) for name, value in result.similarity.items()}
    {'equal': 0.333, 'jaccard': 0.667, 'masi': 0.556}
    """
    sets = [frozenset(map(str, list_of(category))) for category in ratings.categories]
    agreements = {
        name: agreement(ratings, weights=matrix, level=level)
        for name, matrix in measure_similarities(sets).items()
    }
    labels = sorted(frozenset().union(*sets), key=lambda label: (len(label), label))
    by_label = {}
    for label in labels:
        has = np.array([label in labels_of_set for labels_of_set in sets], dtype=np.int64)
        codes = replace(ratings.ratings, category_index=has[ratings.ratings.category_index])
        binary = Ratings(codes, ["no", "yes"], ratings.raters, ratings.items)
        by_label[label] = agreement(binary, coefficients=ALPHA, level=level)[ALPHA]
    return SetAgreement(
        similarity={name: result[PERCENT, "custom"] for name, result in agreements.items()},
        alpha={name: result[ALPHA, "custom"] for name, result in agreements.items()},
        by_label=by_label,
    )


def measure_similarities(sets: list[frozenset[str]]) -> dict[str, Floats]:
    """Compute the similarity of each two sets, by measure, (n_sets, n_sets)."""
    equal, jaccard, masi = (np.eye(len(sets)) for _ in range(3))
    for i, first in enumerate(sets):
        for j, second in enumerate(sets[:i]):
            both = len(first & second)
            share = both / len(first | second) if first | second else 1.0
            contained = both == min(len(first), len(second))
            jaccard[i, j] = jaccard[j, i] = share
            masi[i, j] = masi[j, i] = share * (2 / 3 if contained else 1 / 3)
    return {"equal": equal, "jaccard": jaccard, "masi": masi}
