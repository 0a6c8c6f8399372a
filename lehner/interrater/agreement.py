"""Agreement of raters: every usual coefficient, each pair, a rater with himself, sets of labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError, Warning, check_number, compose, list_few, warn
from lehner.core.estimate import Row
from lehner.core.lazy import pd, special
from lehner.core.resampling import log_progress, show_if_long
from lehner.core.results import Results, tabulate
from lehner.data.checks import MOST_NAMED, find_strays, list_of
from lehner.data.estimable import warn_of_clusters
from lehner.data.ratings import Ratings
from lehner.interrater import votes as item_votes
from lehner.interrater.coefficients import (
    BY_NAME,
    INTERVAL,
    PROPORTION,
    AgreementWeights,
    choose_coefficients,
    compute_coefficient,
    find_all_weights,
    identity,
    name_coefficient,
    name_weights,
    note_weights,
    warn_of_raters,
)
from lehner.interrater.votes import ItemVotes, Linearised, count_votes


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
        With columns of the table of results: a row of `percent_agreement` and one of `cohen_kappa`
        for each pair, `rater` and `versus`.
    """
    entries = ratings.entries.add_raters(ratings.answers)
    votes = count_votes(entries, ratings.weights, ratings.cluster)
    names = np.array(ratings.all_raters, dtype=object)
    parts: dict[str, list[Floats]] = {kind.name: [] for kind in weights}
    n_raters = len(names)
    tell = log_progress("pairs of raters", n_raters * (n_raters - 1) / 2)
    for rater in range(n_raters - 1):
        tell(rater * (2 * n_raters - rater - 1) / 2)
        partners = np.arange(rater + 1, n_raters)
        tables = votes.cross_tabulate(rater, n_raters)[partners]
        n_items = tables.sum(axis=(-2, -1)).round(9)
        for kind in weights:
            with np.errstate(invalid="ignore", divide="ignore"):
                kappa = item_votes.cohen_kappa(tables, kind.matrix)
                observed = item_votes.find_accuracy(tables, kind.matrix).value
                if ratings.repeated or ratings.cluster is not None:
                    error, n = _find_errors(votes, rater, partners, kappa.influence)
                else:
                    cells = tables.reshape(len(partners), -1)
                    error, n = item_votes.standard_error(kappa, cells, n_items), n_items
            half = error * special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2)
            lower, upper = np.clip(kappa.value - half, -1, kappa.value), kappa.value + half
            pairs = (np.full(len(partners), rater), partners, n_items, observed)
            parts[kind.name].append(np.array([*pairs, kappa.value, error, lower, upper]))
    frames: list[pd.DataFrame] = []
    for kind in weights:
        first, second, *numbers = np.concatenate(parts[kind.name], axis=1)
        n_items, observed, value, error, lower, upper = numbers
        pair = {"rater": names[first.astype(int)], "versus": names[second.astype(int)]}
        keys = pair | {"weights": name_weights(kind), "n_items": n_items}
        interval = {"lower": lower, "upper": np.minimum(upper, 1), "standard_error": error}
        interval["level"] = np.where(np.isnan(error), np.nan, level)
        interval["kind"] = np.where(np.isnan(error), "", INTERVAL)
        agreeing = {"quantity": PROPORTION, "estimate": observed}
        chosen = {"quantity": "cohen_kappa", "estimate": value}
        frames += map(pd.DataFrame, (agreeing | keys, chosen | keys | interval))
    return pd.concat(frames)


def _find_errors(
    votes: ItemVotes, rater: int, partners: Integers, influence: Floats
) -> tuple[Floats, Floats]:
    """Find standard errors of items with repeated ratings, or in clusters, and how many these are.

    The influence of an item on kappa is the mean influence of its cells.
    """
    k, cast = votes.n_categories, votes.lay_out_rater(rater)
    errors, sizes = np.empty(len(partners)), np.empty(len(partners))
    for i, partner in enumerate(partners):
        cast_by_partner = votes.lay_out_rater(partner)
        both = votes.weights * (cast.any(axis=1) & cast_by_partner.any(axis=1))
        moved = ((cast @ influence[i].reshape(k, k)) * cast_by_partner).sum(axis=1)
        kappa = Linearised(value=np.float64(np.nan), influence=moved)
        n = both.sum() if votes.cluster is None else len(np.unique(votes.cluster[both > 0]))
        errors[i], sizes[i] = item_votes.standard_error(kappa, both, n, votes.cluster), n
    return errors, sizes


ANONYMOUS = "undefined: it is not known who gave which rating"
# From so many items on, those with the same ratings are counted rather than kept.
MANY_ROWS = 10_000
# More raters than these are compared in pairs only where that is asked for.
MOST_IN_PAIRS = 50


