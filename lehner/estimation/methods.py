"""The registry of methods: each is a function from ratings to an Estimate, with a name."""

import hashlib
import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra import algebraic
from lehner.algebra.steps import Aggregation
from lehner.core import lazy
from lehner.core.errors import InputError, find
from lehner.core.estimate import Estimate, Replicates, uses_truths
from lehner.core.lazy import load_function, names_function
from lehner.data.ratings import Ratings
from lehner.latent_class import intervals
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS
from lehner.performance import replicates as parameters

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from lehner.contrasts.systems import JointDraws

# What only some methods or questions need is loaded with these.
base_rates, groups, systems = map(
    lazy.load,
    ("lehner.contrasts.base_rates", "lehner.contrasts.groups", "lehner.contrasts.systems"),
)
labelling, learned = map(lazy.load, ("lehner.labels.label", "lehner.empirical_prior.prior"))
crowds = lazy.load("lehner.empirical_prior.calibrated")


ENTRY_POINTS = "lehner.methods"
"""Group of entry points by which packages bring methods: functions that return some of `Method`."""
DEFAULT_METHODS = ("calibrated", "majority_agreement", "algebraic", "dawid_skene", "relaxed_k")
DESCRIPTIONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("methods.toml").read_text(encoding="utf-8")
)
"""Summary, label, colour and marker of methods without a model."""
INDEPENDENT = "errors are independent"
"""What the algebra and latent-class models assume of raters and system, given the true category."""


type Estimator = Callable[..., Estimate]
"""A function `(ratings, *, level, seed)` that estimates the accuracy of the system; the same seed
gives the same numbers."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate the accuracy of a system.

    Parameters
    ----------
    name : str
        Name in results, files and commands.
    summary : str
        What it does, in a few words.
    estimate : callable
        A function `(ratings, *, level, seed)` that returns an Estimate.
    label : str
        Printed name, by default the name with spaces.
    color : str
        Colour in figures, as Matplotlib takes it.
    marker : str
        Marker in figures, as Matplotlib takes it.
    filled : bool
        Whether the marker is filled; that of maximum likelihood is open.
    gives : frozenset of str
        What an estimate has beside the system's accuracy, among "truth_probabilities", "confusion",
        "replicates" (of a bootstrap), "draws" (posterior) and "shared_mistakes" (an interval that
        is meant to cover though the errors of raters and system are correlated).
    takes : frozenset of str
        What it takes beside ratings: "dependent_pair" (see `Ratings.with_dependent_pair`), "truths"
        (gold labels are part of the estimate, so that nothing corrects it by them), and options of
        `lehner.estimate`, which are then keywords of `estimate`, `shortly` and `joint_draws`:
        "earlier_studies" (as its prior), "model_priors", "system_is" and "priors".
    assumes : str
        What its estimate rests on, to be read after "if"; empty if that is not one thing.
    replicates : callable
        A function `(ratings, estimate, *, resamples, seed)` that returns the `Replicates` from
        which measures are computed, or None; by default those that the estimate has.
    by_group, by_population : callable, optional
        Functions `(ratings, estimate, names, *, seed)` that return `GroupDraws`, or None.
    joint_draws : callable, optional
        A function `(estimates, ratings, *, level, seed, do_all)` that
        returns the `JointDraws` of several systems, or None.
    base_rates : callable, optional
        A function `(ratings, *, seed)` that returns the `BaseRates` of ratings without a system.
    labels : callable, optional
        A function `(ratings, *, seed)` that returns the `SoftLabels` of ratings with or without a
        system.
    shortly : callable, optional
        As `estimate`, where there are many fits.
    at_slopes : callable, optional
        As `estimate`, but by the system's slope on difficulty.
    k_properties : callable, optional
        A function `(estimate, *, level)` that returns what a fit found of each K-property.
    made : bool
        Whether there is an estimate already.
    source_hash : str
        For a user's function: SHA-256 of its source, of the whole file if it was named by its file;
        a function with another hash is another method. Empty for methods that are installed.
    """

    name: str
    summary: str
    estimate: Estimator
    label: str = ""
    color: str = "black"
    marker: str = "."
    filled: bool = True
    gives: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    assumes: str = ""
    replicates: Callable[..., Replicates | None] = parameters.own_replicates
    by_group: Callable[..., Any] | None = None
    by_population: Callable[..., Any] | None = None
    joint_draws: Callable[..., Any] | None = None
    base_rates: Callable[..., Any] | None = None
    labels: Callable[..., Any] | None = None
    shortly: Estimator | None = None
    at_slopes: Callable[..., Mapping[float, Estimate]] | None = None
    k_properties: Callable[..., tuple[Any, ...]] | None = None
    made: bool = False
    source_hash: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))


type MethodLike = str | Method | Estimate | Callable[..., Estimate]
"""A method's name, a method, an estimate that there is already, or a user's function, as itself or
as the text "file.py:function"."""


