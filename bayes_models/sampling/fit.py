"""Fit models: sample them, infer true categories, check the draws, and sample again if need be."""

import json
import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayes_models.models.assemble import observe
from bayes_models.models.registry import write_priors
from bayes_models.models.spec import BY_POPULATION, Priors
from bayes_models.posterior import estimate, predictive
from bayes_models.posterior.draws import TooLargeError, add_truth
from bayes_models.posterior.estimate import ConvergenceWarning, Diagnostics
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.nuts import compile_model, compile_model_of_user, nutpie, sample
from bayes_models.sampling.start import find_modes
from lehner import Estimate, InputError, Patterns, Ratings
from lehner.core import errors
from lehner.core.arrays import Seed, derive_seeds, spawn_seeds
from lehner.core.errors import Warning, write_warnings
from lehner.core.estimate import ESTIMANDS
from lehner.data.estimable import count_rated, count_truths

logger = logging.getLogger(__name__)

# These variables are checked in place of the system's accuracies where there is no system.
WITHOUT_SYSTEM = ("accuracy", "base_rates")
FOR_STUDIES: dict[str, Any] = {
    "draws": 500,
    "tune": 200,
    "target_accept": 0.9,
    "cores": 1,
    "check": "estimands",
    "log_likelihood": False,
    "checks": False,
    "progressbar": False,
}
# The checks of a fit use fewer posterior draws than `check_predictions` does by default.
CHECK_DRAWS = 50

