"""The t-a-p model in plain loops, and EM as the Kappa Zoo's chapter 9 derives it."""

import math

import numpy as np


def rating_probability(a, p, truth, rating):
    """The chapter's rater likelihood, with p indexed by the rating."""
    return (1 - a) * p[rating] + a * (truth == rating)


def log_likelihood(rows, weights, t, a, p):
    """Of rows of (rater, category) pairs; a[rater], p[rater][category]."""
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        likelihood = 0.0
        for k, rate in enumerate(t):
            term = rate
            for rater, rating in row:
                term *= rating_probability(a[rater], p[rater], k, rating)
            likelihood += term
        total += weight * math.log(likelihood)
    return total


def class_probabilities(row, t, a, p):
    joint = []
    for k, rate in enumerate(t):
        for rater, rating in row:
            rate = rate * rating_probability(a[rater], p[rater], k, rating)
        joint.append(rate)
    return [x / sum(joint) for x in joint]


def chapter_em(votes, weights, t, a, p, steps=3000):
    """EM with the chapter's M-step: trace and off-diagonal column sums of truth by rating.

    All raters alike; votes (n_items, n_categories).
    """
    votes, weights = np.asarray(votes, float), np.asarray(weights, float)
    t, p = np.asarray(t, float), np.asarray(p, float)
    k = len(t)
    for _ in range(steps):
        theta = a * np.eye(k) + (1 - a) * p[None, :]
        log = np.log(t) + votes @ np.log(theta).T
        truth = np.exp(log - log.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
        t = weights @ truth / weights.sum()
        cross = (weights[:, None] * truth).T @ votes
        cross /= cross.sum()
        off = cross.sum(axis=0) - np.diag(cross)
        a = np.trace(cross) - (t / (1 - t) * off).sum()
        p = off / ((1 - t) * (1 - a))
        p /= p.sum()
    return t, a, p
