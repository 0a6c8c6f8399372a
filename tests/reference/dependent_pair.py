"""A dependent pair, cell by cell, and marginal likelihoods by draws of the prior."""

import numpy as np


def joint(a, b, share):
    """P(i, j) of the pair's answers, of one true category, as the documentation writes it."""
    k = len(a)
    least = [min(a[i], b[i]) for i in range(k)]
    left = 1 - sum(least)
    table = [[0.0] * k for _ in range(k)]
    for i in range(k):
        for j in range(k):
            coupled = least[i] if i == j else 0.0
            if left > 1e-12:
                coupled += (a[i] - least[i]) * (b[j] - least[j]) / left
            table[i][j] = (1 - share) * a[i] * b[j] + share * coupled
    return table


def log_likelihood(items, base_rates, confusion, pair, shares):
    """Sum over true categories of each item; items are mappings from rater to answer."""
    total = 0.0
    for answers in items:
        probability = 0.0
        for true, rate in enumerate(base_rates):
            term = rate
            both = all(member in answers for member in pair)
            for rater, answer in answers.items():
                if not (both and rater in pair):
                    term *= confusion[rater][true][answer]
            if both:
                rows = [confusion[member][true] for member in pair]
                term *= joint(*rows, shares[true])[answers[pair[0]]][answers[pair[1]]]
            probability += term
        total += np.log(probability)
    return total


def two_tests(counts, prior_rate, prior_confusion, n_draws, rng, *, dependent):
    """Draws of prevalence, sensitivities and specificities from the prior, and their weights.

    Counts are of (both positive, only the first, only the second, neither); priors are Beta, of
    the sensitivity and the specificity of each test. Covariances are uniform between 0 and their
    upper bounds (Dendukuri & Joseph 2001).
    """
    rate = rng.beta(*prior_rate, n_draws)
    s1, c1, s2, c2 = (rng.beta(*prior, n_draws) for prior in prior_confusion)
    u, v = rng.random((2, n_draws)) if dependent else np.zeros((2, n_draws))
    of_sick = u * (np.minimum(s1, s2) - s1 * s2)
    of_well = v * (np.minimum(c1, c2) - c1 * c2)
    cells = [
        rate * (s1 * s2 + of_sick) + (1 - rate) * ((1 - c1) * (1 - c2) + of_well),
        rate * (s1 * (1 - s2) - of_sick) + (1 - rate) * ((1 - c1) * c2 - of_well),
        rate * ((1 - s1) * s2 - of_sick) + (1 - rate) * (c1 * (1 - c2) - of_well),
        rate * ((1 - s1) * (1 - s2) + of_sick) + (1 - rate) * (c1 * c2 + of_well),
    ]
    log = sum(n * np.log(np.maximum(cell, 1e-300)) for n, cell in zip(counts, cells, strict=True))
    weights = np.exp(log - log.max())
    draws = {"rate": rate, "s1": s1, "c1": c1, "s2": s2, "c2": c2}
    draws |= {"of_sick": of_sick, "of_well": of_well}
    return draws, weights / weights.sum(), np.log(np.exp(log - log.max()).mean()) + log.max()
