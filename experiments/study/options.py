"""The methods of a study with their options, and what each costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.study.user_code import UserCode, read_code
from lehner.algebra.vote_methods import VOTE_METHODS
from lehner.core.checks import check_choice, check_number, check_whole_number, find, wrong
from lehner.core.user_functions import names_function
from lehner.estimation.methods import ALGEBRAIC, find_method
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS

RESAMPLED = {
    "interval": lambda value: check_choice("interval", value, ("percentile", "bca", "none")),
    "resamples": lambda value: check_whole_number("resamples", value, 1),
}
LIKELIHOOD = {
    "interval": lambda value: check_choice("interval", value, ("percentile", "none")),
    "resamples": RESAMPLED["resamples"],
    "restarts": lambda value: check_whole_number("restarts", value, 0),
}
BAYESIAN = {
    "priors": lambda value: _priors(value),
    "engine": lambda value: check_choice("engine", value, ("nuts", "gibbs")),
    "draws": lambda value: check_whole_number("draws", value, 4),
    "tune": lambda value: check_whole_number("tune", value, 1),
    "chains": lambda value: check_whole_number("chains", value, 1),
    "target_accept": lambda value: check_number("target_accept", value, 0.1, 0.999),
    "tries": lambda value: check_whole_number("tries", value, 1),
    "keep": lambda value: check_whole_number("keep", value, 0),
}


@dataclass(frozen=True, kw_only=True)
class MethodChoice:
    """A method of a study.

    Parameters
    ----------
    method : str
        Name, as in `lehner.estimation.methods.list_methods`.
    label : str
        What it is called in the results: its name, unless given.
    options : tuple of (str, value)
        Of algebraic methods `interval` and `resamples`; of those by maximum likelihood these and
        `restarts`, by default 0; of Bayesian ones `priors`, `engine`,
        `draws`, `tune`, `chains`, `target_accept`, `tries`, as `bayes_models.fit` takes them, and
        `keep`, how many first replicates of each scenario keep their draws.
    code : UserCode, optional
        Of a function of a user's own.
    """

    method: str
    label: str
    options: tuple[tuple[str, Any], ...] = ()
    code: UserCode | None = None

    @property
    def bayesian(self) -> bool:
        """Whether it samples a posterior."""
        return self.method in MODELS and self.code is None

    @property
    def in_batches(self) -> bool:
        """Whether many samples are estimated at once: it needs votes only, and no interval."""
        by_votes = self.method in VOTE_METHODS and self.code is None
        return by_votes and dict(self.options).get("interval", "none") == "none"


def choose_method(choice: Any, folder: Path = Path()) -> MethodChoice:
    """Read a method of a study file.

    Parameters
    ----------
    choice : str or mapping
        Its name, or a table with `name`, options, and perhaps a `label`. A name such as
        "mine.py:estimate" is that of a function of a user's own, which has no options.
    folder : Path
        From which paths of such functions start.

    Returns
    -------
    MethodChoice

    Raises
    ------
    InputError
        If there is no such method or option.

    Examples
    --------
    >>> choose_method({"name": "algebraic", "interval": "none"}).in_batches
    True
    """
    given = {"name": choice} if isinstance(choice, str) else choice
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise wrong("methods", choice, "give a name, or a table with a name and options")
    name = given["name"]
    code = read_code(name, folder) if names_function(name) else None
    if code is not None:
        name = code.function
    else:
        find_method(name)
    label = given.get("label", name)
    if not isinstance(label, str) or not label:
        raise wrong("label", label, "give text in quotes")
    allowed = _allowed(name) if code is None else {}
    options = {key: value for key, value in given.items() if key not in ("name", "label")}
    for key, value in options.items():
        find(f"option of {name} called", key, allowed)(value)
    if "interval" in allowed:
        options.setdefault("interval", "percentile")
    if "restarts" in allowed:
        options.setdefault("restarts", 0)
    return MethodChoice(method=name, label=label, options=tuple(sorted(options.items())), code=code)


def _allowed(name: str) -> Mapping[str, Callable[[Any], Any]]:
    """Options of a method and their checks."""
    if name in MODELS:
        return BAYESIAN
    if name in LIKELIHOOD_METHODS:
        return LIKELIHOOD
    return RESAMPLED if name in ALGEBRAIC else {}


def _priors(value: Any) -> Any:
    if not isinstance(value, (str, Mapping)):
        raise wrong("priors", value, "give the name of a set, or numbers by variable")
    return value
