"""The registry of methods: each has a name, and estimates the system's accuracy or labels items."""

import hashlib
import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lehner.core.errors import InputError, find
from lehner.core.estimate import Estimate, Replicates
from lehner.core.lazy import load, load_function, names_function
from lehner.data.estimable import require_pairs
from lehner.data.ratings import Ratings
from lehner.interrater.doubts import warn_of_raters
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS
from lehner.performance.replicates import own_replicates

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from lehner.labels.label import SoftLabels

labelling = load("lehner.labels.label")

# Group of entry points by which packages bring methods: functions that return some of `Method`.
ENTRY_POINTS = "lehner.methods"
DEFAULT_METHODS = ("calibrated", "majority_agreement", "algebraic", "dawid_skene", "relaxed_k")
# What the algebra and latent-class models assume of raters and system, given the true category.
INDEPENDENT = "errors are independent"
# Options that some method must take.
NEEDED = ("earlier_studies", "model_priors", "dependent_pair")
# Fields of `Method` that `methods.toml` names.
FUNCTIONS = "estimate replicates by_group by_population joint_draws base_rates labels".split()

# A function `(ratings, *, level, seed)` that estimates the accuracy of the system; the same seed
# gives the same numbers.
type Estimator = Callable[..., Estimate]


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
    has_draws : bool
        Whether an estimate has posterior draws.
    allows_correlated_errors : bool
        Whether its interval is meant to cover though the errors of raters and system are
        correlated.
    takes : frozenset of str
        What it takes beside ratings: "dependent_pair" (see `Ratings.with_dependent_pair`), "truths"
        (gold labels are part of the estimate, so that nothing corrects it by them), and keywords of
        `estimate`: those of studies, as "resamples"; and those of `lehner.estimate`, which
        `joint_draws` gets, too: "earlier_studies" (as its prior), "model_priors", "system_is",
        "priors" and "shortly" (whether there are many fits). "in_study" asks for a fit of a study,
        which takes the options of a sampler.
    assumes : str
        What its estimate rests on, to be read after "if"; empty if that is not one thing.
    replicates : callable
        A function of the keywords ratings, estimate, resamples and seed that returns the
        `Replicates` from which measures are computed, or None; by default those that the estimate
        has.
    by_group, by_population : callable, optional
        Functions of the keywords ratings, with populations, estimate and seed that return
        `GroupDraws`, or None.
    joint_draws : callable, optional
        A function `(estimates, ratings, *, level, seed, do_all)` that returns the `JointDraws` of
        several systems, or None.
    base_rates : callable, optional
        A function `(ratings, *, seed)` that returns the `BaseRates` of ratings without a system.
    labels : callable, optional
        A function `(ratings, *, seed)` that returns the `SoftLabels` of ratings with or without a
        system.
    questions : mapping of str to callable
        Questions that only this method answers, see `lehner.estimation.questions`.
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
    has_draws: bool = False
    allows_correlated_errors: bool = False
    takes: frozenset[str] = frozenset()
    assumes: str = ""
    replicates: Callable[..., Replicates | None] = own_replicates
    by_group: Callable[..., Any] | None = None
    by_population: Callable[..., Any] | None = None
    joint_draws: Callable[..., Any] | None = None
    base_rates: Callable[..., Any] | None = None
    labels: Callable[..., Any] | None = None
    questions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    made: bool = False
    source_hash: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))


# A method's name, a method, an estimate that there is already, or a user's function, as itself
# or as the text "file.py:function".
type MethodLike = str | Method | Estimate | Callable[..., Estimate]


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
    methods : str, Method, Estimate, callable, or several of these
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
        for method in list_methods().values() if every else [find_method(wanted)]:
            if by_name.setdefault(method.name, method).source_hash != method.source_hash:
                raise InputError(f"two methods are called {method.name!r}", "rename one of them")
    return list(by_name.values())


def choose_methods(
    methods: MethodLike | Iterable[MethodLike], options: Mapping[str, Any], level: float, seed: int
) -> list[Method]:
    """Find methods, and give each those of the options that it takes.

    Parameters
    ----------
    methods : str, Method, Estimate, callable, or several of these
        As `find_methods` takes them.
    options : mapping of str to object
        By the name in `Method.takes`.
    level, seed
        What each method gets.

    Returns
    -------
    list of Method
        Whose `estimate` and `joint_draws` need no keywords.

    Raises
    ------
    InputError
        As `find_methods` does, or if no method takes an option that some method must take.
    """
    selected = find_methods(methods)
    for option in NEEDED:
        if options[option] and not any(option in method.takes for method in selected):
            able = [method.name for method in list_methods().values() if option in method.takes]
            what = option.replace("_", " ")
            raise InputError(f"no method takes {what}", f"add {' or '.join(able)}")
    bound = []
    for method in selected:
        # The dependent pair is a part of the ratings.
        names = method.takes & options.keys() - {"dependent_pair"}
        asked = {"level": level, "seed": seed} | {name: options[name] for name in names}
        joint = method.joint_draws and partial(method.joint_draws, **asked)
        bound.append(replace(method, estimate=partial(method.estimate, **asked), joint_draws=joint))
    return bound


