"""Dawid-Skene by brute force: every assignment of true categories to items, in plain Python."""

from itertools import product
from math import exp, fsum, log


def joint_terms(ratings, base_rates, confusion):
    """Log probability of the ratings with each assignment of truths.

    ratings: list (per item) of lists of (rater index, category index).
    """
    categories = range(len(base_rates))
    for truths in product(categories, repeat=len(ratings)):
        terms = [log(base_rates[z]) for z in truths]
        terms += [
            log(confusion[rater][z][answer])
            for z, item in zip(truths, ratings, strict=True)
            for rater, answer in item
        ]
        yield truths, fsum(terms)


def log_likelihood(ratings, base_rates, confusion):
    logs = [value for _, value in joint_terms(ratings, base_rates, confusion)]
    top = max(logs)
    return top + log(fsum(exp(value - top) for value in logs))


def truth_probabilities(ratings, base_rates, confusion):
    total = log_likelihood(ratings, base_rates, confusion)
    table = [[0.0] * len(base_rates) for _ in ratings]
    for truths, value in joint_terms(ratings, base_rates, confusion):
        for item, z in enumerate(truths):
            table[item][z] += exp(value - total)
    return table
