"""Coefficients of agreement by brute force, pair of ratings by pair of ratings.

Items are dicts from rater to the list of that rater's codes; each has a weight, and so can stand
for any number of items. W is a matrix of agreement weights.
"""

from itertools import permutations


def pair_agreements(item, W):
    """The agreement of each ordered pair of raters of an item, averaged over their ratings."""
    return [
        sum(W[a][b] for a in item[g] for b in item[h]) / (len(item[g]) * len(item[h]))
        for g, h in permutations(item, 2)
    ]


def votes(item, k):
    return [sum(codes.count(c) / len(codes) for codes in item.values()) for c in range(k)]


def observed(items, weights, W):
    total = n = 0.0
    for item, weight in zip(items, weights, strict=True):
        pairs = pair_agreements(item, W)
        if pairs:
            total += weight * sum(pairs) / len(pairs)
            n += weight
    return total / n


def prevalence(items, weights, k):
    rated = [(item, w) for item, w in zip(items, weights, strict=True) if item]
    n = sum(w for _, w in rated)
    return [sum(w * votes(item, k)[c] / len(item) for item, w in rated) / n for c in range(k)]


def double_sum(p, q, W):
    return sum(p[a] * q[b] * W[a][b] for a in range(len(p)) for b in range(len(q)))


def chance_brennan_prediger(items, weights, W):
    return sum(map(sum, W)) / len(W) ** 2


def chance_fleiss(items, weights, W):
    p = prevalence(items, weights, len(W))
    return double_sum(p, p, W)


def chance_gwet(items, weights, W):
    p = prevalence(items, weights, len(W))
    return sum(map(sum, W)) / (len(W) * (len(W) - 1)) * sum(x * (1 - x) for x in p)


def chance_conger(items, weights, W):
    raters = sorted({rater for item in items for rater in item})
    own = {}
    for rater in raters:
        mine = [({rater: item[rater]} if rater in item else {}) for item in items]
        own[rater] = prevalence(mine, weights, len(W))
    pairs = list(permutations(raters, 2))
    return sum(double_sum(own[g], own[h], W) for g, h in pairs) / len(pairs)


CHANCE = {
    "brennan_prediger_kappa": chance_brennan_prediger,
    "fleiss_kappa": chance_fleiss,
    "conger_kappa": chance_conger,
    "gwet_ac1": chance_gwet,
    "gwet_ac2": chance_gwet,
}


def krippendorff_alpha(items, weights, W, ordinal=False):
    """Observed and expected disagreement from coincidences, expected without replacement."""
    k = len(W)
    coincidence = [[0.0] * k for _ in range(k)]
    for item, weight in zip(items, weights, strict=True):
        for g, h in permutations(item, 2):
            for a in item[g]:
                for b in item[h]:
                    share = weight / (len(item[g]) * len(item[h]) * (len(item) - 1))
                    coincidence[a][b] += share
    n = [sum(row) for row in coincidence]
    total = sum(n)

    def difference(a, b):
        if not ordinal:
            return 1 - W[a][b]
        low, high = min(a, b), max(a, b)
        return (sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2

    pairs = [(a, b) for a in range(k) for b in range(k)]
    within = sum(coincidence[a][b] * difference(a, b) for a, b in pairs) / total
    without = sum(n[a] * n[b] * difference(a, b) for a, b in pairs) / (total * (total - 1))
    return 1 - within / without


def coefficient(name, items, weights, W, ordinal=False):
    if name == "krippendorff_alpha":
        return krippendorff_alpha(items, weights, W, ordinal)
    agreement = observed(items, weights, W)
    if name == "percent_agreement":
        return agreement
    chance = CHANCE[name](items, weights, W)
    return (agreement - chance) / (1 - chance)


def linearised_standard_error(statistic, weights, informative, step=1e-4):
    """From numerical derivatives of a statistic by the weight of each item."""
    n, slopes = sum(weights), []
    for i in range(len(weights)):
        up, down = ([w + sign * step * (j == i) for j, w in enumerate(weights)] for sign in (1, -1))
        slopes.append(n * (statistic(up) - statistic(down)) / (2 * step))
    mean = sum(w * s for w, s in zip(weights, slopes, strict=True)) / n
    squares = sum(w * (s - mean) ** 2 for w, s in zip(weights, slopes, strict=True))
    return (squares / n**2 * informative / (informative - 1)) ** 0.5
