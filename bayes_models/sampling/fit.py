"""Fit models: sample them, infer true categories, check the draws, and sample again if need be."""

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayes_models.models.families import is_distribution
from bayes_models.models.observations import known_truths, observe
from bayes_models.models.parameters import SHARE
from bayes_models.models.spec import Priors, choose_priors, find_model, priors_as_json
from bayes_models.posterior.dependent_pair import average_with_independence
from bayes_models.posterior.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from bayes_models.posterior.estimate import design_effects
from bayes_models.posterior.predictive import add_data, log_prior
from bayes_models.posterior.predictive_checks import predictive_checks
from bayes_models.posterior.truth import add_truth
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.memory import times_in_memory
from bayes_models.sampling.nuts import compile_model, sample
from bayes_models.sampling.start import posterior_modes, start_at
from lehner import Patterns, Ratings
from lehner.core.arrays import Seed, child_seeds, spawn_seeds
from lehner.core.errors import (
    Warning,
    check_choice,
    check_number,
    check_whole_number,
    warnings_from_json,
    warnings_to_json,
)
from lehner.core.estimate import ESTIMANDS
from lehner.data.patterns import count_rated

logger = logging.getLogger(__name__)

OTHERWISE = ("accuracy", "base_rates")

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

type Checked = Literal["all", "estimands"]
type Engine = Literal["nuts", "gibbs"]