@show_if_long()
def agreement(
    ratings: Ratings,
    *,
    coefficients: str | Sequence[str] | None = None,
    weights: str | Sequence[str] | None = None,
    pairs: bool | None = None,
    level: float = 0.9,
) -> Results:
    """Measure the agreement of raters by every usual coefficient, with sampling errors.

    All but Krippendorff's are :math:`(P_a - P_e) / (1 - P_e)`. Ratings may be missing and raters
    unequal in number: :math:`P_a` is the mean, over items with two or more raters, of the
    agreement of two of the item's raters, and items with one rating count towards :math:`P_e`
    (Gwet 2014, chapter 2). `pairwise_agreement`, Lehner's, pools pairs of ratings instead, so that
    items with many ratings weigh more; without missing ratings both are the same. Krippendorff's
    alpha leaves items with one rating out and weighs the others by their ratings.

    A rater's m ratings of the same item are 1/m of a vote each, and are not compared with one
    another: two raters agree as often as two of their ratings do. Estimates of accuracy take the
    most frequent rating instead (`Ratings.votes`). The system is left out; only its pairs with
    raters have it.

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are used only in its pairs with raters.
    coefficients : str or sequence of str, optional
        Names of coefficients, or a word of a name that no other has, as "alpha" and "ac1": only
        these are given, in this order. By default all.
    weights : str or sequence of str, optional
        Names of agreement weights. "identity" lets only equal categories agree; "linear",
        "quadratic" and "ordinal" depend on the order of the categories; "linear_by_value",
        "interval" and "ratio" depend on the categories' values, which must be numbers. By default
        identity and, for ordered categories, linear, quadratic and ordinal.
    pairs : bool, optional
        Whether each rater is compared with each other one. By default they are if there are 50
        raters or fewer.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Results
        For each of the weights (column `weights`, which is empty for identity) `percent_agreement`;
        `brennan_prediger_kappa`, the paper's; `cohen_kappa`, of two raters on items both rated, and
        of more the generalisation by Conger (1980); `scott_pi` of two raters, on items both rated;
        its generalisation `fleiss_kappa`; `krippendorff_alpha`; `gwet_ac1`, with weights
        `gwet_ac2`. With identity weights `fleiss_kappa` of each category too. `probability` is the
        p-value, and the rows `cohen_kappa_chance` and so on are the agreement by chance for which a
        coefficient is corrected. Warnings say why a coefficient is undefined. If raters are named,
        `percent_agreement` and `cohen_kappa` of each pair of them, and of each with the system, are
        rows with the columns `rater` and `versus`.

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

    The p-value is computed from this standard error and Student's t, as Gwet recommends.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition. Fleiss, Cohen & Everitt (1969),
    Psychological Bulletin 72(5), 323-327. Lehner (2015), Eq. 1 and 2. Krippendorff (2011).

    Examples
    --------
    >>> from lehner import load_dataset
    >>> result = agreement(load_dataset("krippendorff"), weights=["identity", "ordinal"])
    >>> round(result.value("krippendorff_alpha").estimate, 3)
    0.743
    >>> round(result.value("krippendorff_alpha", weights="ordinal").estimate, 3)
    0.815
    """
    kinds = find_all_weights(weights, ratings.categories, ordered=ratings.ordered)
    grouped, items, measured = _measure(ratings, kinds, level, coefficients)
    compared = pd.DataFrame()
    notes = [*_write_notes(ratings, items), *note_weights(kinds, ratings.categories)]
    if len(ratings.all_raters) > 1 and not ratings.anonymous:
        if pairs or (pairs is None and ratings.n_raters <= MOST_IN_PAIRS):
            compared = compare_pairs(grouped, kinds, level)
        elif pairs is None:
            many = str(ratings.n_raters)
            text = compose("{} raters are only compared in pairs on request ({pairs=True})", many)
            notes.append(warn("not-compared", text))
    rows = list_rows(measured, n_items=items.n_items)
    return Results(
        ratings=ratings,
        table=tabulate(pd.concat([pd.DataFrame(rows), compared], ignore_index=True)),
        warnings=(*notes, *warn_of_coefficients(measured)),
    )


def list_rows(measured: Iterable[Row], **columns: Any) -> list[Row]:
    """List coefficients, and the agreement by chance for which they are corrected, as rows."""
    rows = []
    for row in measured:
        rows.append(row | columns)
        if row["chance"] is not None:
            keys = {name: row[name] for name in ("category", "weights")} | columns
            rows.append({"quantity": f"{row['quantity']}_chance", "estimate": row["chance"]} | keys)
    return rows


def warn_of_coefficients(measured: Sequence[Row]) -> Iterator[Warning]:
    """Say why coefficients are undefined, and what else is to be known: each reason once."""
    first = {row["note"]: row for row in reversed(measured) if row["note"]}
    for note, row in reversed(first.items()):
        name = name_coefficient(row["quantity"], row["category"])
        yield warn("coefficient", f"{name}: {note}")


