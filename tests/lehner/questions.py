"""What questions yield, as results."""

from lehner.core.estimate import to_plain
from lehner.core.results import Results
from lehner.estimation.methods import find_method, get_method
from lehner.estimation.questions import Fit, Options, ask_performance, ask_raters
from lehner.estimation.summary import collect
from lehner.performance.measures import NAMES, find_positive


def collect_rows(rows, ratings=None) -> Results:
    """Put rows and warnings in results."""
    return collect(ratings, [({}, rows)], None)


def performance(ratings, estimate, *, positive=None, **options):
    """The system in detail, and the raters."""
    fit = Fit(ratings=ratings, estimate=estimate, method=get_method(estimate.method))
    asked = Options(positive=find_positive(ratings, positive), **options)
    return collect_rows([*ask_performance(fit, asked), *ask_raters(fit, asked)], ratings)


def diagnostic_accuracy(results, rater="", positive=None):
    """Sensitivity and so on, by their names."""
    positive_category = find_positive(results.ratings, positive)
    category = {True: positive_category.name, False: positive_category.negative}
    return {
        name: results.value(quantity, category=category[of_positive], rater=rater)
        for name, (quantity, of_positive) in NAMES.items()
    }


def resample(method, ratings, **options):
    """Joint draws of systems by a method that resamples items."""
    return find_method(method).functions["systems"](ratings.systems, ratings, **options)


def plain_estimate(estimate):
    """An estimate in plain types: its numbers, its raters and base rates, and its warnings."""
    names = ("system_accuracy", "system_accuracy_in_sample", "warnings", "diagnostics")
    arrays = {name: array.values.tolist() for name, array in estimate.arrays.items()}
    return to_plain({name: getattr(estimate, name) for name in names} | arrays)
