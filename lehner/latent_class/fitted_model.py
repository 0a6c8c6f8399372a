"""A latent-class model fitted by maximum likelihood, which can be refitted to resamples."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.seeds import Seed
from lehner.core.warning import Warning, warn
from lehner.core.wording import counted
from lehner.data.ratings import Ratings
from lehner.latent_class.maximum import BOUNDARY, Maximum
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.notes import SAME_MODE
from lehner.latent_class.pattern_table import known_truths, tabulate
from lehner.latent_class.result import LatentClassFit

REPEATED = ("labels-unsettled", "not-determined")
"""Codes of the notes of a fit that an estimate repeats; it has its own on all else."""
HIGHER_STEPS = 600
"""Steps of EM from a random start, enough to tell whether it leads to a higher maximum."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """The maximum of the likelihood of ratings with a system, which is the last rater.

    Parameters
    ----------
    maximum : Maximum
    accuracy : ndarray, shape (n_raters,)
        Expected accuracy; NaN if the ratings do not determine it.
    confusion : ndarray, shape (n_raters, n_classes, n_categories)
        Confusion matrices; NaN in rows without expected ratings.
    classes : ndarray, shape (n_rows, n_classes)
        Probability of each class for each row of the ratings.
    pattern : ndarray of int, shape (n_rows,)
        The pattern of each row.
    answers : ndarray of int, shape (n_patterns,)
        The system's answer, -1 if there is none.
    warnings : tuple of Warning
    diagnostics : dict
    """

    maximum: Maximum
    accuracy: Floats
    confusion: Floats
    classes: Floats
    pattern: Integers
    answers: Integers
    warnings: tuple[Warning, ...]
    diagnostics: dict[str, object]

    @property
    def n_items(self) -> Integers:
        """Number of items of each pattern, (n_patterns,)."""
        return self.maximum.table.weights.astype(np.int64)

    @property
    def base_rates(self) -> Floats:
        """Base rates of all populations together, (n_classes,)."""
        return self.maximum.group_shares @ self.maximum.base_rates


def fit_by_likelihood(
    ratings: Ratings, model: str, *, restarts: int = 0, seed: Seed = 1
) -> FittedModel:
    """Fit a model from the votes, with warnings and diagnostics.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    model : str
        One of `LATENT_CLASS_MODELS`.
    restarts : int
        Number of random starts that search for a higher mode.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the random starts.

    Returns
    -------
    FittedModel
        The mode that is reached from the votes. A higher mode often has classes that do not
        correspond to the categories; it is mentioned in a warning, but not used.
    """
    fit = fit_latent_class(ratings, model)
    maximum = fit._maximum
    pattern = tabulate(ratings, ratings.population, truths=maximum.table.truths is not None)[1]
    return FittedModel(
        maximum=maximum,
        accuracy=np.asarray(fit.accuracy),
        confusion=fit.confusion.values,
        classes=fit.truth_probabilities.values,
        pattern=pattern,
        answers=_answers(ratings, pattern),
        warnings=(
            *_not_converged(fit),
            *(note for note in fit.notes if note.code in REPEATED),
            *_too_many(fit.n_parameters, ratings),
            *_boundary(maximum.found.confusion[maximum.rated]),
            *_higher_mode(fit, ratings, restarts, seed),
        ),
        diagnostics=_diagnostics(fit) | {"known_truths": known_truths(ratings)},
    )


def _answers(ratings: Ratings, pattern: Integers) -> Integers:
    """Give the system's answer for each pattern."""
    answers = np.full(int(pattern.max(initial=-1)) + 1, -1)
    answers[pattern] = ratings.system
    return answers


def _diagnostics(fit: LatentClassFit) -> dict[str, object]:
    return {
        "log_likelihood": fit.log_likelihood,
        "n_parameters": fit.n_parameters,
        "converged": fit.converged,
        "iterations": fit.iterations,
    }


def _not_converged(fit: LatentClassFit) -> list[Warning]:
    if fit.converged:
        return []
    text = f"EM had not converged after {fit.iterations} steps: the numbers may still change"
    return [warn("not-converged", text)]


def _too_many(n_parameters: int, ratings: Ratings) -> list[Warning]:
    """Warn if there are more parameters than the patterns or items could determine."""
    lengths = np.bincount(ratings.all_flat.item_index, minlength=ratings.n_rows)
    n_items = int(ratings.weights[lengths > 1].sum())
    n_patterns = ratings.n_categories ** len(ratings.all_raters) - 1
    free = min(n_items, max(1, len(ratings.populations)) * n_patterns)
    if n_parameters <= free:
        return []
    text = (
        f"{n_parameters} parameters but only {counted(free, 'degree')} of freedom: other values "
        "fit as well, and the interval does not include them"
    )
    return [warn("not-identified", text)]


def _boundary(confusion: Floats) -> list[Warning]:
    at_end = int(((confusion < BOUNDARY) | (confusion > 1 - BOUNDARY)).sum())
    if not at_end:
        return []
    text = (
        f"{at_end} of {confusion.size} probabilities of the confusion matrices are 0 or 1: with so "
        "few ratings maximum likelihood makes truth probabilities too extreme; the intervals allow "
        "for that"
    )
    return [warn("boundary", text)]


def _higher_mode(fit: LatentClassFit, ratings: Ratings, restarts: int, seed: Seed) -> list[Warning]:
    if not restarts:
        return []
    refit = partial(fit_latent_class, ratings, fit.model, start="random", restarts=restarts)
    other = refit(seed=seed, max_iterations=HIGHER_STEPS, tolerance=1e-9)
    gain = other.log_likelihood - fit.log_likelihood
    if gain < SAME_MODE or other.accuracy is None:
        return []
    there = float(other.accuracy.values[-1])
    text = (
        f"the likelihood has several modes: the highest that {counted(restarts, 'random start')} "
        f"reached has a log-likelihood higher by {gain:.3f} and a system accuracy of {there:.3f}; "
        "the estimate is the mode reached from the votes"
    )
    return [warn("higher-mode", text)]