def _measure(
    ratings: Ratings,
    kinds: Sequence[AgreementWeights],
    level: float,
    coefficients: str | Sequence[str] | None = None,
) -> tuple[Ratings, ItemVotes, tuple[Row, ...]]:
    """Group many items, count votes, and measure the coefficients that are asked for."""
    check_number("level", level, 1e-6, 1 - 1e-6)
    if ratings.n_rows > MANY_ROWS and not ratings.repeated:
        ratings = ratings.to_grouped(truth=False)
    items = count_votes(ratings.entries, ratings.weights, ratings.cluster)
    every = (row for kind in kinds for row in _list_coefficients(ratings, items, kind, level))
    return ratings, items, choose_coefficients(every, coefficients)


def _list_coefficients(
    ratings: Ratings, items: ItemVotes, weights: AgreementWeights, level: float
) -> Iterator[Row]:
    show = partial(compute_coefficient, weights=weights, level=level)
    equal = weights.name in BY_NAME
    both, reason, conger = items, "", ""
    if ratings.n_raters == 2:
        both = items.select_rows(items.n_raters == 2)
    else:
        conger = "that of more than two raters is Conger's generalisation"
        reason = f"undefined: it is for two raters, and there are {ratings.n_raters}; see Fleiss’ κ"
    yield show(PROPORTION, items)
    yield show("brennan_prediger_kappa", items)
    yield show("cohen_kappa", both, note=conger, reason=ANONYMOUS if ratings.anonymous else "")
    yield show("scott_pi", both, reason=reason)
    yield show("fleiss_kappa", items)
    if equal and ratings.n_categories > 1:
        halves = AgreementWeights(name=weights.name, matrix=np.eye(2))
        for k, category in enumerate(ratings.categories):
            alone = items.collapse_to(k)
            yield show("fleiss_kappa", alone, weights=halves, category=str(category))
    yield show("krippendorff_alpha", items)
    yield show("gwet_ac1" if equal else "gwet_ac2", items)


def _write_notes(ratings: Ratings, items: ItemVotes) -> Iterator[Warning]:
    yield from (*warn_of_raters(ratings), *warn_of_strays(ratings, items))
    yield from warn_of_clusters(ratings)
    if ratings.repeated:
        text = "a rater's repeated ratings of an item share one vote here; estimates of accuracy "
        text += "take the most frequent one"
        yield warn("repeats-share-vote", text)
    if ratings.system is not None:
        text = "coefficients are of the raters alone; the system is in pairs with each of them"
        yield warn("not-compared", text)


WITHIN_RATER = (PROPORTION, "krippendorff_alpha", "gwet_ac1")


def within_rater_agreement(ratings: Ratings, *, level: float = 0.9) -> Results:
    """Measure how far each rater agrees with himself where he rated an item more than once.

    Parameters
    ----------
    ratings : Ratings
        With repeated ratings.
    level : float
        Probability of the intervals.

    Returns
    -------
    Results
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
    >>> results = within_rater_agreement(Ratings.from_long(twice, repeated=True))
    >>> results.value("percent_agreement", rater="x").estimate
    0.5
    """
    flat, again = ratings.entries, ratings.entries.is_repeated
    if not again.any():
        remedy = compose("give repeated ratings ({repeated=vote})")
        raise InputError("no rater rated an item more than once", remedy)
    kinds = find_all_weights("identity", ratings.categories, ordered=False)
    rows: list[Row] = []
    for rater in np.unique(flat.rater_index[again]):
        of_rater = flat.rater_index == rater
        occasion = flat.occasion[of_rater]
        times = tuple(f"rating {k + 1}" for k in range(int(occasion.max()) + 1))
        shape = (ratings.n_rows, len(times), ratings.n_categories)
        by_occasion = replace(flat.select(of_rater), rater_index=occasion, shape=shape)
        alone = ratings.without_system().replace(entries=by_occasion, raters=times)
        alone = alone.take(np.unique(flat.item_index[again & of_rater]))
        _, items, measured = _measure(alone, kinds, level, WITHIN_RATER)
        rows += list_rows(measured, rater=ratings.raters[rater], n_items=items.n_items)
    return Results(ratings=ratings, table=tabulate(rows), warnings=tuple(warn_of_raters(ratings)))


