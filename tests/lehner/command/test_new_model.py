"""A model that is added is fitted, judged and studied."""

import json
import sys

import pytest
import xarray as xr

import bayes_models
from bayes_models import MODELS, build_model, identify, models
from bayes_models.sampling import nuts
from bayes_models.sampling.nuts import compile_model
from lehner import InputError, Scenario, fit_latent_class, simulate
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.estimation.methods import list_methods
from lehner.latent_class.em import LIKELIHOOD_METHODS, LatentClassModel
from lehner.simulation.draw import POPULATION_METHODS
from tests.rows import one_row
from tests.studies import run_study

NAME = "any_matrix"
# As `dawid_skene`, so that its draws are known.
FILE = '''"""Any confusion matrix for each rater."""

from bayes_models.models.spec import BASE_RATES, OF_A_RATER, ModelSpec, Variable

DIMS = ("rater", "category", "response")
CONFUSION = Variable("confusion", "dirichlet", DIMS, ratings=OF_A_RATER)
SPECS = {
    "any_matrix": ModelSpec(
        confusion=lambda observed, values: values["confusion"],
        variables=(BASE_RATES, CONFUSION),
        priors={
            "diagonal": {"base_rates": 3.0, "confusion": "diagonal"},
            "even": {"base_rates": 2.0, "confusion": 5.0},
        },
        n_parameters=lambda priors, observed: (
            observed.n_categories * (observed.n_categories - 1) * len(observed.raters)
        ),
        conjugate=True,
    )
}
'''
SUMMARY = "any matrix whatever"
SYSTEM = ("--system", "System")
STUDY = """\
name = "toy"
seed = 1
replicates = 3
methods = [
    "algebraic",
    { name = "any_matrix", engine = "gibbs", draws = 200, tune = 50, tries = 1, priors = "even" },
]

[[scenarios]]
name = "all alike"
n_items = 100
"""


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """Put a file among those of the models, and a row into the table."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / f"{NAME}.py").write_text(FILE)
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(folder)])
    monkeypatch.setitem(MODELS, NAME, LatentClassModel(summary=SUMMARY))
    yield
    sys.modules.pop(f"bayes_models.models.{NAME}", None)
    vars(models).pop(NAME, None)


@pytest.fixture
def ratings():
    return simulate(Scenario(n_items=100), 1).with_truth(None)


def test_it_is_fitted(ratings):
    priors = {"base_rates": 2.0, "confusion": 5.0}
    options = {"engine": "gibbs", "seed": 1, "draws": 100, "tries": 1}
    with pytest.warns(bayes_models.ConvergenceWarning):
        tree = bayes_models.fit(NAME, ratings, priors="even", **options)
        same = bayes_models.fit("dawid_skene", ratings, priors=priors, **options)
    xr.testing.assert_equal(tree.posterior.to_dataset(), same.posterior.to_dataset())
    assert tree.attrs["model"] == NAME
    assert json.loads(tree.attrs["priors"]) == priors


def test_what_the_data_can_say_of_it_is_known_before(ratings):
    report, same = (
        identify(NAME, ratings),
        identify("dawid_skene", ratings, {"system_confusion": "diagonal"}),
    )
    assert report.parameters == same.parameters
    # `dawid_skene` has a prior for the system, too.
    assert report.warnings == same.warnings[: len(report.warnings)] != ()
    with pytest.raises(InputError, match=f"set of priors of {NAME} called 'evn'; .* 'even'"):
        identify(NAME, ratings, "evn")
    with pytest.raises(InputError, match=f"it samples {NAME} and dawid_skene: use"):
        bayes_models.fit("one_coin", ratings, engine="gibbs")


def test_the_command_estimates_with_it(run, monkeypatch):
    def build_only(name, observed, priors):
        # What it has of PyMC is built, and a model of the same variables is sampled.
        assert build_model(name, observed, priors).free_RVs
        return compile_model("dawid_skene", observed)

    monkeypatch.setattr(nuts, "compile_pymc_model", build_only)
    code, out, err = run("estimate", "lehner_table2", "--method", NAME, "--json", *SYSTEM)
    estimate = one_row(out, "system_accuracy")
    assert (code, estimate["method"]) == (0, NAME)
    assert 0.4 < estimate["estimate"] < 0.9
    assert f"{NAME}: sampling" in err
    code, _, err = run("estimate", "lehner_table2", "--method", "any_matrx", *SYSTEM)
    assert code == 2 and f"did you mean '{NAME}'?" in err
    assert NAME in list_methods("items")


def test_a_study_compares_it(run, tmp_path):
    study = tmp_path / "toy.toml"
    study.write_text(STUDY)
    result = run_study(study, tmp_path / "out")
    of_toy = result[(result["method"] == NAME) & (result["estimand"] == "system_accuracy")]
    assert len(of_toy) == 3 and (of_toy["status"] != "failed").all()
    assert run("study", "report", tmp_path / "out")[0] == 0
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*.html")]
    assert any(f"{SUMMARY}, Bayesian" in text for text in texts)


def test_a_model_fitted_by_likelihood_leaves_as_much_free_as_sampled():
    ratings = simulate(
        Scenario(n_categories=3, n_items=500, initial_rater_accuracy=(0.6, 0.7, 0.8)), 1
    )
    for method, model in LIKELIHOOD_METHODS.items():
        assert method == f"{model}_ml"
        fitted = fit_latent_class(ratings, model)
        if model in MODELS:
            assert fitted.n_parameters == identify(model, ratings).parameters


def test_no_method_has_the_name_of_another():
    # What the command and population_value both have needs no draws.
    assert set(POPULATION_METHODS) == set(VOTE_METHODS) | set(LIKELIHOOD_METHODS)
    assert set(POPULATION_METHODS) < set(list_methods())
    assert not set(MODELS) & set(POPULATION_METHODS)