def list_methods() -> dict[str, Method]:
    """List all methods: those of lehner, and those that installed packages bring.

    Packages bring methods by entry points of the group "lehner.methods": functions without
    arguments that return some of `Method`. `bayes_models` brings the Bayesian ones.

    Returns
    -------
    dict of str to Method
        First the methods without a model, then the models by maximum likelihood, then the others.

    Raises
    ------
    InputError
        If a package cannot be loaded, or if two methods have one name.

    Examples
    --------
    >>> list_methods()["dawid_skene"].summary
    'each rater has their own confusion matrix, Bayesian'
    """
    methods = dict(OWN_METHODS)
    for point in _packages():
        try:
            brought: Iterable[Method] = point.load()()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            problem = f"the methods of {point.value} cannot be loaded: {reason}"
            raise InputError(problem, "mend or remove the package that brings them") from error
        for method in brought:
            if method.name in methods:
                problem = f"{point.value} brings a method {method.name!r}, which there is already"
                raise InputError(problem, "rename it")
            methods[method.name] = method
    return methods


def find_methods(
    methods: MethodLike | Iterable[MethodLike] = DEFAULT_METHODS, *, folder: str | Path = "."
) -> list[Method]:
    """Find methods by name, and make methods of functions.

    Parameters
    ----------
    methods : str, Method, Estimate, callable, or several of these
        Names, where "all" stands for all; functions `f(ratings, *, seed)` that return an Estimate,
        and take `level` too if they have intervals; and texts `file.py:function`. Such a file is
        run as Python code.
    folder : str or Path
        The folder that relative paths of files start from.

    Returns
    -------
    list of Method
        Each once, in the order given.

    Raises
    ------
    InputError
        If there is no such method, with the nearest name; for the reasons of `load_function`; if a
        function has no name; or if two different functions, or a function and a method of the
        registry, have the same name.

    Examples
    --------
    >>> [method.name for method in find_methods(["tap", "all"])][:2]
    ['tap', 'majority_agreement']
    >>> def always_half(ratings, *, seed):
    ...     return majority_agreement(ratings)
    >>> [method.name for method in find_methods(["algebraic", always_half])]
    ['algebraic', 'always_half']
    """
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        methods = [methods]
    by_name: dict[str, Method] = {}
    for wanted in methods:
        every = isinstance(wanted, str) and wanted == "all"
        for method in list_methods().values() if every else [find_method(wanted, folder=folder)]:
            if by_name.setdefault(method.name, method).source_hash != method.source_hash:
                raise InputError(f"two methods are called {method.name!r}", "rename one of them")
    return list(by_name.values())


def get_method(name: str) -> Method | None:
    """Look a method up by its name; None if there is none. Packages are loaded only if need be."""
    return OWN_METHODS.get(name) or list_methods().get(name)


def find_method(method: MethodLike, *, folder: str | Path = ".") -> Method:
    """Find a method as `find_methods` does."""
    if isinstance(method, Method):
        return method
    if isinstance(method, Estimate):
        return _of_estimate(method)
    if names_function(method):
        loaded = load_function(str(method), folder)
        return _of_function(loaded.function, str(method), loaded.source_hash)
    if callable(method) and not isinstance(method, type):
        return _of_function(method, f"the function {getattr(method, '__name__', method)}")
    return get_method(str(method)) or find("method", str(method), list_methods())


def _of_estimate(made: Estimate) -> Method:
    """Make the method that gives this estimate; one that nobody registered gives what it has."""

    def estimate(ratings: Ratings, **_: Any) -> Estimate:
        (system,) = ratings.systems
        if system != made.system:
            problem = f"the estimate is of {made.system!r}, and the system is {system!r}"
            raise InputError(problem, "give an estimate of these ratings, or the name of a method")
        return made

    registered = get_method(made.method) or Method(
        name=made.method, summary=made.method, estimate=estimate
    )
    return replace(registered, estimate=estimate, made=True, shortly=None)


def _of_function(function: Callable[..., Estimate], what: str, source_hash: str = "") -> Method:
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise InputError(
            f"{what} has no name", "define it with def, or give lehner.Method(name=…, estimate=…)"
        )
    if name in MODELS or name in OWN_METHODS:
        raise InputError(f"{what} has the name of a method of lehner", "rename it")
    if not source_hash:
        source = repr(function)
        with suppress(OSError, TypeError):
            source = inspect.getsource(function)
        source_hash = hashlib.sha256(source.encode()).hexdigest()
    parameters = inspect.signature(function).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())

    def estimate(ratings: Ratings, *, level: float, seed: int) -> Estimate:
        options = {"level": level, "seed": seed}
        taken = {key: options[key] for key in options if takes_all or key in parameters}
        result = function(ratings, **taken)
        if not isinstance(result, Estimate):
            kind = type(result).__name__
            raise InputError(f"{what} returned a {kind}", "return a lehner.Estimate")
        return replace(result, method=name)

    summary = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).rstrip(".")
    return Method(name=name, summary=summary or what, estimate=estimate, source_hash=source_hash)