def set_agreement(ratings: Ratings, *, level: float = 0.9) -> Results:
    """Measure the agreement of raters who give each item a set of labels.

    Parameters
    ----------
    ratings : Ratings
        Whose categories are sets, written as lists: read with ``sets=True``.
    level : float
        Probability of the intervals.

    Returns
    -------
    Results
        `percent_agreement`, which is the mean similarity of two raters' sets of an item, and
        `krippendorff_alpha`, with 1 minus that similarity as the distance, by measure (column
        `weights`): equal (1 if the sets are equal), jaccard (the labels in common, of all labels in
        either set) and masi. For each label (column `category`) the `krippendorff_alpha` of whether
        a set has it.

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC: 1 for equal sets, 2/3
    of Jaccard's measure if one set contains the other, 1/3 if they overlap (NLTK has .67 and .33).

    Examples
    --------
    >>> from lehner import read_ratings
    >>> table = {"Ann": ["[1, 2]", "[3]", "[1]"], "Bo": ["[1]", "[3]", "[1, 2]"]}
    >>> results = set_agreement(read_ratings(table, sets=True))
    >>> similarity = results.select(quantity="percent_agreement")
    >>> dict(zip(similarity["weights"], similarity["estimate"].round(3)))
    {'equal': 0.333, 'jaccard': 0.667, 'masi': 0.556}
    """
    sets = [frozenset(map(str, list_of(category))) for category in ratings.categories]
    names, rows = (PROPORTION, "krippendorff_alpha"), list[Row]()
    for name, matrix in measure_similarities(sets).items():
        kind = AgreementWeights(name=name, matrix=matrix)
        _, items, measured = _measure(ratings, [kind], level, names)
        rows += list_rows(measured, n_items=items.n_items)
    for label, binary in divide_sets(ratings).items():
        kinds = find_all_weights("identity", binary.categories, ordered=False)
        _, items, measured = _measure(binary, kinds, level, names[1:])
        rows += list_rows(measured, category=label, n_items=items.n_items)
    return Results(ratings=ratings, table=tabulate(rows), warnings=tuple(warn_of_raters(ratings)))


def divide_sets(ratings: Ratings) -> dict[str, Ratings]:
    """Ask of each label alone whether it is in a set: ratings with the categories no and yes.

    Parameters
    ----------
    ratings : Ratings
        Whose categories are sets, written as lists.

    Returns
    -------
    dict of str to Ratings
        By label; answers of systems are left out.
    """
    sets = [frozenset(map(str, list_of(category))) for category in ratings.categories]
    divided, plain = dict[str, Ratings](), ratings.without_system()
    for label in sorted(frozenset().union(*sets), key=lambda label: (len(label), label)):
        has = np.array([label in labels_of_set for labels_of_set in sets], dtype=np.int64)
        entries = replace(plain.entries, category_index=has[plain.entries.category_index])
        truth = None if plain.truth is None else np.where(plain.truth >= 0, has[plain.truth], -1)
        changes: dict[str, Any] = {"entries": entries, "categories": ("no", "yes")}
        divided[label] = plain.replace(truth=truth, ordered=False, **changes)
    return divided


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


# Coefficients that depend on the number of categories, and the least change that is said.
BY_NUMBER, LEAST_CHANGE = ("brennan_prediger_kappa", "gwet_ac1"), 0.02


def warn_of_strays(ratings: Ratings, items: ItemVotes) -> Iterator[Warning]:
    """Warn if stray categories change the coefficients that depend on how many there are.

    Parameters
    ----------
    ratings : Ratings
    items : ItemVotes
        Of all ratings.

    Yields
    ------
    Warning

    Examples
    --------
    >>> from lehner.interrater.votes import count_votes
    >>> ratings = Ratings([[0, 1], [1, 1], [0, 0]] * 20 + [[2, 1]], ["no", "yes", "jes"])
    >>> items = count_votes(ratings.entries, ratings.weights)
    >>> next(warn_of_strays(ratings, items)).text
    "Brennan and Prediger’s κ is 0.484, and 0.333 without 'jes'"
    """
    uses = ratings.uses
    strays = find_strays(ratings.categories, uses, apart=len(uses) >= len(ratings.all_raters))
    left, flat = np.setdiff1d(np.arange(ratings.n_categories), strays), ratings.entries
    if not strays or len(left) < 2:
        return
    flat = flat.select(np.isin(flat.category_index, left))
    category, shape = np.searchsorted(left, flat.category_index), (*flat.shape[:2], len(left))
    flat = replace(flat, category_index=category, shape=shape)
    fewer = count_votes(flat, ratings.weights, ratings.cluster)
    shown = list_few((repr(str(ratings.categories[k])) for k in strays), MOST_NAMED)
    for name in BY_NUMBER:
        before = compute_coefficient(name, items, identity(items), 0.9)["estimate"]
        after = compute_coefficient(name, fewer, identity(fewer), 0.9)["estimate"]
        if before is not None and after is not None and abs(before - after) >= LEAST_CHANGE:
            text = f"{name_coefficient(name)} is {before:.3f}, and {after:.3f} without {shown}"
            yield warn("rare-categories", text)
