"""Numbers by which compiled code knows models, families of priors, and parameters."""

LEAST, MOST = 2.0**-1022, 1 - 2.0**-53
"""The least and the greatest probability of a beta prior, so that it and its complement have
logarithms."""
FIXED, DIRICHLET, ZERO_SUM, BETA, NORMAL, LOGISTIC, HALF_NORMAL, NORMAL_ABOVE_ZERO = range(8)
FAMILY_CODES = {
    "fixed": FIXED,
    "dirichlet": DIRICHLET,
    "zero_sum": ZERO_SUM,
    "beta": BETA,
    "normal": NORMAL,
    "normal_around_zero": NORMAL,
    "logistic": LOGISTIC,
    "half_normal": HALF_NORMAL,
    "normal_above_zero": NORMAL_ABOVE_ZERO,
}
FAMILY, ROWS, LENGTH, POINT, VALUE, PRIOR = range(6)
"""Columns of the table of parameters: rows and their length, and where coordinates, values and the
numbers of the prior start."""
LOG_ODDS, MATRICES, CLASS_CONDITIONAL, TAP = range(4)
"""Likelihoods, each of which has a file of its name here."""
PARAMETERS = {
    LOG_ODDS: (
        "base_rates",
        "mean_log_odds",
        "rater_spread",
        "rater_effect",
        "difficulty_spread",
        "category_spread",
        "common_category_share",
        "common_category_effect",
        "category_effect",
        "system_log_odds",
        "system_slope",
        "system_category_spread",
        "system_category_effect",
        "distance_decay",
        "common_error_spread",
        "common_error_effect",
        "error_spread",
        "error_effect",
        "system_error_spread",
        "system_error_effect",
        "shared_answers",
    ),
    MATRICES: (
        "base_rates",
        "confusion",
        "confusion_spread",
        "confusion_effect",
        "system_confusion",
        "shared_answers",
    ),
    CLASS_CONDITIONAL: ("base_rates", "accuracy_by_category", "shared_answers"),
    TAP: ("base_rates", "knowledge", "guessing", "shared_answers"),
}
"""Rows of the table of parameters of each likelihood."""