def get_method(name: str) -> Method:
    """Look up the method of an estimate; of one that nobody registered little is known.

    Packages are loaded only if need be.

    Examples
    --------
    >>> get_method("dawid_skene_ml").label, get_method("my_own_model").label
    ('Dawid–Skene, ML', 'my own model')
    """
    method = OWN_METHODS.get(name) or list_methods().get(name)
    return method or Method(name=name, summary="a function of yours", estimate=_refuse)


def _refuse(*_: Any, **__: Any) -> Estimate:
    raise InputError("this method is not registered", "give the function itself")


def find_method(method: MethodLike) -> Method:
    """Find a method as `find_methods` does."""
    if isinstance(method, str) and method in OWN_METHODS:
        return OWN_METHODS[method]
    if isinstance(method, Method):
        return method
    if isinstance(method, Estimate):
        return _wrap_estimate(method)
    if names_function(method):
        function, source_hash = load_function(str(method))
        return _wrap_function(function, str(method), source_hash)
    if callable(method) and not isinstance(method, type):
        return _wrap_function(method, f"the function {getattr(method, '__name__', method)}")
    return find("method", str(method), list_methods())


def label_methods() -> dict[str, str]:
    """Give the methods that can label items, and what each does."""
    own = {name: f"{text}, variational" for name, text in labelling.LABEL_MODELS.items()}
    listed = list_methods().values()
    return own | {method.name: method.summary for method in listed if method.labels is not None}


def label(ratings: Ratings, method: str | None = None, *, seed: int = 1) -> "SoftLabels":
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
    if method in labelling.LABEL_MODELS:
        labels = labelling.label_by_mean_field(ratings, method)
    else:
        find("method", method, label_methods())
        labels = find_method(method).labels(ratings, seed=seed)  # type: ignore[misc]
    return replace(labels, warnings=(*warn_of_raters(ratings), *labels.warnings))


def _wrap_estimate(made: Estimate) -> Method:
    """Make the method that gives this estimate; one that nobody registered gives what it has."""

    def estimate(ratings: Ratings, **_: Any) -> Estimate:
        (system,) = ratings.systems
        if system != made.system:
            problem = f"the estimate is of {made.system!r}, and the system is {system!r}"
            raise InputError(problem, "give an estimate of these ratings, or the name of a method")
        return made

    return replace(get_method(made.method), estimate=estimate, made=True)


def _wrap_function(function: Callable[..., Estimate], what: str, source_hash: str = "") -> Method:
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        remedy = "define it with def, or give a lehner.Method with its name"
        raise InputError(f"{what} has no name", remedy)
    if name in MODELS or name in OWN_METHODS:
        raise InputError(f"{what} has the name of a method of lehner", "rename it")
    if not source_hash:
        source = repr(function)
        with suppress(OSError, TypeError):
            source = inspect.getsource(function)
        source_hash = hashlib.sha256(source.encode()).hexdigest()

    def estimate(ratings: Ratings, *, level: float, seed: int) -> Estimate:
        result = function(ratings, **_take(function, {"level": level, "seed": seed}))
        if not isinstance(result, Estimate):
            kind = type(result).__name__
            raise InputError(f"{what} returned a {kind}", "return a lehner.Estimate")
        return replace(result, method=name)

    summary = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).rstrip(".")
    return Method(name=name, summary=summary or what, estimate=estimate, source_hash=source_hash)


def _take(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Give those of the options that a function takes."""
    parameters = inspect.signature(function).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return {name: value for name, value in options.items() if takes_all or name in parameters}


@cache
def _list_packages() -> "tuple[EntryPoint, ...]":
    """Look the entry points up once: which packages are installed does not change."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINTS))


def _call(place: str, bound: Mapping[str, Any], *values: Any, **options: Any) -> Any:
    """Load the function that a text such as "module:function" names, and call it."""
    module, _, name = place.partition(":")
    function = getattr(import_module(module), name)
    return function(*values, **_take(function, {**bound, **options}))


def _make_method(name: str, row: Mapping[str, Any], **bound: Any) -> Method:
    """Make a method of a table of `methods.toml`; its functions may take the method's name."""
    bound = {"method": name, **row.get("options", {}), **bound}
    fields = {key: value for key, value in row.items() if key != "options"}
    fields |= {key: partial(_call, row[key], bound) for key in FUNCTIONS if key in row}
    return Method(name=name, **fields | {"takes": frozenset(row.get("takes", ()))})


def _list_own_methods() -> dict[str, Method]:
    """List the methods of `methods.toml`, and each model by maximum likelihood."""
    file = Path(__file__).with_name("methods.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    by_likelihood, methods = tables["all"] | tables["maximum_likelihood"], dict[str, Method]()
    for family in tables.values():
        for name, row in family.pop("methods", {}).items():
            methods[name] = _make_method(name, tables["all"] | family | row)
    for name, model in LIKELIHOOD_METHODS.items():
        about = MODELS[model]
        row = by_likelihood | {
            "summary": f"{about.summary}, by maximum likelihood",
            "label": f"{about.label}, ML",
            "color": about.color,
            "marker": about.marker,
        }
        methods[name] = _make_method(name, row, model=model)
    return methods


# The methods of lehner itself by name.
OWN_METHODS = _list_own_methods()
