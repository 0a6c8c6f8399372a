"""What methods do by default: results of other defaults are results of another method.

Ids of methods, and so seeds, depend on the options in a study only (`experiments.study.identity`).
What the options leave to defaults is kept beside the results, and compared before a study goes on.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import lehner
from experiments.study.definition import Study
from experiments.study.identity import method_id
from experiments.study.options import MethodChoice
from lehner import Scenario
from lehner.empirical_prior.prior import SHIPPED
from lehner.estimation.methods import ALGEBRAIC
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS

SCENARIOS = "scenarios"
CHANGE_NO_NUMBER = (
    "level",  # is in the id of a method
    "seed",
    "cores",
    "progressbar",
    "log_likelihood",
    "checks",
)
WITHOUT_OPTIONS: dict[str, Callable[..., Any]] = {
    "majority_agreement": lehner.majority_agreement,
    "mean_posterior": lehner.mean_posterior,
}

type Defaults = dict[str, dict[str, Any]]


def study_defaults(study: Study) -> Defaults:
    """Defaults that scenarios and methods of a study have.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict
        By id of a method, and "scenarios": values by name, as JSON has them.

    Examples
    --------
    >>> from experiments.study.definition import read_study
    >>> found = study_defaults(read_study("sample_size"))
    >>> found["scenarios"]["n_categories"]
    5
    """
    found = {SCENARIOS: asdict(Scenario())}
    found |= {method_id(one, study.level): method_defaults(one) for one in study.methods}
    return dict(json.loads(json.dumps(found)))


def method_defaults(choice: MethodChoice) -> dict[str, Any]:
    """Defaults of a method's options that a study does not give, and all its priors.

    Parameters
    ----------
    choice : MethodChoice

    Returns
    -------
    dict
        Priors have names such as "priors.base_rates".
    """
    given = dict(choice.options)
    if choice.code is not None:
        return {}  # Its text is in its id.
    if choice.method in MODELS:
        return _of_model(choice.method, given)
    if choice.method in ALGEBRAIC:
        aggregation = ALGEBRAIC[choice.method]
        return _of_function(lehner.estimate_algebraic, given) | {"aggregation": aggregation}
    if choice.method in LIKELIHOOD_METHODS:
        model = LIKELIHOOD_METHODS[choice.method]
        return _of_function(lehner.estimate_latent_class, given) | {"model": model}
    if choice.method == "calibrated":
        shipped = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
        return _of_function(lehner.estimate_calibrated, given) | {"priors": shipped}
    function = WITHOUT_OPTIONS.get(choice.method)
    return {} if function is None else _of_function(function, given)


def changed_defaults(before: Mapping[str, Any], study: Study) -> list[str]:
    """Defaults of a study that differ from those that its stored results have.

    Parameters
    ----------
    before : mapping
        As `study_defaults` gave them when results were stored.
    study : Study

    Returns
    -------
    list of str
        For each such default its method, its name and both values.
    """
    names = {method_id(one, study.level): one.label for one in study.methods}
    names[SCENARIOS] = SCENARIOS
    now, changed = study_defaults(study), []
    for key, name in names.items():
        earlier = before.get(key, {})
        for option, value in now[key].items():
            # A default that was not there is that of an option that is new.
            if earlier.get(option, value) != value:
                changed.append(
                    f"the results of {name} were computed with the default {option} = "
                    f"{json.dumps(earlier[option])}, which is {json.dumps(value)} now"
                )
    return changed


def _of_function(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty and name not in (*CHANGE_NO_NUMBER, *given)
    }


def _of_model(model: str, given: Mapping[str, Any]) -> dict[str, Any]:
    # Loading these takes longer than a fit.
    import bayes_models
    from bayes_models.models.families import FAMILIES
    from bayes_models.models.priors import priors_as_json
    from bayes_models.sampling.fit import FOR_STUDIES

    options = _of_function(bayes_models.fit, given)
    options |= {name: FOR_STUDIES[name] for name in options.keys() & FOR_STUDIES.keys()}
    options.pop("priors", None)
    options["version"] = bayes_models.find_model(model).version
    for name, prior in json.loads(priors_as_json(model, given.get("priors"))).items():
        if isinstance(prior, str):
            # What such a name stands for, said for two categories.
            prior = FAMILIES["dirichlet"].numbers(name, prior, (2, 2)).tolist()
        options[f"priors.{name}"] = prior
    return options
