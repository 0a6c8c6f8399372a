"""Items whose ratings are in few of many categories: the same numbers as over all categories."""

import numpy as np
import pytest

from lehner import Ratings, estimate_algebraic
from lehner.algebra import steps
from lehner.algebra.steps import find_sparse_votes
from tests.lehner.questions import performance

K = 40
MOST = 10**9


def _crowd(n_items: int, missing: float, accuracy: float, used: int = K) -> Ratings:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, used, n_items)
    right = rng.random((n_items, 6)) < accuracy
    wrong = (truth[:, None] + rng.integers(1, used, (n_items, 6))) % used
    codes = np.where(right, truth[:, None], wrong)
    codes[rng.random(codes.shape) < missing] = -1
    return Ratings(codes[:, 1:], list(range(K)), system=codes[:, 0])


CROWDS = {
    "all rated": _crowd(200, 0.0, 0.7),
    "missing ratings and answers, items without any": _crowd(200, 0.5, 0.7),
    "categories that are not used": _crowd(150, 0.1, 0.6, used=7),
    "resamples at chance": _crowd(60, 0.6, 0.12),
    "always right": _crowd(80, 0.0, 1.0),
}


@pytest.mark.parametrize("name", CROWDS)
def test_numbers_are_those_of_all_categories(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = CROWDS[name]
    estimates, details = [], []
    for few in (0, MOST):
        monkeypatch.setattr(steps, "FEW_VOTES", few)
        assert (find_sparse_votes(ratings.collapsed_votes) is None) == (few == MOST)
        result = estimate_algebraic(ratings, resamples=300)
        estimates.append(result)
        details.append(performance(ratings, result, resamples=50).table)
    undefined = estimates[1].diagnostics["undefined_resamples"]
    assert (undefined > 0) == (name == "resamples at chance")
    sparse, dense = (estimate.system_accuracy for estimate in estimates)
    assert estimates[0].diagnostics == estimates[1].diagnostics
    assert sparse.lower == pytest.approx(dense.lower, abs=1e-11)
    assert sparse.upper == pytest.approx(dense.upper, abs=1e-11)
    for column in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(details[0][column], details[1][column], atol=1e-10)


def test_few_categories_are_as_before() -> None:
    """Where most categories have votes, or there are few, nothing is laid out as sparse arrays."""
    assert find_sparse_votes(CROWDS["all rated"].collapsed_votes) is None
    votes = _crowd(2000, 0.0, 0.7)
    assert find_sparse_votes(votes.collapsed_votes) is not None
