"""Special cases of a model, by its compiled functions: PyMC's density, whatever data and priors."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest

from bayes_models import find_model, observe
from bayes_models.models.priors import choose_priors
from bayes_models.sampling import compiled
from bayes_models.sampling import special_case as special
from bayes_models.sampling.compiled import compile_model, load_model
from bayes_models.sampling.density_check import why_wrong
from bayes_models.sampling.kept_models import find_kept, keep
from bayes_models.sampling.special_case import general_case
from lehner import Scenario, simulate

SLOPE = {"system_slope": (2.0, 0.5)}
OF_RELAXED_K = [
    "k_properties",
    "unequal_raters",
    "unequal_errors",
    "unequal_difficulty",
    {"rater_spread": 0, "distance_decay": 0, "system_log_odds": (0.4, 2.0)},
]
OTHER_SLOPE = SLOPE | {"system_error_spread": 0}


def simulated(seed, n_items):
    accuracy = (0.5, 0.6, 0.7)
    return simulate(
        Scenario(n_items=n_items, n_categories=3, initial_rater_accuracy=accuracy), seed
    )


def rated(seed=1, n_items=30):
    """Ratings of the shape of which `test_calibration` compiles these models, too."""
    return observe(simulated(seed, n_items))


def ordered(seed=1, n_items=30, groups=False):
    """Ratings that use all priors: ordered categories, a system, populations, groups of raters."""
    drawn = simulated(seed, n_items)
    data = type(drawn)(drawn.flat, [1, 2, 3], drawn.raters, ordered=True, system=drawn.system)
    if groups:
        data = data.with_rater_groups(dict(zip(data.raters, "xxy", strict=True)))
        data = data.with_populations(np.arange(data.n_rows) % 2)
    return observe(data)


def of_pymc(name, priors, observed, others):
    """The model as PyMC builds it; the density, compiled with others, of its data and priors."""
    used = compile_model(name, others, priors)
    model = find_model(name).build(observed, priors)
    numbers = {key: one.of(used.priors[one.variable]) for key, one in used.prior_numbers.items()}
    data = {key: model[key].get_value() for key in used.data} | numbers
    arrays = {
        key: np.array(data.get(key, old), old.dtype) for key, old in used.density.data.items()
    }
    return model, replace(used.density, data=arrays)


def compilations(monkeypatch):
    """The variables of each model that is compiled from now on."""
    models = []
    compile_density = compiled.compile_density

    def counted(model):
        models.append(sorted(variable.name for variable in model.free_RVs))
        return compile_density(model)

    monkeypatch.setattr(compiled, "compile_density", counted)
    return models


@pytest.mark.parametrize(
    "priors", [None, "flat", {"base_rates": [1, 2, 3], "system_log_odds": (0.4, 2.0)}]
)
def test_one_coin_is_one_coin_by_rater_without_a_spread(priors, monkeypatch):
    compile_model("one_coin_by_rater", rated())
    compiled_now = compilations(monkeypatch)
    model, density = of_pymc("one_coin", priors, rated(seed=2, n_items=50), rated())
    assert why_wrong(density, model) == "" and not compiled_now
    assert density.n_parameters == 4 and "rater_log_odds" in density.shapes
    wrong = replace(density, constant=density.constant + 1e-4)
    assert why_wrong(wrong, model) == "the density of the C functions is not PyMC's"


def test_a_special_case_is_kept_on_disk_when_the_general_model_was_read_from_there(
    monkeypatch, tmp_path
):
    general = compile_model("one_coin_by_rater", rated())
    monkeypatch.setenv("LEHNER_CACHE", str(tmp_path))
    keep(compiled._without_data(general, rated()), "general")
    again = find_kept("general").density
    monkeypatch.setattr(compiled, "_compiled", {})
    monkeypatch.setattr(compiled, "compile_density", lambda model: again)
    compile_model("one_coin", rated())
    monkeypatch.setattr(compiled, "_compiled", {})
    assert load_model("one_coin", rated())
    model, density = of_pymc("one_coin", None, rated(seed=3), rated())
    assert why_wrong(density, model) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "groups", "compiled_with", "cases"),
    [
        ("relaxed_k", True, None, OF_RELAXED_K),
        ("relaxed_k", False, SLOPE, [OTHER_SLOPE]),
        ("one_coin_by_rater", False, None, [{"rater_spread": 0}]),
    ],
)
def test_a_model_whose_spreads_are_fixed_is_that_model_with_fewer_parameters(
    name, groups, compiled_with, cases, monkeypatch
):
    compile_model("one_coin_by_rater", ordered(groups=groups))
    compile_model(name, ordered(groups=groups), compiled_with)
    compiled_now = compilations(monkeypatch)
    for priors in cases:
        observed = ordered(seed=2, n_items=50, groups=groups)
        model, density = of_pymc(name, priors, observed, ordered(groups=groups))
        assert why_wrong(density, model) == ""
    assert not compiled_now


def test_only_what_differs_by_spreads_of_zero_is_a_special_case():
    def general(name, priors=None, observed=None):
        found = general_case(name, observed or ordered(), choose_priors(name, priors))
        return found and found[0]

    assert general("one_coin") == general("one_coin", "flat") == "one_coin_by_rater"
    # `one_coin` does not know of groups of raters.
    assert general("one_coin", observed=ordered(groups=True)) is None
    assert general("one_coin", {"rater_log_odds": pm.Normal.dist(0, 1)}) is None
    assert general("relaxed_k") is general("one_coin_by_rater") is general("dawid_skene") is None
    for name in ("relaxed_k", "one_coin_by_rater"):
        assert general(name, {"rater_spread": 0.0}) == name
    by_set = {priors: general("relaxed_k", priors) for priors in find_model("relaxed_k").priors}
    assert by_set == {
        "default": None,
        "k_properties": "one_coin_by_rater",
        "unequal_raters": "one_coin_by_rater",
        "unequal_errors": "relaxed_k",
        "unequal_difficulty": "relaxed_k",
    }
    _, priors = general_case("relaxed_k", ordered(), choose_priors("relaxed_k", OTHER_SLOPE))
    assert priors == choose_priors("relaxed_k", SLOPE)


def test_what_does_not_have_the_density_of_pymc_is_compiled_itself(monkeypatch, caplog):
    compile_model("one_coin_by_rater", rated())
    monkeypatch.setattr(special, "_without_effects", lambda general: np.ones(general.n_parameters))
    monkeypatch.setattr(compiled, "compile_density", lambda model: model)
    model = find_model("one_coin").build(rated())
    priors = choose_priors("one_coin")
    assert compiled._density("one_coin", rated(), priors, model) is model
    assert "one_coin: compiled itself, not as one_coin_by_rater: the density" in caplog.text
