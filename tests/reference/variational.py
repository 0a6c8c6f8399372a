"""Independent Bayesian classifier combination by mean-field variational Bayes, in plain loops."""

import numpy as np
from scipy.special import digamma


def independent_classifier_combination(codes, n_categories, steps, right=4.0, wrong=1.0):
    """Give the probability of each category for each item after some steps.

    Kim & Ghahramani (2012), with the prior counts of Li, Rubinstein & Cohn (2019) and a flat prior
    of base rates. `codes` (n_items, n_raters) are categories, -1 where missing.
    """
    n_items, n_raters = codes.shape
    q = np.zeros((n_items, n_categories))
    for i in range(n_items):
        for j in range(n_raters):
            if codes[i, j] >= 0:
                q[i, codes[i, j]] += 1
    q /= q.sum(axis=1, keepdims=True)
    for _ in range(steps):
        rows = np.full((n_raters, n_categories, n_categories), wrong)
        for k in range(n_categories):
            rows[:, k, k] = right
        for i in range(n_items):
            for j in range(n_raters):
                if codes[i, j] >= 0:
                    rows[j, :, codes[i, j]] += q[i]
        items = 1 + q.sum(axis=0)
        for i in range(n_items):
            log = digamma(items) - digamma(items.sum())
            for j in range(n_raters):
                if codes[i, j] >= 0:
                    log += digamma(rows[j, :, codes[i, j]]) - digamma(rows[j].sum(axis=1))
            q[i] = np.exp(log - log.max())
            q[i] /= q[i].sum()
    return q