type Checked = Literal["all", "estimands"]
type Engine = Literal["nuts", "gibbs"]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The options of `fit` that say how a model is sampled and checked; see there."""

    engine: Engine
    draws: int
    tune: int
    chains: int
    target_accept: float
    cores: int | None
    tries: int
    check: Checked
    log_likelihood: bool
    progressbar: bool

    def __post_init__(self) -> None:
        errors.check_whole_number("draws", self.draws, 4)
        for name in ("tune", "chains", "tries"):
            errors.check_whole_number(name, getattr(self, name), 1)
        errors.check_number("target_accept", self.target_accept, 0.1, 0.999)
        errors.check_choice("check", self.check, ("all", "estimands"))
        errors.check_choice("engine", self.engine, ("nuts", "gibbs"))


def fit(
    model: str,
    ratings: Ratings,
    *,
    seed: Seed = 1,
    priors: Priors = None,
    engine: Engine = "nuts",
    draws: int = 1000,
    tune: int = 200,
    chains: int = 4,
    target_accept: float = 0.95,
    cores: int | None = None,
    tries: int = 2,
    check: Checked = "all",
    log_likelihood: bool = True,
    checks: bool = True,
    progressbar: bool = True,
) -> xr.DataTree:
    """Fit a model.

    What NUTS needs is compiled once on a computer, for all models and data. Where a prior is a PyMC
    distribution, each process compiles the model instead. Chains start near the most probable
    parameters, with the labels that the raters use, and the prior prevents label switching. If
    expectation-maximisation finds other modes of the posterior, up to half of the chains start at
    these, one at each (see `bayes_models.sampling.start.find_modes`), so that R-hat shows
    whether chains from different modes mix. If the diagnostics fail, the model is sampled again
    with a higher target acceptance, and up to four times as long, depending on the effective sample
    size, unless memory does not hold so many draws. If the diagnostics still fail, there is a
    `ConvergenceWarning`, which the attribute `warnings` of the result repeats.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
        With or without a system. Truths that are known enter as data. Populations of items have
        base rates of their own, see `Ratings.with_populations`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.
    priors : str or mapping, optional
        As the model takes them.
    engine : {"nuts", "gibbs"}
        "nuts" samples every model by the No-U-Turn sampler. "gibbs" samples only `dawid_skene`,
        with Dirichlet priors; with up to 200 items it is about five times as fast.
        `lehner.estimate` takes it with more than 20 raters or categories.
    draws, tune, chains : int
        Number of draws kept, 4 or more, and of warm-up draws, 1 or more, of each chain; and number
        of chains, 1 or more.
    target_accept : float
        Mean acceptance probability that NUTS aims at, between 0.1 and 0.999.
    cores : int, optional
        How many chains are sampled at once; the draws do not depend on it.
    tries : int
        How often the model is sampled at most, each time longer, 1 or more.
    check : {"all", "estimands"}
        Whether R-hat and effective sample sizes of all variables are checked (of confusion matrices
        the recalls), or of the system's accuracies only; without a system of the raters' accuracy
        and the base rates.
    log_likelihood : bool
        Whether the result includes the log likelihood of each item, by which ArviZ compares models.
    progressbar : bool
        Whether NUTS shows its progress. Messages of the logger `bayes_models` say, with or without
        it, how far a sampler is and why it samples again.
    checks : bool
        Whether the attribute `warnings` also lists what `check_predictions` finds in a few draws,
        which takes moments. They do not see errors that raters share, which make them look
        accurate: see `lehner.check_dependence`.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats` (of NUTS), `truth`, `log_likelihood` (per item) and
        `observed_data` (the ratings);
        attributes `model`, `engine`, `seed`, `known_truths`, and as JSON `priors` (all of them,
        given or not), `diagnostics` and `warnings`. Functions of
        PyMC such as `pm.stats.compute_log_prior` and `pm.sample_posterior_predictive` take it with
        the model, as in `model=bayes_models.build_model("relaxed_k", ratings)`.

    Raises
    ------
    InputError
        If there is no such model, an option is not as above, the ratings cannot be fitted, or the
        draws need more memory than the computer has.

    Warns
    -----
    ConvergenceWarning
        If the diagnostics fail.

    References
    ----------
    Hoffman & Gelman (2014), The No-U-Turn sampler, Journal of Machine Learning Research 15,
    1593-1623.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("dawid_skene", ratings, engine="gibbs", chains=2, checks=False)
    >>> tree.posterior["base_rates"].mean(("chain", "draw")).values.round(1).tolist()
    [0.4, 0.4, 0.2, 0.1]

    A model with `engine="nuts"`, the default, is compiled first, which takes up to a minute.

    >>> tree = fit("relaxed_k", lehner.load_dataset("lehner_table2"))  # doctest: +SKIP
    >>> float(tree.posterior["system_accuracy"].mean())  # doctest: +SKIP
    """
    options = Sampling(
        engine=engine,
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        cores=cores,
        tries=tries,
        check=check,
        log_likelihood=log_likelihood,
        progressbar=progressbar,
    )
    ratings = count_rated(ratings)
    observed, seeds = observe(ratings), derive_seeds(seed, 4)
    tree, diagnostics = _sample_until_converged(model, ratings, observed, priors, seeds, options)
    problems = diagnostics.list_warnings()
    if ratings.cluster is not None and observed.has_system:
        effects = estimate.find_design_effects(tree, ratings, observed)
        tree.attrs["design_effects"] = json.dumps(effects)
    doubts: tuple[Warning, ...] = ()
    if checks:
        doubts = predictive.check_predictions(tree, ratings, draws=CHECK_DRAWS).list_warnings()
    tree.attrs |= {
        "model": model,
        "engine": engine,
        "priors": write_priors(model, priors),
        "seed": str(seed),
        "known_truths": count_truths(ratings),
        "diagnostics": json.dumps(asdict(diagnostics)),
        "warnings": write_warnings([*problems, *doubts]),
    }
    for problem in problems:
        warnings.warn(f"{model}: {problem}", ConvergenceWarning, stacklevel=2)
    return tree


def _sample_until_converged(
    model: str,
    ratings: Ratings,
    observed: Patterns,
    priors: Priors,
    seeds: Sequence[np.random.SeedSequence],
    options: Sampling,
) -> tuple[xr.DataTree, Diagnostics]:
    """Sample, add true categories and diagnose, ever longer until the diagnostics pass."""
    sampler_seed, truth_seed, _, modes_seed = seeds
    modes = find_modes(observed, modes_seed)
    compiled = compile_model(model, observed, priors) if options.engine == "nuts" else None
    checked = list(ESTIMANDS if observed.has_system else WITHOUT_SYSTEM)
    if observed.populations and not observed.has_system:
        checked.append(BY_POPULATION)
    logger.info("%s: sampling", model)
    longer = 1
    for attempt, attempt_seed in enumerate(derive_seeds(sampler_seed, options.tries)):
        chains: dict[str, Any] = {
            "seed": int(attempt_seed.generate_state(1)[0]),
            "starts": modes,
            "chains": options.chains,
            "draws": options.draws * longer,
            "tune": options.tune * longer,
            "cores": options.cores,
        }
        try:
            if compiled is None:
                drawn = {"posterior": sample_conjugate(model, observed, priors, **chains)}
            else:
                drawn = sample(
                    compiled,
                    target_accept=1 - (1 - options.target_accept) / (1 + 2 * attempt),
                    progress_bar=options.progressbar,
                    **chains,
                )
        except TooLargeError:
            if attempt:
                break
            raise
        tree, rng = xr.DataTree.from_dict(drawn), np.random.default_rng(truth_seed)
        add_truth(tree, ratings, observed, rng, log_likelihood=options.log_likelihood)
        diagnostics = estimate.diagnose(
            tree,
            None if options.check == "all" else checked,
            tries=attempt + 1,
            mode_weights=[mode.weight for mode in modes],
        )
        failures = diagnostics.list_failures()
        if not failures:
            break
        longer *= diagnostics.find_times_longer()
        if attempt + 1 < options.tries:
            reasons = "; ".join(map(str, failures))
            logger.info("%s: sampling again, %d times as long: %s", model, longer, reasons)
    return tree, diagnostics


def estimate_model(
    model: Any,
    accuracy: str = "accuracy",
    *,
    in_sample: str | None = None,
    level: float = 0.9,
    seed: int = 1,
    draws: int = 500,
    tune: int = 500,
    chains: int = 4,
    target_accept: float = 0.9,
    cores: int | None = 1,
) -> Estimate:
    """Estimate by a PyMC model of one's own: sample it by NUTS, and check the chains.

    A model that computes the same as an earlier one from other `pm.Data` is not compiled again in
    the same process. If its data are constants, each data set takes seconds to compile.

    Parameters
    ----------
    model : pymc.Model
        Of the ratings.
    accuracy : str
        Name of the variable that is the expected accuracy of the system, a number.
    in_sample : str, optional
        Name of the variable that is its accuracy on these items; by default the same.
    level : float
        Probability of the interval, between 0 and 1.
    seed : int
        The same seed gives the same draws.
    draws, tune, chains : int
        Numbers of draws and of warm-up draws of each chain, and of chains.
    target_accept : float
        Mean acceptance probability that NUTS aims at.
    cores : int, optional
        How many chains are sampled at once; the draws do not depend on it.

    Returns
    -------
    Estimate
        Posterior mean and equal-tailed credible interval, with diagnostics, and warnings if they
        fail.

    Raises
    ------
    InputError
        If there is no such variable, or it is not one number.

    Examples
    --------
    A method for `lehner.Study` and `lehner.estimate`, by the number of agreements with the raters:

    >>> import lehner
    >>> import numpy as np
    >>> import pymc as pm
    >>> def count_agreements(ratings):
    ...     agrees = np.asarray(ratings.codes) == np.asarray(ratings.system)[:, None]
    ...     with pm.Model() as model:
    ...         accuracy, n = pm.Beta("accuracy", 1, 1), pm.Data("n", agrees.sum())
    ...         probability = 0.7 * accuracy + 0.3 * (1 - accuracy)
    ...         pm.Potential("agreements", pm.logp(pm.Binomial.dist(agrees.size, probability), n))
    ...     return model
    >>> def by_agreements(ratings, *, level, seed):
    ...     return estimate_model(count_agreements(ratings), level=level, seed=seed)
    >>> ratings = lehner.simulate(lehner.Scenario(n_categories=2), 1).with_truth(None)
    >>> lehner.estimate(ratings, by_agreements).value("system_accuracy")  # doctest: +SKIP
    """
    for name in (accuracy, in_sample or accuracy):
        errors.find("variable", name, model.named_vars)
    raw = nutpie.sample(
        compile_model_of_user(model),
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        seed=seed,
        save_warmup=False,
        progress_bar=False,
    )
    stats = raw["sample_stats"].to_dataset().rename(maxdepth_reached="reached_max_treedepth")
    drawn = raw["posterior"].to_dataset()[accuracy].transpose("chain", "draw", ...)
    if drawn.shape[:2] != (chains, draws):
        raise KeyboardInterrupt("sampling was stopped")
    if drawn.ndim > 2:
        problem = f"the variable {accuracy!r} has {drawn[0, 0].size} numbers"
        raise InputError(problem, "name one that is a number, as a pm.Deterministic")
    of_sampler = xr.DataTree.from_dict({"sample_stats": stats})
    diagnostics = estimate.diagnose_draws(drawn.values[..., None], of_sampler)
    return Estimate.from_draws(
        drawn.values,
        in_sample=raw["posterior"][in_sample or accuracy].values,
        level=level,
        draws=None,
        diagnostics={"engine": "nuts"} | asdict(diagnostics),
        warnings=diagnostics.list_warnings(),
    )


def fit_quietly(model: str, ratings: Ratings, **options: Any) -> xr.DataTree:
    """Fit a model as `fit` does, without a ConvergenceWarning: the result carries what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(model, ratings, **options)


def fit_many(
    model: str, many: Iterable[Ratings], *, seed: Seed = 1, **options: Any
) -> Iterator[xr.DataTree]:
    """Fit a model to one data set after another, each when the iterator reaches it.

    The defaults are those of a simulation study: `draws=500, tune=200, target_accept=0.9, cores=1,
    check="estimands", log_likelihood=False, checks=False, progressbar=False`. With these, the
    effective sample size of the system's accuracy is 400 or more in most data sets, with any model;
    the other data sets are sampled again, longer. For `dawid_skene` half the draws and a quarter of
    the warm-up are enough.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    many : iterable of Ratings
        The data sets. Numbers of items, patterns and ratings may differ.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The i-th data set, counted from 0, is fitted as by `fit` with the seed
        `lehner.core.arrays.derive_seeds(seed, i + 1)[i]`.
    **options
        Options of `fit`.

    Yields
    ------
    xarray.DataTree
        A fit, as returned by `fit`.

    Raises
    ------
    InputError
        For the same reasons as `fit`.

    Warns
    -----
    ConvergenceWarning
        If the diagnostics of a fit fail.

    Examples
    --------
    >>> import lehner
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> data = (lehner.simulate(scenario, seed).with_truth(None) for seed in range(3))
    >>> trees = fit_many("dawid_skene", data, engine="gibbs")
    >>> [round(float(tree.posterior["system_accuracy"].mean()), 1) for tree in trees]
    [0.9, 0.8, 0.9]
    """
    for fit_seed, ratings in zip(spawn_seeds(seed), many, strict=False):
        yield fit(model, ratings, seed=fit_seed, **(FOR_STUDIES | options))
