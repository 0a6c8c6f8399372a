"""Fit models: sample them, infer true categories, check the draws, and sample again if need be."""

import json
import logging
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayes_models.models.assemble import SHARE, observe
from bayes_models.models.spec import (
    Priors,
    choose_priors,
    find_model,
    is_distribution,
    write_priors,
)
from bayes_models.posterior import draws as posteriors
from bayes_models.posterior import estimate, predictive
from bayes_models.posterior.bayes_factors import average_with_independence
from bayes_models.posterior.estimate import ConvergenceWarning, Diagnostics
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.nuts import compile_model, sample
from bayes_models.sampling.start import find_modes
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
from lehner.latent_class.em import known_truths

logger = logging.getLogger(__name__)

WITHOUT_SYSTEM = ("accuracy", "base_rates")
"""What is checked in place of the system's accuracies where there is no system."""
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
CHECK_DRAWS = 50
"""Posterior draws for the checks of a fit, fewer than `predictive_checks` uses by default."""

type Checked = Literal["all", "estimands"]
type Engine = Literal["nuts", "gibbs"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """Options of `fit`, checked."""

    priors: Priors
    engine: Engine
    draws: int
    tune: int
    chains: int
    target_accept: float
    cores: int | None
    tries: int
    check: Checked
    log_likelihood: bool
    checks: bool
    progressbar: bool

    def __post_init__(self) -> None:
        for name, least in {"draws": 4, "tune": 1, "chains": 1, "tries": 1}.items():
            check_whole_number(name, getattr(self, name), least)
        check_number("target_accept", self.target_accept, 0.1, 0.999)
        check_choice("check", self.check, ("all", "estimands"))
        check_choice("engine", self.engine, ("nuts", "gibbs"))


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
        Whether R-hat and effective sample sizes of all variables are checked (of confusion matrices
        the recalls), or of the system's accuracies only.
    log_likelihood : bool
        Whether the result includes the data, the log likelihood of each item and the log density of
        the priors, which are needed to compare models and to check the influence of priors.
    progressbar : bool
        Whether NUTS shows its progress, and why it samples again.
    checks : bool
        Whether the attribute `warnings` also lists what `predictive_checks` finds in a few draws,
        which takes moments. They do not see errors that raters share, which make them look
        accurate: see `lehner.check_dependence`.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats` (of NUTS), `truth`, `log_likelihood` (per item),
        `log_prior`, `observed_data` and `constant_data`, to which `add_posterior_predictive` and
        `add_prior` add others;
        attributes `model`, `engine`, `seed`, `known_truths`, and as JSON `priors` (all of them,
        given or not), `diagnostics` and `warnings`. For a dependent pair there are a group `pair`
        and an attribute `dependent_pair`, see `bayes_models.posterior.bayes_factors`.

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
    asked: dict[str, Any] = {
        **{"priors": priors, "engine": engine, "draws": draws, "tune": tune, "chains": chains},
        **{"target_accept": target_accept, "cores": cores, "tries": tries, "check": check},
        **{"log_likelihood": log_likelihood, "checks": checks, "progressbar": progressbar},
    }
    options = Options(**asked)
    ratings = count_rated(ratings)
    observed, seeds = observe(ratings), child_seeds(seed, 5)
    tree, diagnostics, rng = _sample_until_converged(model, ratings, observed, options, seeds)
    problems = diagnostics.warnings()
    if SHARE in tree["posterior"]:
        alone = _fit_without_pair(model, ratings, options, seeds[4])
        average_with_independence(tree, alone, ratings.dependent, observed, rng)
        problems = (*problems, *warnings_from_json(alone.attrs["warnings"]))
    if log_likelihood:
        predictive.add_data(tree, ratings)
        posterior = tree["posterior"].to_dataset()
        densities = predictive.compute_log_prior(model, posterior, observed, priors)
        tree["log_prior"] = xr.DataTree(densities)
    if ratings.cluster is not None and observed.has_system:
        effects = estimate.find_design_effects(tree, ratings, observed)
        tree.attrs["design_effects"] = json.dumps(effects)
    doubts: tuple[Warning, ...] = ()
    if checks:
        report = predictive.predictive_checks(tree, ratings, draws=CHECK_DRAWS)
        doubts = report.warnings()
    tree.attrs |= {
        "model": model,
        "engine": engine,
        "priors": write_priors(model, priors),
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
    options: Options,
    seeds: Sequence[np.random.SeedSequence],
) -> tuple[xr.DataTree, Diagnostics, np.random.Generator]:
    """Sample, add true categories and diagnose, ever longer until the diagnostics pass.

    The generator is the one that drew the true categories.
    """
    sampler_seed, truth_seed, _, modes_seed, _ = seeds
    modes = find_modes(observed, modes_seed)
    draw = _choose_sampler(model, observed, options, modes)
    checked = ESTIMANDS if observed.has_system else WITHOUT_SYSTEM
    longer = kept = 1
    for attempt, attempt_seed in enumerate(child_seeds(sampler_seed, options.tries)):
        again = f" again, {longer} times as long" if attempt else ""
        logger.info("%s: sampling%s", model, again)
        seed = int(attempt_seed.generate_state(1)[0])
        tree = xr.DataTree.from_dict(draw(seed, attempt, longer, kept))
        rng = np.random.default_rng(truth_seed)
        keep = options.log_likelihood
        posteriors.add_truth(tree, ratings, observed, rng, log_likelihood=keep)
        diagnostics = estimate.diagnose(
            tree,
            None if options.check == "all" else checked,
            tries=attempt + 1,
            mode_weights=[mode.weight for mode in modes],
        )
        if not diagnostics.failures():
            break
        longer *= diagnostics.times_longer()
        fitting = posteriors.times_that_fit(tree["posterior"].nbytes / kept, options.engine)
        kept = min(longer, fitting)
        if options.engine == "nuts":
            # It keeps all draws.
            longer = kept
        if options.progressbar and attempt + 1 < options.tries:
            why = "; ".join(map(str, diagnostics.failures()))
            print(f"{model}: {why}; sampling again, {longer} times as long", file=sys.stderr)
    return tree, diagnostics, rng


def _choose_sampler(
    model: str, observed: Patterns, options: Options, starts: Any
) -> Callable[[int, int, int, int], dict[str, xr.Dataset]]:
    """Give a function of a seed, the number of tries before, and two factors.

    It samples so many times as long, and keeps so many times as many draws, as it is first asked.
    """
    chains: dict[str, Any] = {"chains": options.chains, "starts": starts}

    def draw_by_gibbs(seed: int, _: int, longer: int, kept: int) -> dict[str, xr.Dataset]:
        length: dict[str, Any] = {"draws": options.draws * kept, "tune": options.tune * longer}
        thin = math.ceil(longer / kept)
        posterior = sample_conjugate(
            model, observed, options.priors, seed=seed, thin=thin, **length, **chains
        )
        return {"posterior": posterior}

    if options.engine == "gibbs":
        return draw_by_gibbs
    compiled = compile_model(model, observed, options.priors)

    def draw_by_nuts(seed: int, attempt: int, longer: int, kept: int) -> dict[str, xr.Dataset]:
        return sample(
            compiled,
            seed=seed,
            draws=options.draws * kept,
            tune=options.tune * longer,
            target_accept=1 - (1 - options.target_accept) / (1 + 2 * attempt),
            cores=options.cores,
            progress_bar=options.progressbar,
            **chains,
        )

    return draw_by_nuts


def _fit_without_pair(model: str, ratings: Ratings, options: Options, seed: Seed) -> xr.DataTree:
    numbers = not any(map(is_distribution, choose_priors(model, options.priors).values()))
    engine: Engine = "gibbs" if find_model(model).conjugate and numbers else "nuts"
    alone = vars(replace(options, engine=engine, checks=False))
    with warnings.catch_warnings():
        # The result carries them.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(model, ratings.with_dependent_pair(None), seed=seed, **alone)


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