@cache
def _packages() -> "tuple[EntryPoint, ...]":
    """Look the entry points up once: which packages are installed does not change."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINTS))


def _group_fits(
    model: str, ratings: Ratings, estimate: Estimate, names: ArrayLike, *, seed: int
) -> Any:
    """Give each group its base rates, if each row has a group."""
    if (np.asarray(names) == "").any():
        return None
    own = ratings if uses_truths(estimate) else ratings.with_truth(None)
    return groups.group_by_likelihood(own, names, model, seed=seed)


def _bootstrap_fits(
    model: str, names: Iterable[str], ratings: Ratings, **options: Any
) -> "JointDraws":
    options = {"kind": intervals.KIND, "resamples": intervals.RESAMPLES} | options
    prepare = partial(systems.prepare_fit, model)
    return systems.bootstrap_systems(prepare, names, ratings, **options)


def _by_likelihood(name: str, model: str) -> Method:
    about, in_groups = MODELS[model], partial(_group_fits, model)
    return Method(
        name=name,
        summary=f"{about.summary}, by maximum likelihood",
        estimate=partial(intervals.estimate_latent_class, model=model),
        label=f"{about.label}, ML",
        color=about.color,
        marker=about.marker,
        filled=False,
        gives=frozenset({"truth_probabilities", "confusion", "replicates"}),
        assumes=INDEPENDENT,
        replicates=partial(parameters.refit_replicates, model=model),
        by_group=in_groups,
        by_population=in_groups,
        joint_draws=partial(_bootstrap_fits, model),
        base_rates=lambda ratings, *, seed: base_rates.likelihood_base_rates(
            ratings, model, seed=seed
        ),
        labels=lambda ratings, *, seed: labelling.label(ratings, name),
    )


def _compare_calibrated(
    estimates: Mapping[str, Estimate],
    ratings: Ratings,
    *,
    level: float,
    seed: int,
    priors: str | Path | None = None,
    **_: Any,
) -> "JointDraws | None":
    """Compare systems, if all have an estimate and the priors have one for differences."""
    if priors is not None and learned.DIFFERENCE not in learned.read_priors(priors):
        return None
    if any(made.system_accuracy.estimate is None for made in estimates.values()):
        return None
    asked: dict[str, Any] = {"priors": priors, "level": level, "seed": seed}
    return crowds.draw_calibrated(ratings, systems=tuple(estimates), **asked)


def _bootstrap_votes(
    name: str, names: Iterable[str], ratings: Ratings, **options: Any
) -> "JointDraws":
    prepare = partial(systems.prepare_votes, algebraic.VOTE_METHODS[name])
    return systems.bootstrap_systems(prepare, names, ratings, **options)


def _by_votes(name: str, **fields: Any) -> Method:
    """Make a method that needs only the votes for each category."""
    return Method(
        name=name, joint_draws=partial(_bootstrap_votes, name), **DESCRIPTIONS[name], **fields
    )


def _by_algebra(name: str, step_4: Aggregation, **fields: Any) -> Method:
    return _by_votes(
        name,
        estimate=partial(algebraic.estimate_algebraic, aggregation=step_4),
        gives=frozenset({"truth_probabilities", "confusion"}),
        replicates=parameters.algebraic_replicates,
        # The methods differ in step 4 only, not in their labels.
        labels=lambda ratings, *, seed: replace(labelling.label_algebraic(ratings), method=name),
        **fields,
    )


WITHOUT_MODEL = (
    _by_votes(
        "majority_agreement",
        estimate=lambda ratings, *, level, seed: algebraic.majority_agreement(ratings, level=level),
        replicates=parameters.majority_replicates,
    ),
    _by_votes(
        "mean_posterior",
        estimate=lambda ratings, *, level, seed: algebraic.mean_posterior(ratings),
        replicates=parameters.probable_replicates,
    ),
    _by_algebra(
        "algebraic",
        "weighted",
        by_group=lambda ratings, estimate, names, *, seed: groups.group_by_algebra(
            ratings, names, seed=seed
        ),
    ),
    _by_algebra("algebraic_likelihood", "likelihood"),
    _by_algebra("algebraic_paper", "paper"),
    Method(
        name="calibrated",
        estimate=lambda ratings, *, level, seed, **options: crowds.estimate_calibrated(
            ratings, level=level, **options
        ),
        gives=frozenset({"shared_mistakes"}),
        takes=frozenset({"truths", "system_is", "priors"}),
        joint_draws=_compare_calibrated,
        **DESCRIPTIONS["calibrated"],
    ),
)
"""The methods that need no latent-class model."""
OWN_METHODS = {method.name: method for method in WITHOUT_MODEL} | {
    name: _by_likelihood(name, model) for name, model in LIKELIHOOD_METHODS.items()
}
"""The methods of lehner itself by name."""