CHECK_DRAWS = 50
"""Posterior draws for the checks of a fit, fewer than `predictive_checks` uses by default."""


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
    these, one at each (see `bayes_models.sampling.start.posterior_modes`), so that R-hat shows
    whether chains from different modes mix. If the diagnostics fail, the model is sampled again
    with a higher target acceptance, and up to four times as long, depending on the effective sample
    size. Where so many draws would take more than 4 GB of memory, Gibbs sampling keeps fewer of
    them, and NUTS samples fewer. If the diagnostics still fail, there is a `ConvergenceWarning`,
    which the attribute `warnings` of the result repeats.

    With a dependent pair, a model that takes it is fitted with the pair and without. The posterior
    is the average of the two by their posterior probabilities; before the ratings these are one
    half each.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
        With or without a system. If some truths are known they enter as data. If all are known they
        are not used, see `observe`. Populations of items have base rates of their own, see
        `Ratings.with_populations`; some models take a dependent pair, see
        `Ratings.with_dependent_pair`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.
    priors : str or mapping, optional
        As the model takes them.
    engine : {"nuts", "gibbs"}
        "nuts" samples every model by the No-U-Turn sampler. "gibbs" samples only `dawid_skene` and
        `pooled`, with Dirichlet priors; with up to 200 items it is about five times as fast.
        `lehner.estimate` takes it for these with more than 20 raters or
        categories.
    draws, tune, chains : int
        Number of draws kept, 4 or more, and of warm-up draws, 1 or more, of each chain; and number
        of chains, 1 or more.
    target_accept : float
        Mean acceptance probability that NUTS aims at, between 0.1 and 0.999.
    cores : int, optional
        How many chains of NUTS are sampled at once; the draws do not depend on it.
    tries : int
        How often the model is sampled at most, each time longer, 1 or more.
    check : {"all", "estimands"}
        Whether R-hat and effective sample sizes of all variables are checked, or of the system's
        accuracies only.
    log_likelihood : bool
        Whether the result includes the data, the log likelihood of each item and the log density of
        the priors, which are needed to compare models and to check the influence of priors.
    progressbar : bool
        Whether NUTS shows its progress, and why it samples again.
    checks : bool
        Whether the attribute `warnings` also lists what `predictive_checks` finds in a few draws,
        which takes a tenth of a second or two. They do not see errors that raters share, which
        make them look accurate: see `lehner.check_dependence`.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats` (of NUTS), `truth`, `log_likelihood` (per item),
        `log_prior`, `observed_data` and `constant_data`, to which `add_posterior_predictive` and
        `add_prior` add others;
        attributes `model`, `engine`, `seed`, `known_truths`, and as JSON `priors` (all of them,
        given or not), `diagnostics` and `warnings`. For a dependent pair there are a group `pair`
        and an attribute `dependent_pair`, see `bayes_models.posterior.dependent_pair`.

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
    check_whole_number("draws", draws, 4)
    check_whole_number("tune", tune, 1)
    check_whole_number("chains", chains, 1)
    check_number("target_accept", target_accept, 0.1, 0.999)
    check_whole_number("tries", tries, 1)
    check_choice("check", check, ("all", "estimands"))
    check_choice("engine", engine, ("nuts", "gibbs"))
    ratings = count_rated(ratings)
    observed = observe(ratings)
    seeds = child_seeds(seed, 5)
    options: dict[str, Any] = {
        **{"draws": draws, "tune": tune, "chains": chains, "tries": tries, "cores": cores},
        **{"target_accept": target_accept, "check": check, "log_likelihood": log_likelihood},
        **{"priors": priors, "progressbar": progressbar},
    }
    tree, diagnostics, rng = _sample_until_converged(
        model, ratings, observed, engine, seeds, **options
    )
    problems = diagnostics.warnings()
    if SHARE in tree["posterior"]:
        alone = _fit_without_pair(model, ratings, options | {"seed": seeds[4]})
        average_with_independence(tree, alone, ratings.dependent, observed, rng)
        problems = (*problems, *warnings_from_json(alone.attrs["warnings"]))
    if log_likelihood:
        add_data(tree, ratings)
        densities = log_prior(model, tree["posterior"].to_dataset(), observed, priors)
        tree["log_prior"] = xr.DataTree(densities)
    if ratings.cluster is not None and observed.has_system:
        tree.attrs["design_effects"] = json.dumps(design_effects(tree, ratings, observed))
    doubts: tuple[Warning, ...] = ()
    if checks:
        doubts = predictive_checks(tree, ratings, draws=CHECK_DRAWS, seed=seeds[2]).warnings()
    tree.attrs |= {
        "model": model,
        "engine": engine,
        "priors": priors_as_json(model, priors),
        "seed": str(seed),
        "known_truths": known_truths(ratings),
        "diagnostics": json.dumps(asdict(diagnostics)),
        "warnings": warnings_to_json([*problems, *doubts]),
    }
    for problem in problems:
        warnings.warn(f"{model}: {problem}", ConvergenceWarning, stacklevel=2)
    return tree


def _sample_until_converged(
    model: str,
    ratings: Ratings,
    observed: Patterns,
    engine: Engine,
    seeds: Sequence[np.random.SeedSequence],
    *,
    priors: Priors,
    draws: int,
    tune: int,
    tries: int,
    check: Checked,
    log_likelihood: bool,
    progressbar: bool,
    **sampling: Any,
) -> tuple[xr.DataTree, Diagnostics, np.random.Generator]:
    """Sample, add true categories and diagnose, ever longer until the diagnostics pass.

    The generator is the one that drew the true categories.
    """
    sampler_seed, truth_seed, _, modes_seed, _ = seeds
    modes = posterior_modes(observed, modes_seed)
    starts = [start_at(mode, observed) for mode in modes]
    compiled = compile_model(model, observed, priors) if engine == "nuts" else None
    checked = None if check == "all" else ESTIMANDS if observed.has_system else OTHERWISE
    longer = kept = 1
    for attempt, attempt_seed in enumerate(child_seeds(sampler_seed, tries)):
        again = f" again, {longer} times as long" if attempt else ""
        logger.info("%s: sampling%s", model, again)
        length: dict[str, Any] = {
            "seed": int(attempt_seed.generate_state(1)[0]),
            "draws": draws * kept,
            "tune": tune * longer,
            "chains": sampling["chains"],
            "starts": starts,
        }
        if compiled is None:
            thin = math.ceil(longer / kept)
            groups = {"posterior": sample_conjugate(model, observed, priors, thin=thin, **length)}
        else:
            groups = sample(
                compiled,
                **length,
                target_accept=1 - (1 - sampling["target_accept"]) / (1 + 2 * attempt),
                cores=sampling["cores"],
                progress_bar=progressbar,
            )
        tree = xr.DataTree.from_dict(groups)
        rng = np.random.default_rng(truth_seed)
        add_truth(tree, ratings, observed, rng, log_likelihood=log_likelihood)
        weights = [mode.weight for mode in modes]
        diagnostics = diagnose(tree, checked, tries=attempt + 1, mode_weights=weights)
        if not diagnostics.failures():
            break
        longer *= diagnostics.times_longer()
        kept = min(longer, times_in_memory(tree["posterior"].nbytes / kept, engine))
        if compiled is not None:
            # NUTS keeps all draws.
            longer = kept
        if progressbar and attempt + 1 < tries:
            why = "; ".join(map(str, diagnostics.failures()))
            print(f"{model}: {why}; sampling again, {longer} times as long", file=sys.stderr)
    return tree, diagnostics, rng


def _fit_without_pair(model: str, ratings: Ratings, options: Mapping[str, Any]) -> xr.DataTree:
    numbers = not any(map(is_distribution, choose_priors(model, options["priors"]).values()))
    engine: Engine = "gibbs" if find_model(model).conjugate and numbers else "nuts"
    with warnings.catch_warnings():
        # The result carries them.
        warnings.simplefilter("ignore", ConvergenceWarning)
        independent = ratings.with_dependent_pair(None)
        return fit(model, independent, engine=engine, checks=False, **options)


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
        `lehner.core.arrays.child_seeds(seed, i + 1)[i]`.
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
    >>> data = (lehner.simulate(scenario, seed) for seed in range(3))
    >>> trees = fit_many("pooled", data, engine="gibbs")
    >>> [round(float(tree.posterior["system_accuracy"].mean()), 1) for tree in trees]
    [0.9, 0.8, 0.9]
    """
    for fit_seed, ratings in zip(spawn_seeds(seed), many, strict=False):
        yield fit(model, ratings, seed=fit_seed, **(FOR_STUDIES | options))
