"""Slow, plain-Python oracle for Lehner (2015), Eq. 1-7, written from the paper alone.

It shares no code with the package, so that the tests can compare the two.
"""

import math
from fractions import Fraction
from itertools import combinations

KEYS = (
    "agreement",
    "kappa",
    "rater_accuracy",
    "base_rates",
    "base_rates_clipped",
    "truth_probabilities",
    "system_accuracy",
    "bins",
)


def algebraic(rows, system, categories, aggregation="weighted", weights=None) -> dict:
    """Run the four steps; once a value is undefined, it and all later keys stay None.

    "bins" is None for the aggregations without bins. Truth probabilities are given for every
    row, also for rows with weight 0.
    """
    if aggregation not in ("weighted", "paper"):
        raise ValueError(f"unknown aggregation {aggregation!r}")
    K = len(categories)
    if weights is None:
        weights = [1] * len(rows)
    result = dict.fromkeys(KEYS)

    # Step 1: rater accuracy.
    weighted_rows = repeat_items(rows, weights)
    P_a = pairwise_agreement(weighted_rows)
    if P_a is None:
        return result
    result["agreement"] = float(P_a)
    if K < 2:
        return result
    kappa = uniform_kappa(P_a, K)
    result["kappa"] = float(kappa)
    if kappa <= 1e-12:
        return result
    P_c = rater_accuracy(P_a, K)
    result["rater_accuracy"] = P_c

    # Step 2: base rates.
    base, clipped = base_rates(weighted_rows, P_c, categories)
    result["base_rates"] = base
    result["base_rates_clipped"] = clipped

    # Step 3: truth probabilities.
    truth = [truth_probabilities(row, base, P_c, categories) for row in rows]
    result["truth_probabilities"] = truth

    # Step 4: system accuracy, from the (truth probabilities, system answer) of answered items. An
    # item without ratings has the base rates, which say nothing of the item.
    items = repeat_items(list(zip(rows, truth, system, strict=True)), weights)
    answered = [(p, answer) for row, p, answer in items if answer is not None and row]
    bins = None
    if aggregation == "paper":
        bins = accuracy_by_bin(answered, K)
        P_s = average_of_bins(bins)
    else:
        P_s = accuracy_by_least_squares(answered, categories)
    if P_s is None:
        return result
    result["system_accuracy"] = P_s
    result["bins"] = bins
    return result


def repeat_items(items, weights):
    """An item with weight w is w identical items."""
    repeated = []
    for item, weight in zip(items, weights, strict=True):
        if weight < 0:
            raise ValueError("negative weight")
        for _ in range(weight):
            repeated.append(item)
    return repeated


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


# ----- Step 1: rater accuracy -----


def pairwise_agreement(rows):
    """P_a, exact: share of agreeing pairs among pairs of ratings by different raters."""
    agreeing = 0
    pairs = 0
    for row in rows:
        for (rater_1, label_1), (rater_2, label_2) in combinations(row, 2):
            if rater_1 != rater_2:
                pairs += 1
                if label_1 == label_2:
                    agreeing += 1
    if pairs == 0:
        return None
    return Fraction(agreeing, pairs)


def uniform_kappa(P_a, K):
    """Kappa with 1/K as the random agreement (end of the section, before "Overall then")."""
    chance = Fraction(1, K)
    return (P_a - chance) / (1 - chance)


def rater_accuracy(P_a, K):
    """Eq. 2, the solution of Eq. 1 for P_c."""
    if P_a == 1:
        return 1.0  # what Eq. 2 gives, without the rounding error
    return 1 / K + math.sqrt(((K - 1) * P_a - Fraction(K - 1, K)) / K)


# ----- Step 2: base rates -----


def base_rates(rows, P_c, categories):
    """Eq. 5 for every category; negative rates become 0 and the rest is renormalised."""
    K = len(categories)
    labels = [label for row in rows for _, label in row]
    raw = {}
    for category in categories:
        frequency = labels.count(category) / len(labels)
        raw[category] = ((K - 1) * frequency - 1 + P_c) / (K * P_c - 1)  # Eq. 5
    clipped = any(rate < -1e-12 for rate in raw.values())
    positive = {category: max(rate, 0.0) for category, rate in raw.items()}
    total = math.fsum(positive.values())
    return {category: rate / total for category, rate in positive.items()}, clipped


# ----- Step 3: truth probabilities -----


def truth_probabilities(row, base, P_c, categories):
    """Bayes' rule: base rate * P_c^votes * error^(other ratings), normalised.

    Everything is divided by the powers for the possible category with the most votes. This
    changes nothing after normalisation, but it cannot underflow to 0/0; with error 0 it gives
    the limit for error -> 0 (0.0 ** 0 is 1).
    """
    error = (1 - P_c) / (len(categories) - 1)  # Table 1
    votes = {category: 0 for category in categories}
    for _, label in row:
        votes[label] += 1
    most = max(votes[category] for category in categories if base[category] > 0)
    products = {}
    for category in categories:
        if base[category] > 0:
            products[category] = base[category] * (error / P_c) ** (most - votes[category])
        else:
            products[category] = 0.0
    total = math.fsum(products.values())
    return {category: product / total for category, product in products.items()}


# ----- Step 4: system accuracy -----


def accuracy_by_bin(answered, K):
    """The rows of Table 4, from the lowest bin to the highest one."""
    bins = []
    for index in range(1, 11):
        members = [(p, answer) for p, answer in answered if bin_index(p) == index]
        if not members:
            continue
        P_g = mean(max(p.values()) for p, _ in members)
        P_a = mean(agreement_with_top(p, answer) for p, answer in members)
        if abs(K * P_g - 1) <= 1e-9:
            accuracy = None
        else:
            accuracy = clip(((K - 1) * P_a - 1 + P_g) / (K * P_g - 1))  # Eq. 7
        bins.append(
            {
                "lower": (index - 1) / 10,
                "upper": index / 10,
                "mean_probability": P_g,
                "n_items": len(members),
                "agreement": P_a,
                "accuracy": accuracy,
            }
        )
    return bins


def bin_index(p):
    """Bin 1 is (0, .1], ..., bin 10 is (.9, 1]."""
    return math.ceil(10 * max(p.values()) - 1e-9)


def agreement_with_top(p, answer):
    """1 if the answer is the most probable category; m tied categories share the 1 equally."""
    top = max(p.values())
    tied = [category for category, probability in p.items() if top - probability <= 1e-9]
    return 1 / len(tied) if answer in tied else 0.0


def average_of_bins(bins):
    """Average accuracy of the bins, weighted by their numbers of items."""
    left = [b for b in bins if b["accuracy"] is not None]
    if not left:
        return None
    n_items = sum(b["n_items"] for b in left)
    return math.fsum(b["n_items"] * b["accuracy"] for b in left) / n_items


def accuracy_by_least_squares(answered, categories):
    """Least-squares s of [answer = k] = p_k*s + (1-p_k)*(1-s)/(K-1) (Eq. 6 for each category k).

    Written as y = x*s, with y = [answer = k] - (1-p_k)/(K-1) and x = (K*p_k - 1)/(K-1).
    """
    K = len(categories)
    xs = []
    ys = []
    for p, answer in answered:
        for k in categories:
            xs.append((K * p[k] - 1) / (K - 1))
            ys.append((1 if answer == k else 0) - (1 - p[k]) / (K - 1))
    sum_xx = math.fsum(x * x for x in xs)
    if sum_xx <= 1e-12:
        return None
    return clip(math.fsum(x * y for x, y in zip(xs, ys, strict=True)) / sum_xx)


def clip(value):
    return min(max(value, 0.0), 1.0)
