"""The registry of methods: what each estimates, and how it looks."""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from lehner.algebra.algebraic import estimate_algebraic, majority_agreement, resample_algebra
from lehner.algebra.steps import Aggregation
from lehner.contrasts.groups import (
    GroupColumn,
    group_by_algebra,
    group_by_likelihood,
    group_by_majority,
)
from lehner.contrasts.systems import bootstrap_systems
from lehner.core.errors import InputError, WrongTypeError, find
from lehner.core.estimate import Estimate
from lehner.core.lazy import load_function, names_function, write_source
from lehner.core.resampling import show_if_long
from lehner.core.results import Look
from lehner.data.columns import Label
from lehner.data.estimable import require_pairs
from lehner.data.ratings import Ratings
from lehner.empirical_prior.learned_prior import compare_learned_prior, estimate_learned_prior
from lehner.interrater.coefficients import warn_of_raters
from lehner.known_truths.one_judge import JUDGED_BY, estimate_judged
from lehner.latent_class import label as labelling
from lehner.latent_class.em import LATENT_CLASS_MODELS, LIKELIHOOD_METHODS, MODELS
from lehner.latent_class.intervals import estimate_latent_class
from lehner.latent_class.label import SoftLabels
from lehner.performance import replicates

# Group of entry points by which packages bring methods: functions that return some of `Method`.
ENTRY_POINTS = "lehner.methods"
DEFAULT_METHODS = ("learned_prior", "majority_agreement", "algebraic", "dawid_skene", "relaxed_k")
# What is given to the estimate, whatever its methods.
FOR_ALL_METHODS = ("truths_in_model", "positive", "populations")
# What the algebra and latent-class models assume of raters and system, given the true category.
INDEPENDENT = "errors are independent"

# A function `(ratings, *, level, seed)` that estimates the accuracy of the system; the same seed
# gives the same numbers.
type Estimator = Callable[..., Estimate]


def refuse(ratings: Ratings, **_: Any) -> Estimate:
    """Refuse to estimate the accuracy of a system, as a method that has no function for it."""
    raise InputError("this method does not estimate a system", "give a method that does")


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate the accuracy of a system, base rates, or the truth of items.

    Parameters
    ----------
    name : str
        Name in results, files and commands.
    summary : str
        What it does, in a few words.
    fit : callable, optional
        A function `(ratings, *, level, seed)` that returns an Estimate of a system; without it
        the method does not estimate the accuracy of a system.
    look : Look, optional
        Printed name, and look in figures.
    assumes : str, optional
        What its estimate rests on, to be read after "if". "" if its interval is meant to cover
        though the errors of raters and system are correlated; None if nothing is known of it.
    takes : frozenset of str
        What it takes beside ratings: "truths" (gold labels are part of the estimate, so that
        nothing corrects it by them), "answers" (the system's answers are part of the truths of
        items that it infers), and keywords of `fit`: those of studies, as "resamples"; those of
        `lehner.Given`, which "systems" gets, too; "shortly" (whether there are many fits); and
        "in_study", which asks for a fit of a study, with the options of a sampler.
    functions : mapping of str to callable
        What else it can give, by name. Functions that return `lehner.core.estimate.Draws`, or None:

        - "parameters", `(ratings, estimate, *, resamples, seed)`: base rates, the system's
          confusion matrix and the raters' accuracy; by default those that the estimate has.
        - "groups", `(ratings, *, estimate, level, seed)`: each population of the ratings, alone.
        - "populations", the same of a model with populations; without a system also the raters,
          and the truth of items.
        - "judge", `(items, ratings, sets, *, seed)`: base rates by the answers of one judge.
        - "systems", `(estimates, ratings, *, level, seed, do_all)`: several systems jointly.
        - "items", `(ratings, *, seed)`: the probability of each category of each item.
        - "reference", as `fit` is, with a `reference` whose errors are known.
    questions : mapping of str to callable
        Questions that only this method answers, see `lehner.estimation.questions`.
    source_hash : str
        For a user's function: SHA-256 of its source, of the whole file if it was named by its file;
        a function with another hash is another method. Empty for methods that are installed.
    """

    name: str
    summary: str
    fit: Estimator = field(default_factory=lambda: refuse)
    look: Look | None = None
    assumes: str | None = None
    takes: frozenset[str] = frozenset()
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    questions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    source_hash: str = ""


# A method's name, a method, or a user's function, as itself or as the text "file.py:function".
type MethodLike = str | Method | Callable[..., Estimate]


def list_methods(able: str = "fit") -> dict[str, Method]:
    """List methods: those of lehner, and those that installed packages bring.

    Packages bring methods by entry points of the group "lehner.methods": functions without
    arguments that return some of `Method`. `bayes_models` brings the Bayesian ones.

    Parameters
    ----------
    able : str
        What they are to give: "fit", the accuracy of a system; or a name in `Method.functions`.

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
    every = _list_all()
    return {name: every[name] for name in every if gives(every[name], able)}


