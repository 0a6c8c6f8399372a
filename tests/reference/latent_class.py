"""Latent-class models written anew: plain sums, and matrices from free parameters."""

import math

import numpy as np
from scipy.special import softmax

SHARED = ("one_coin", "pooled")


def log_likelihood(codes, weights, base_rates, confusion):
    """Plain sums over true categories."""
    total = 0.0
    for row, weight in zip(codes, weights, strict=True):
        p = 0.0
        for z, rate in enumerate(base_rates):
            term = rate
            for j, x in enumerate(row):
                term *= confusion[j][z][x] if x >= 0 else 1.0
            p += term
        total += weight * math.log(p)
    return total


def parameters(name, theta, n_raters, k):
    """Base rates and confusion matrices from free parameters, written anew."""
    base_rates, rest = softmax(np.append(theta[: k - 1], 0)), theta[k - 1 :]
    groups = [0] * (n_raters - 1) + [1] if name in SHARED else range(n_raters)
    n_groups = max(groups) + 1
    if name in ("dawid_skene", "pooled"):
        logits = np.dstack([rest.reshape(n_groups, k, k - 1), np.zeros((n_groups, k))])
        matrices = softmax(logits, axis=2)
    else:
        per = k if name == "class_conditional" else 1
        right = np.broadcast_to(1 / (1 + np.exp(-rest.reshape(n_groups, per))), (n_groups, k))
        eye = np.eye(k)
        matrices = right[..., None] * eye + (1 - right)[..., None] * (1 - eye) / (k - 1)
    return base_rates, matrices[list(groups)]


def size(name, n_raters, k):
    groups = 2 if name in SHARED else n_raters
    of_matrix = {"dawid_skene": k * (k - 1), "pooled": k * (k - 1), "class_conditional": k}
    return k - 1 + groups * of_matrix.get(name, 1)
