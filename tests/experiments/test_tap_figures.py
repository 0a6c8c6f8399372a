"""The figures draw the numbers of their tables."""

import numpy as np
import pytest

from experiments.tap_figures import plot_calibration, plot_residual_correlation
from lehner import fit_tap, load_dataset, rating_calibration, residual_correlation


@pytest.fixture(scope="module")
def caries():
    ratings = load_dataset("caries")
    return ratings, fit_tap(ratings, by_rater=True, starts=1)


def test_calibration_has_a_point_for_each_bin_with_ratings(caries):
    table = rating_calibration(*caries)
    # As of fewer ratings: bars would leave the range of a share.
    table["standard_error"] = 3 * table["standard_error"]
    ax = plot_calibration(table)
    points = np.vstack([collection.get_offsets() for collection in ax.collections[1::2]])
    used = table.n_ratings.values > 0
    np.testing.assert_allclose(points[:, 0], table.predicted.values[used])
    np.testing.assert_allclose(points[:, 1], table.observed.values[used])
    bars = [segment for bar in ax.collections[::2] for segment in bar.get_segments()]
    ends = np.array([[start[1], end[1]] for start, end in bars])
    half = 2 * table.standard_error.values[used]
    free = np.column_stack([points[:, 1] - half, points[:, 1] + half])
    np.testing.assert_allclose(ends, free.clip(0, 1))
    assert free.min() < 0


def test_residual_correlation_writes_each_number_and_marks_the_large_ones(caries):
    table = residual_correlation(*caries)
    ax = plot_residual_correlation(table)
    values = table.correlation.values
    np.testing.assert_array_equal(ax.images[0].get_array().filled(np.nan), values)
    bold = np.abs(values) > 2 * table.standard_error.values
    for text in ax.texts:
        m, j = text.get_position()
        assert text.get_text() == f"{values[j, m]:.2f}"
        assert (text.get_weight() == "bold") == bold[j, m]
    assert len(ax.texts) == 20 and bold.any()
