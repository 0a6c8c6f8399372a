"""The methods of a study with their options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from experiments.study.user_code import UserCode, read_code
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.core.errors import check_choice, check_number, check_whole_number, find, wrong
from lehner.core.user_functions import names_function
from lehner.empirical_prior.prior import SYSTEM_IS
from lehner.estimation.methods import ALGEBRAIC, find_method
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS


def check_text(key: str, value: Any, *, empty: bool = False) -> str:
    """Raise an InputError unless a value is text, and has letters if it may not be empty."""
    if not isinstance(value, str) or not (value.strip() or empty):
        raise wrong(key, value, "give text in quotes")
    return value.strip()


def _check_priors(key: str, value: Any) -> None:
    if not isinstance(value, (str, Mapping)):
        raise wrong(key, value, "give the name of a set, or numbers by variable")


type Checks = Mapping[str, Callable[[str, Any], Any]]
SOME, SOME_OR_NONE = (partial(check_whole_number, least=least) for least in (1, 0))
RESAMPLED: Checks = {
    "interval": partial(check_choice, choices=("percentile", "none")),
    "resamples": SOME,
}
LIKELIHOOD: Checks = {**RESAMPLED, "restarts": SOME_OR_NONE}
BAYESIAN: Checks = {
    "priors": _check_priors,
    "engine": partial(check_choice, choices=("nuts", "gibbs")),
    "draws": partial(check_whole_number, least=4),
    "tune": SOME,
    "chains": SOME,
    "target_accept": partial(check_number, lowest=0.1, highest=0.999),
    "tries": SOME,
    "keep": SOME_OR_NONE,
}
OPTIONS: dict[str, Checks] = (
    dict.fromkeys(ALGEBRAIC, RESAMPLED)
    | dict.fromkeys(LIKELIHOOD_METHODS, LIKELIHOOD)
    | {"calibrated": {"system_is": partial(check_choice, choices=SYSTEM_IS)}}
)
DEFAULTS = {"interval": "percentile", "restarts": 0}
MEANING = {
    "interval": "The bootstrap interval: percentile or none.",
    "resamples": "Number of bootstrap resamples.",
    "restarts": "Number of random starts that search for a higher mode of the likelihood.",
    "system_is": "Whether the system is like its raters, better, or unknown.",
    "priors": "A named set of priors, or a table of numbers by variable; else the model's own.",
    "engine": "The sampler: nuts, or for dawid_skene and pooled also gibbs.",
    "draws": "Draws of each chain that are kept, 4 or more.",
    "tune": "Draws of each chain that come before these.",
    "chains": "Number of chains.",
    "target_accept": "Mean acceptance probability that NUTS aims at, from .1 to .999.",
    "tries": "How often a model is sampled at most, each time longer, if its chains disagree.",
    "keep": "For how many first replicates of each scenario draws are kept, in `fits`.",
}
"""Of options, by name."""


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
        As `OPTIONS` and `BAYESIAN` allow them; `MEANING` says what they are.
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
        """Whether many samples are estimated at once: it needs votes only, and no resamples."""
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
    table = {"name": choice} if isinstance(choice, str) else choice
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise wrong("methods", choice, "give a name, or a table with a name and options")
    options = dict(table)
    name = options.pop("name")
    code = read_code(name, folder) if names_function(name) else None
    name = find_method(name).name if code is None else code.function
    allowed: Checks = {}
    if code is None:
        allowed = BAYESIAN if name in MODELS else OPTIONS.get(name, {})
    label = check_text("label", options.pop("label", name))
    for key, value in options.items():
        find(f"option of {name} called", key, allowed)(key, value)
    options |= {key: value for key, value in DEFAULTS.items() if key in allowed.keys() - options}
    return MethodChoice(method=name, label=label, options=tuple(sorted(options.items())), code=code)
