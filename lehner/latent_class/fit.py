"""Latent-class models fitted to ratings by maximum likelihood, with labels and notes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers, Seed, derive_seeds
from lehner.core.errors import InputError, Warning, check_whole_number, warn
from lehner.core.estimate import write_labelled
from lehner.core.lazy import special, xr
from lehner.core.resampling import ItemCounts
from lehner.core.text import count_categories, pluralise
from lehner.data.counts import Patterns
from lehner.data.estimable import count_truths, label_array
from lehner.data.ratings import Ratings
from lehner.latent_class import em
from lehner.latent_class.em import LATENT_CLASS_MODELS, LatentClassModel, find_latent_class_model

SAME_MODE = 1e-4
MANY_PATTERNS = 5_000
# With 10,000 patterns or more it ends within a ten-thousandth of an accuracy's standard error.
FROM_FAR_OF_MANY = em.Search(tolerance=1e-12)
# Codes of the notes of a fit that an estimate repeats.
REPEATED = {"not-converged", "labels-unsettled", "not-identified", "boundary"}
# Enough steps of EM from a random start to tell whether it leads to a higher maximum.
HIGHER_MODE = em.Search(tolerance=1e-9, max_iterations=600)
LEAST_INFORMATIVE = 1e-6
BOUNDARY = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """The maximum of the likelihood of ratings; a system, if there is one, is the last rater.

    Parameters
    ----------
    name : str
    model : LatentClassModel
    table : Patterns
        In the order of their content, so that what is drawn for each pattern does not depend on
        the order of the rows.
    parameters : LatentClasses
    fits : mapping of str to LatentClasses
        The maximum that was reached from each start, of which `parameters` are the highest.
    sampled : ndarray of int, shape (n_patterns,), or csr_array, shape (n_clusters, n_patterns)
        Number of items of each pattern, in each cluster if items are clustered.
    """

    name: str
    model: LatentClassModel
    table: Patterns
    parameters: em.LatentClasses
    fits: Mapping[str, em.LatentClasses]
    sampled: ItemCounts

    @property
    def group_rates(self) -> Floats:
        """Base rates with a row for each population, (n_groups, n_classes)."""
        return np.atleast_2d(self.parameters.base_rates)

    @property
    def base_rates(self) -> Floats:
        """Base rates of all populations together, (n_classes,)."""
        sizes = np.ravel(self.table.sum_populations(self.table.weights[:, None]))
        return np.asarray(sizes / sizes.sum()) @ self.group_rates

    @property
    def n_answered(self) -> int:
        """Number of items that the system answered."""
        return int(self.table.counts @ (self.table.system >= 0))

    def sum_rows(self, weights: Floats) -> Floats:
        """Sum weights of rows, (n_samples, n_rows), over each pattern, (n_samples, n_patterns)."""
        size = len(self.table.counts)
        return np.array([np.bincount(self.table.inverse, sample, size) for sample in weights])

    def find_chance_right(self, classes: Floats) -> Floats:
        """Give the probability that the answer to each pattern is right, (n_patterns, n_samples).

        It is 0 where the system gave none; `classes` has the shape (n_patterns, n_classes,
        n_samples).
        """
        answer = self.table.system[:, None, None]
        chance = np.take_along_axis(classes, np.maximum(answer, 0), axis=1)[:, 0]
        return np.where(answer[:, 0] < 0, 0.0, np.clip(chance, 0.0, 1.0))

    @cached_property
    def classes(self) -> Floats:
        """Probability of each class for each pattern, (n_patterns, n_classes)."""
        return em.expect(self.table, self.parameters)[0]

    @cached_property
    def ratings(self) -> Floats:
        """Expected number of ratings, (n_raters, n_classes, n_categories)."""
        return em.expect_ratings(self.table, self.classes)

    @cached_property
    def matrix_numbers(self) -> Integers:
        """Index of each rater's confusion matrix; it is equal for raters who share one."""
        numbers = np.arange(len(self.table.raters))
        if self.model.shared:
            numbers[: self.table.n_raters] = 0
        return np.unique(numbers, return_inverse=True)[1]

    @cached_property
    def rated(self) -> Booleans:
        """Whether a row of a confusion matrix has expected ratings, (n_raters, n_classes)."""
        numbers, ratings = self.matrix_numbers, self.ratings.sum(axis=2)
        bearing = np.stack([ratings[numbers == number].sum(axis=0) for number in numbers])
        if self.model.form == "accuracy":
            bearing[:] = bearing.sum(axis=1, keepdims=True)
        return bearing > LEAST_INFORMATIVE

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, without those of raters who gave no ratings."""
        k = self.table.n_categories
        per_matrix = {"accuracy": 1, "full": k * (k - 1)}.get(self.model.form, k)
        n_matrices = len(np.unique(self.matrix_numbers[self.rated.any(axis=1)]))
        return len(self.group_rates) * (k - 1) + n_matrices * per_matrix

    @property
    def accuracy(self) -> Floats:
        """Expected accuracy of each rater, NaN if the ratings do not determine it, (n_raters,)."""
        right = np.diagonal(self.parameters.confusion, axis1=1, axis2=2)
        determined = (self.rated | (self.base_rates < BOUNDARY)).all(axis=1)
        return np.where(determined, right @ self.base_rates, np.nan)

    @property
    def confusion(self) -> Floats:
        """Confusion matrices, (n_raters, n_classes, n_categories); rows without ratings are NaN."""
        return np.where(self.rated[..., None], self.parameters.confusion, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatentClassFit:
    """A latent-class model at the maximum of its likelihood.

    Parameters
    ----------
    model : str
        Name of the model, as `fit_latent_class` takes it.
    log_likelihood : float
        Sum over items of the log probability of their ratings; for anonymous raters, of the
        number of ratings in each category.
    n_parameters : int
        Number of free probabilities in base rates and confusion matrices.
    n_items : int
        Number of items with a rating or a gold label: the n of BIC.
    base_rates : xarray.DataArray, dims ([group,] category)
        Probability of each true category.
    confusion : xarray.DataArray, dims (rater, category, response)
        Probability of each response given the true category; a system is the last rater, `system`.
        NaN in rows without expected ratings.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probability of each category given the item's ratings.
    accuracy : xarray.DataArray, dims (rater,)
        Expected accuracy of each rater.
    converged : bool
        Whether EM stopped because the log-likelihood no longer increased.
    iterations : int
        Number of steps of EM from the best start.
    starts : xarray.DataArray, dims (start,)
        The log-likelihood reached from each start.
    notes : tuple of Warning
        What the user should know before using the numbers.
    """

    model: str
    log_likelihood: float
    n_parameters: int
    n_items: int
    base_rates: "xr.DataArray"
    confusion: "xr.DataArray"
    truth_probabilities: "xr.DataArray"
    accuracy: "xr.DataArray"
    converged: bool
    iterations: int
    starts: "xr.DataArray"
    notes: tuple[Warning, ...]

    @property
    def aic(self) -> float:
        """Akaike's criterion, -2 log-likelihood + 2 parameters."""
        return 2 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, -2 log-likelihood + parameters log(items)."""
        return float(self.n_parameters * np.log(self.n_items) - 2 * self.log_likelihood)

    def __repr__(self) -> str:
        n_raters, n_classes = self.confusion.shape[:2]
        lines = [
            f"LatentClassFit of {self.model}: {pluralise(self.n_items, 'item')}, "
            f"{pluralise(n_raters, 'rater')}, {pluralise(n_classes, 'class', 'classes')}",
            f"  log-likelihood {self.log_likelihood:.3f}, AIC {self.aic:.2f}, BIC {self.bic:.2f}",
        ]
        for name in ("base_rates", "accuracy"):
            values = getattr(self, name)
            if values.ndim == 1:
                lines.append(f"  {name.replace('_', ' '):<14} {write_labelled(values)}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def fit_latent_class(
    ratings: Ratings, model: str = "dawid_skene", *, restarts: int = 0, seed: Seed = 1
) -> LatentClassFit:
    r"""Fit a latent-class model by maximum likelihood.

    Given an item's class the ratings are independent. The system, if there is one, is one more
    rater. Ratings may be missing at random given the class. Of ratings that a rater repeats the
    most frequent counts (`Ratings.votes`), unless they are taken for independent, as Dawid and
    Skene took them (`Ratings.with_independent_repeats`). Truths that are known enter as data.

    With few items the highest maximum of the likelihood may have classes that do not correspond to
    the categories, and the estimates are then biased. The notes of the fit tell whether this
    happened. The prior of a Bayesian model keeps classes and categories together.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Items of different populations (`Ratings.with_populations`) have
        different base rates, and the raters the same confusion matrices in all of them.
    model : str
        The model of the confusion matrices: "one_coin", "one_coin_by_rater", "class_conditional",
        "pooled" or "dawid_skene".
    restarts : int
        Number of starts besides each item's proportions of votes, 0 or more: base rates and
        confusion matrices drawn from flat Dirichlet distributions.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the random starts.

    Returns
    -------
    LatentClassFit
        The highest of the maxima that were reached.

    Raises
    ------
    InputError
        If there are not two categories, if no item has two ratings, if it is unknown who gave which
        rating in a model in which raters differ, or if an argument is not as above.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806. With populations: Hui & Walter (1980),
    https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import load_dataset
    >>> fit = fit_latent_class(load_dataset("anesthesia").with_independent_repeats())
    >>> round(fit.log_likelihood, 4)
    -192.8909
    >>> fit.base_rates.values.round(2).tolist()
    [0.4, 0.42, 0.11, 0.07]
    """
    check_whole_number("restarts", restarts, 0)
    fitted = fit_by_likelihood(ratings, model, restarts, seed)
    rates, truth = fitted.parameters.base_rates, fitted.classes[fitted.table.inverse]
    reached = [fit.log_likelihood for fit in fitted.fits.values()]
    observed = (fitted.table.votes.n_ratings > 0) | (fitted.table.truths >= 0)
    return LatentClassFit(
        model=model,
        log_likelihood=fitted.parameters.log_likelihood,
        n_parameters=fitted.n_parameters,
        n_items=int(fitted.table.counts[observed].sum()),
        base_rates=label_array(rates, ratings, *("group", "category")[-rates.ndim :]),
        confusion=label_array(fitted.confusion, ratings, "rater", "category", "response"),
        accuracy=label_array(fitted.accuracy, ratings, "rater"),
        truth_probabilities=label_array(truth, ratings, "item", "category"),
        starts=xr.DataArray(reached, {"start": list(fitted.fits)}, ("start",)),
        converged=fitted.parameters.converged,
        iterations=fitted.parameters.iterations,
        notes=tuple(list_notes(ratings, fitted)),
    )


def fit_by_likelihood(
    ratings: Ratings,
    model: str,
    restarts: int = 0,
    seed: Seed = 1,
    search: em.Search | None = None,
    *,
    from_votes: bool = True,
) -> FittedModel:
    """Find the highest of the maxima that are reached from the votes, and from random starts.

    Parameters
    ----------
    ratings : Ratings
    model : str
        As of `fit_latent_class`.
    restarts : int
        Number of random starts.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    search : Search, optional
        By default `FROM_FAR`, or `FROM_FAR_OF_MANY` if there are 10,000 patterns or more.
    from_votes : bool
        Whether one of the starts is each item's proportions of votes.

    Returns
    -------
    FittedModel
    """
    form, n_known = find_latent_class_model(model), count_truths(ratings)
    _require_ratings(ratings, model, n_known)
    table = ratings.to_patterns(truth=n_known > 0, by_content=True)
    starts = {"votes": em.vote_start(table)} if from_votes else {}
    for i, child in enumerate(derive_seeds(seed, restarts), start=1):
        starts[f"random {i}"] = draw_start(table, np.random.default_rng(child))
    if search is None:
        search = FROM_FAR_OF_MANY if len(table.counts) >= 2 * MANY_PATTERNS else em.FROM_FAR
    reached = em.fit_starts(table, list(starts.values()), form, search)
    orderings = log_orderings(ratings)
    fits = {
        name: replace(fit, log_likelihood=fit.log_likelihood + orderings)
        for name, fit in zip(starts, reached, strict=True)
    }
    best = max(fits.values(), key=lambda fit: fit.log_likelihood)
    # With equal errors it is known which category a class is, except with two categories.
    if (form.form == "full" or table.n_categories == 2) and not table.has_truths:
        best = em.align_labels(table, best)
    return FittedModel(
        name=model,
        model=form,
        table=table,
        parameters=best,
        fits=fits,
        sampled=ratings.count_items(table.inverse, len(table.counts)),
    )


def draw_start(table: Patterns, rng: np.random.Generator) -> em.LatentClasses:
    """Start from base rates and confusion matrices drawn from flat Dirichlet distributions."""
    k = table.n_categories
    base_rates = rng.dirichlet(np.ones(k))
    if table.populations:
        base_rates = np.tile(base_rates, (int(table.population.max()) + 1, 1))
    confusion = rng.dirichlet(np.ones(k), (len(table.raters), k))
    return em.LatentClasses(base_rates=base_rates, confusion=confusion)


def log_orderings(ratings: Ratings) -> float:
    """Log of the number of ways to assign anonymous ratings to raters; else 0.

    If it is unknown who gave which rating, only the number of ratings in each category is observed,
    and its probability is the sum over all such assignments.
    """
    if not ratings.anonymous:
        return 0.0
    votes = ratings.count_votes()
    orders = special.gammaln(votes.sum(axis=1) + 1) - special.gammaln(votes + 1).sum(axis=1)
    return float(ratings.weights @ orders)


def _require_ratings(ratings: Ratings, model: str, n_known: int) -> None:
    k = ratings.n_categories
    if ratings.n_items == 0 or k < 2:
        problem = f"the ratings are of {pluralise(ratings.n_items, 'item')} in "
        remedy = "give items, and two or more categories"
        raise InputError(f"{problem}{count_categories(k)}", remedy)
    if ratings.anonymous and not LATENT_CLASS_MODELS[model].shared:
        problem = f"it is unknown who gave which rating, and in {model} raters differ"
        remedy = "choose one_coin or pooled, or use data in which raters are named"
        raise InputError(problem, remedy)
    per_row = ratings.count_votes().sum(axis=1)
    if ratings.system is not None:
        per_row = per_row + (ratings.system >= 0)
    most = int(per_row[ratings.weights > 0].max())
    if most < (1 if n_known else 2):
        raise InputError("no item has two ratings", "give two or more ratings for some items")


def list_notes(ratings: Ratings, fitted: FittedModel) -> Iterator[Warning]:
    """List what the user should know before using a fit.

    Parameters
    ----------
    ratings : Ratings
    fitted : FittedModel

    Yields
    ------
    Warning
    """
    yield from note_modes(fitted.fits)
    if fitted.table.has_truths:
        yield from note_known_truths(count_truths(ratings))
    yield from _note_unsettled_labels(fitted, ratings)
    yield from _note_unsupported(fitted, ratings)


def fit_warnings(
    fitted: FittedModel, ratings: Ratings, restarts: int = 0, seed: Seed = 1
) -> tuple[Warning, ...]:
    """Say what the user should know before using a fit; a higher mode is looked for by restarts."""
    warnings = tuple(note for note in list_notes(ratings, fitted) if note.code in REPEATED)
    if not restarts:
        return warnings
    starts = restarts, seed, HIGHER_MODE
    restarted = fit_by_likelihood(ratings, fitted.name, *starts, from_votes=False)
    gain = restarted.parameters.log_likelihood - fitted.parameters.log_likelihood
    if gain < SAME_MODE:
        return warnings
    text = (
        f"the likelihood has several modes: the highest that {pluralise(restarts, 'random start')} "
        f"reached has a log-likelihood higher by {gain:.3f} and a system accuracy of "
        f"{restarted.accuracy[-1]:.3f}; the estimate is the mode reached from the votes"
    )
    return (*warnings, warn("higher-mode", text))


def note_modes(fits: Mapping[str, em.LatentClasses]) -> Iterator[Warning]:
    """Note which starts reached the highest mode, and which did not end.

    Parameters
    ----------
    fits : mapping
        The fit from each start.

    Yields
    ------
    Warning
    """
    reached = {name: fit.log_likelihood for name, fit in fits.items()}
    highest = max(reached.values())
    if len(fits) > 1:
        n = sum(value > highest - SAME_MODE for value in reached.values())
        text = f"{n} of {len(fits)} starts reached the highest log-likelihood, {highest:.3f}"
        yield warn("starts", text)
    if reached.get("votes", highest) < highest - SAME_MODE:
        text = f"the start from votes reached a lower mode, {reached['votes']:.3f}"
        yield warn("higher-mode", text)
    unfinished = [name for name, fit in fits.items() if not fit.converged]
    if unfinished:
        yield warn(
            "not-converged",
            f"EM had not converged after {fits[unfinished[0]].iterations} steps from "
            f"{', '.join(unfinished)}: the numbers may still change",
        )


def note_known_truths(n_known: int) -> list[Warning]:
    """Note of how many items the gold label entered as data, if of any."""
    text = f"the gold labels of {pluralise(n_known, 'item')} entered as data"
    return [warn("known-truths-used", text)] if n_known else []


def _note_unsettled_labels(fitted: FittedModel, ratings: Ratings) -> Iterator[Warning]:
    """Name the classes whose items raters most often call otherwise."""
    table, categories = fitted.table, ratings.categories
    if table.has_truths:
        return
    by_raters = fitted.ratings[: table.n_raters].sum(axis=0)
    for c, row in enumerate(by_raters):
        if row[c] < row.max() and row.sum() > LEAST_INFORMATIVE:
            yield warn(
                "labels-unsettled",
                f"labels are unsettled: items of class {categories[c]} are most often called "
                f"{categories[int(row.argmax())]} by the raters",
            )


def _note_unsupported(fitted: FittedModel, ratings: Ratings) -> Iterator[Warning]:
    """Note parameters that the ratings cannot support, and probabilities at 0 or 1."""
    rated = fitted.rated
    n_items = int(ratings.weights[ratings.all_votes.n_ratings > 1].sum())
    n_patterns = ratings.n_categories ** len(ratings.all_raters) - 1
    free = min(n_items, max(1, len(ratings.populations)) * n_patterns)
    if fitted.n_parameters > free:
        yield warn(
            "not-identified",
            f"{fitted.n_parameters} parameters but only {pluralise(free, 'degree')} of freedom: "
            "other values fit as well, and the interval does not include them",
        )
    values = fitted.parameters.confusion[rated]
    at_end = int(((values < BOUNDARY) | (values > 1 - BOUNDARY)).sum())
    if at_end:
        yield warn(
            "boundary",
            f"{at_end} of {values.size} probabilities of the confusion matrices are 0 or 1: with "
            "so few ratings maximum likelihood makes truth probabilities too extreme; the "
            "intervals allow for that",
        )
    if not rated.all():
        yield warn(
            "measure-undefined",
            f"{(~rated).sum()} of {rated.size} rows of confusion matrices have no expected ratings "
            "and are NaN",
        )