def gives(method: Method, able: str) -> bool:
    """Tell whether a method gives this: "fit", or a name in `Method.functions`."""
    return method.fit is not refuse if able == "fit" else able in method.functions


def _list_all() -> dict[str, Method]:
    methods = dict(OWN_METHODS)
    for point in _list_packages():
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


def find_methods(methods: MethodLike | Iterable[MethodLike] = DEFAULT_METHODS) -> list[Method]:
    """Find methods by name, and make methods of functions.

    Parameters
    ----------
    methods : str, Method, callable, or several of these
        Names, where "all" stands for all; functions `f(ratings, *, seed)` that return an Estimate,
        and take `level` too if they have intervals; and texts `file.py:function`. Such a file is
        run as Python code.

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
    >>> [method.name for method in find_methods(["one_coin", "all"])][:2]
    ['one_coin', 'majority_agreement']
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
        for method in list_methods().values() if every else [find_method(wanted)]:
            if by_name.setdefault(method.name, method).source_hash != method.source_hash:
                raise InputError(f"two methods are called {method.name!r}", "rename one of them")
    return list(by_name.values())


@dataclass(frozen=True, kw_only=True)
class Given:
    """What is known or assumed beside the ratings.

    Parameters
    ----------
    system_is : {"like", "better", "unknown"}
        What is known of the system beside its raters: like them, better than them, or neither. The
        method "learned_prior" then rests on crowds in which this was so.
    raters_are : {"people", "models", "unknown"}
        Who rates: people or language models. The method "learned_prior" then rests on crowds of
        these; if it is unknown, they are models if all have such names as "gpt-4o", else people.
    priors : str or Path, optional
        A file of priors that were trained on crowds of yours, for the method "learned_prior"; by
        default it rests on the crowds that are shipped.
    model_priors : str, optional
        Name of a set of priors of the Bayesian models, as "flat"; by default each has its own.
    truths_in_model : bool
        Whether models are fitted to the gold labels, instead of being corrected by them.
    earlier_studies : mapping of str to array_like, str or Path, optional
        By the name of a rater or system: how many items of each true category (row) got each
        answer (column) in an earlier study with gold labels, or a file with this table. It enters
        the prior of the methods that can have it, "dawid_skene", where two of its items count as
        one (a power prior).
    reference : mapping of str to sequence, optional
        By the name of a rater who is an imperfect reference standard: its sensitivity and its
        specificity, each a number or, as two numbers, the ends of a 95% interval. The method
        "imperfect_reference", which is then the default beside "majority_agreement", corrects the
        numbers of the system for the errors of the reference.
    positive : str or int, optional
        Which of two categories is the positive one, for sensitivity, specificity, predictive values
        and likelihood ratios. By default it is guessed from the names, as "malignant" or "yes", or
        it is the category that raters give less often. Without a system it is `good` of
        `lehner.compare`.
    populations : array_like of str, shape (n_rows,), optional
        From which population each row is: in latent-class models, Bayesian or by maximum
        likelihood, each population has its own base rates. By default those of the ratings.

    Examples
    --------
    >>> Given(system_is="better").list_options()
    {'system_is': 'better'}
    """

    system_is: str = "unknown"
    raters_are: str = "unknown"
    priors: str | Path | None = None
    model_priors: str | None = None
    truths_in_model: bool = False
    earlier_studies: Mapping[str, Any] | None = None
    reference: Mapping[str, Sequence[Any]] | None = None
    positive: Label | Sequence[Label] | None = None
    populations: ArrayLike | GroupColumn | None = None

    def list_options(self) -> dict[str, Any]:
        """Name what some method must take.

        Returns
        -------
        dict
            What is given, by its name.
        """
        given = {name: value for name, value in vars(self).items() if name not in FOR_ALL_METHODS}
        return {name: value for name, value in given.items() if value and value != "unknown"}


def choose_methods(
    methods: MethodLike | Iterable[MethodLike],
    given: Given,
    *,
    level: float,
    seed: int,
    shortly: bool = False,
) -> list[Method]:
    """Find methods that estimate the accuracy of a system, and give each the options that it takes.

    Parameters
    ----------
    methods : str, Method, callable, or several of these
        As `find_methods` takes them.
    given : Given
    level, seed
        What each method gets.
    shortly : bool
        Whether there are many fits.

    Returns
    -------
    list of Method
        Whose `fit` and draws of systems need no such keywords.

    Raises
    ------
    InputError
        As `find_methods` does, or if no method takes something that is given.
    """
    selected, options = find_methods(methods), given.list_options()
    require_takers(selected, options)
    options["shortly"] = shortly
    bound = []
    for method in selected:
        if given.reference and "reference" in method.functions:
            method = replace(method, fit=method.functions["reference"])
        if method.fit is refuse:
            problem = f"{method.name} does not estimate the accuracy of a system"
            raise InputError(problem, "choose one that `lehner estimate` lists in its help")
        names = method.takes & options.keys()
        taken = {"level": level, "seed": seed} | {name: options[name] for name in names}
        functions = dict(method.functions)
        if "systems" in functions:
            functions["systems"] = partial(functions["systems"], **taken)
        bound.append(replace(method, fit=partial(method.fit, **taken), functions=functions))
    return bound


def require_takers(methods: Sequence[Method], options: Iterable[str]) -> None:
    """Raise an InputError unless each option that is given is taken by one of the methods."""
    for option in options:
        if not any(option in method.takes for method in methods):
            able = [name for name, method in _list_all().items() if option in method.takes]
            what = option.replace("_", " ")
            raise InputError(f"no method takes {what}", f"add {' or '.join(able)}")


def get_method(name: str) -> Method:
    """Look up the method of an estimate; of one that nobody registered little is known.

    Packages are loaded only if need be.

    Examples
    --------
    >>> [get_look(name).label for name in ("dawid_skene_ml", "my_own_model")]
    ['Dawid–Skene, ML', 'My own model']
    """
    method = OWN_METHODS.get(name) or _list_all().get(name)
    return method or Method(name=name, summary="a function of yours")


def get_look(name: str) -> Look:
    """Look up how a method looks in figures."""
    return get_method(name).look or Look(name)


def find_method(method: MethodLike) -> Method:
    """Find a method as `find_methods` does."""
    if isinstance(method, str) and method in OWN_METHODS:
        return OWN_METHODS[method]
    if isinstance(method, Method):
        return method
    if names_function(method):
        function, source_hash = load_function(str(method))
        return _wrap_function(function, str(method), source_hash)
    if callable(method) and not isinstance(method, type):
        return _wrap_function(method, f"the function {getattr(method, '__name__', method)}")
    return find("method", str(method), _list_all())


def describe_methods(*able: str) -> dict[str, str]:
    """Give the methods that give one of these, as `list_methods` takes it, and what each does."""
    return {x.name: x.summary for name in able for x in list_methods(name).values()}


@show_if_long()
def label(ratings: Ratings, method: str | None = None, *, seed: int = 1) -> SoftLabels:
    """Label items: the probability of each category of each of them.

    By default each rater has a confusion matrix, which is drawn toward those of the others
    ("dawid_skene_vb"): of these models, it has the smallest error on public crowds that are left
    out. Models of raters who err independently are far too sure where raters make the same
    errors, so that probabilities by variational Bayes are tempered by powers, which fall with an
    item's ratings and their correlation, as learned on these crowds; which category is most
    probable stays as it is.

    Parameters
    ----------
    ratings : Ratings
        With or without systems. Only Bayesian models and those by maximum likelihood use the
        system's answers, as those of one more rater. Gold labels of some items are used as data,
        except by the algebra.
    method : str, optional
        "majority" and "dawid_skene_vb", by variational Bayes; "algebraic"; or a latent-class model
        by maximum likelihood, as "dawid_skene_ml", or Bayesian, as "dawid_skene". By default
        "dawid_skene_vb", and "majority" if it is unknown who gave which rating.
    seed : int
        Of what is sampled: the same seed gives the same numbers.

    Returns
    -------
    SoftLabels

    Raises
    ------
    InputError
        If no such method labels, if there are not two raters, two categories and an item rated
        by two raters, or if it is unknown who gave which rating in a model in which raters differ.

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> labels = label(load_dataset("lehner_table2"))
    >>> labels.method, labels.find_most_probable()[0]
    ('dawid_skene_vb', ('C',))
    """
    require_pairs(ratings)
    if method is None:
        method = labelling.ANONYMOUS_DEFAULT if ratings.anonymous else labelling.DEFAULT
    found = find("method", method, list_methods("items"))
    draws = found.functions["items"](ratings, seed=seed)
    draws = replace(draws, warnings=(*warn_of_raters(ratings), *draws.warnings))
    uses_system = "answers" in found.takes and ratings.system is not None
    return labelling.make_labels(draws, ratings, method, uses_system=uses_system)


def _wrap_function(function: Callable[..., Estimate], what: str, source_hash: str = "") -> Method:
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        remedy = "define it with def, or give a lehner.Method with its name"
        raise InputError(f"{what} has no name", remedy)
    if name in MODELS or name in OWN_METHODS:
        raise InputError(f"{what} has the name of a method of lehner", "rename it")
    if not source_hash:
        source = repr(function)
        with suppress(InputError):
            source = write_source(function)
        source_hash = hashlib.sha256(source.encode()).hexdigest()

    def fit(ratings: Ratings, *, level: float, seed: int) -> Estimate:
        result = call(function, ratings, level=level, seed=seed)
        if not isinstance(result, Estimate):
            kind = type(result).__name__
            raise WrongTypeError(f"{what} returned a {kind}", "return a lehner.Estimate")
        return replace(result, method=name, system=result.system or ratings.systems[0])

    summary = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).rstrip(".")
    return Method(name=name, summary=summary or what, fit=fit, source_hash=source_hash)


def call(function: Callable[..., Any], ratings: Ratings, **options: Any) -> Any:
    """Call a function with those of the options that it takes."""
    parameters = inspect.signature(function).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        options = {name: value for name, value in options.items() if name in parameters}
    return function(ratings, **options)


@cache
def _list_packages() -> tuple[EntryPoint, ...]:
    """Look the entry points up once: which packages are installed does not change."""
    return tuple(entry_points(group=ENTRY_POINTS))


def _make_algebra(
    name: str, aggregation: Aggregation, summary: str, look: Look, **functions: Callable[..., Any]
) -> Method:
    """Make a version of the algebra."""
    joint = partial(bootstrap_systems, method=name)
    return Method(
        name=name,
        summary=f"Lehner's algebra{summary}",
        fit=partial(estimate_algebraic, aggregation=aggregation),
        look=look,
        assumes=INDEPENDENT,
        takes=frozenset({"interval", "resamples"}),
        functions={"parameters": resample_algebra, "systems": joint, **functions},
    )


def _make_likelihood(name: str, model: str) -> Method:
    """Make the method of a latent-class model by maximum likelihood."""
    declared = LATENT_CLASS_MODELS[model]
    by_group = partial(call, group_by_likelihood, model=model)
    label = f"{Look(model, declared.label).label}, ML"
    return Method(
        name=name,
        summary=f"{declared.summary}, by maximum likelihood",
        fit=partial(estimate_latent_class, model=model),
        look=Look(name, label, declared.color, declared.marker, filled=False),
        assumes=INDEPENDENT,
        takes=frozenset({"interval", "resamples", "restarts", "answers"}),
        functions={
            "groups": by_group,
            "populations": by_group,
            "systems": partial(bootstrap_systems, method=model),
            "items": partial(labelling.infer_by_likelihood, model),
        },
    )


def _list_own_methods() -> list[Method]:
    """List the methods of lehner itself."""
    return [
        Method(
            name="majority",
            summary="the majority of the raters is taken for the truth",
            functions={
                "populations": group_by_majority,
                "items": partial(labelling.infer_by_mean_field, "majority"),
            },
        ),
        Method(
            name="dawid_skene_vb",
            summary="confusion matrices of raters from a population of raters, variational Bayes",
            functions={"items": partial(labelling.infer_by_mean_field, "dawid_skene_vb")},
        ),
        Method(
            name="majority_agreement",
            summary="how often the system agrees with the majority of the raters",
            fit=partial(call, majority_agreement),
            look=Look("majority_agreement", color="#4d4d4d", marker="X"),
            assumes="the majority is right",
            functions={
                "parameters": replicates.count_by_majority,
                "systems": partial(bootstrap_systems, method="majority_agreement"),
            },
        ),
        Method(
            name=replicates.BY_REFERENCE,
            summary="one rater is a reference whose sensitivity and specificity are known",
            look=Look(replicates.BY_REFERENCE, "Imperfect reference", "#8c510a", "D"),
            assumes=replicates.AS_GIVEN,
            takes=frozenset({"reference"}),
            functions={"reference": replicates.estimate_by_reference},
            questions={"reference": replicates.ask_reference},
        ),
        _make_algebra(
            "algebraic",
            "weighted",
            "; items whose truth is clearer weigh more in its last step",
            Look("algebraic", color="#0072b2", marker="o"),
            groups=partial(call, group_by_algebra),
            items=labelling.infer_by_algebra,
        ),
        _make_algebra(
            "algebraic_paper",
            "paper",
            ", its last step in bins as in the paper; its bias does not vanish with many items",
            Look("algebraic_paper", "Algebraic, paper", "#253b6e", "p"),
        ),
        Method(
            name="learned_prior",
            summary="agreement with the majority, and what it meant on crowds with gold labels",
            fit=partial(call, estimate_learned_prior),
            look=Look("learned_prior", color="#6000e4", marker="h"),
            assumes="",
            takes=frozenset({"truths", "system_is", "raters_are", "priors"}),
            functions={"systems": compare_learned_prior},
        ),
        *(_make_likelihood(name, model) for name, model in LIKELIHOOD_METHODS.items()),
        *(
            Method(name=x, summary=way.summary, functions={"judge": partial(estimate_judged, x)})
            for x, way in JUDGED_BY.items()
        ),
    ]


# The methods of lehner itself by name.
OWN_METHODS = {method.name: method for method in _list_own_methods()}
