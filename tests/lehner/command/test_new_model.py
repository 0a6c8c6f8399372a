"""What is added: a toy model is fitted, judged and studied; priors are trained."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_models
from bayes_models import MODELS, build_model, identify, models
from bayes_models.sampling import nuts
from bayes_models.sampling.nuts import compile_model
from lehner import (
    Given,
    InputError,
    Ratings,
    Scenario,
    estimate,
    fit_latent_class,
    read_ratings,
    simulate,
)
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.empirical_prior.designs import draw_outcomes
from lehner.empirical_prior.prior import format_priors, read_priors, train_priors
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
    assert (report.model, report.parameters) == (NAME, same.parameters)
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


# Priors trained on a folder of crowds: the file, its families, and what is refused.


def make_crowd(seed, n_items=60, skills=(0.55, 0.6, 0.7, 0.8, 0.9)):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    right = rng.random((n_items, len(skills))) < skills
    names = [f"w{j}" for j in range(len(skills))]
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    return Ratings(codes, ["no", "yes"], names, truth=truth)


def write_crowds(folder):
    """Write two crowds of one family, one in Parquet, and two crowds of their own families."""
    for seed, name in enumerate(("study/a.csv", "study/b.parquet", "c.csv", "d.csv")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = make_crowd(seed).to_wide()
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    (folder / "README.md").write_text("Not a crowd.")
    return folder


def test_priors_are_those_of_the_crowds_dealt_by_family(run, tmp_path):
    folder, file = write_crowds(tmp_path / "crowds"), tmp_path / "new" / "priors.json"
    code, out, err = run("train-prior", folder, "--output", file, "--seed", 3)
    assert code == 0, err
    assert f"--priors {file}" in err
    outcomes = pd.concat(
        draw_outcomes(name, name.split("/")[0], make_crowd(seed), 3)
        for seed, name in ((2, "c.csv"), (3, "d.csv"), (0, "study/a.csv"), (1, "study/b.parquet"))
    )
    assert file.read_text() == format_priors({"people": train_priors(outcomes)})
    assert len(file.read_text().splitlines()) == 8
    prior = read_priors(file)["people"]["unknown"]
    assert (prior.families, prior.n_crowds) == (["c.csv", "d.csv", "study"], 4)
    assert out == (
        f"Trained on 4 crowds of 3 families, from which {len(outcomes)} data sets were drawn "
        "with seed 3.\n"
    )
    ratings = make_crowd(9).with_truth(None).with_system("w4")
    result = estimate(ratings, ["learned_prior"], given=Given(priors=file, system_is="better"))
    assert "learned on 4 crowds of your own" in result.sentence()


def test_a_system_is_a_rater_and_counted_rows_are_items(run, tmp_path):
    folder = write_crowds(tmp_path / "crowds")
    run("train-prior", folder, "--output", tmp_path / "one.json")
    table = pd.read_csv(folder / "c.csv")
    table.rename(columns={"w4": "system", "truth": "gold"}).to_csv(folder / "c.csv", index=False)
    assert "system" in read_ratings(folder / "c.csv", truth="gold").systems
    for name in ("d.csv", "study/a.csv"):
        pd.read_csv(folder / name).rename(columns={"truth": "gold"}).to_csv(
            folder / name, index=False
        )
    parquet = folder / "study" / "b.parquet"
    pd.read_parquet(parquet).rename(columns={"truth": "gold"}).to_parquet(parquet)
    code, _, err = run("train-prior", folder, "--output", tmp_path / "two.json", "--truth", "gold")
    assert code == 0, err
    first, two = (
        read_priors(tmp_path / f"{name}.json")["people"]["like"] for name in ("one", "two")
    )
    assert (first.n_data_sets, first.families) == (two.n_data_sets, two.families)
    grouped = pd.read_csv(folder / "d.csv")[["w0", "w1", "w2", "w3", "w4", "gold"]]
    grouped.value_counts().reset_index().to_csv(folder / "d.csv", index=False)
    code, _, err = run("train-prior", folder, "--output", tmp_path / "3.json", "--truth", "gold")
    assert code == 0, err
    assert read_priors(tmp_path / "3.json")["people"]["like"].n_data_sets == first.n_data_sets


def refused(run, folder, said):
    file = folder.parent / "priors.json"
    code, out, err = run("train-prior", folder, "--output", file)
    assert (code, out) == (2, "")
    assert said in err
    assert not file.exists()


def test_what_cannot_be_trained_on_is_said(run, tmp_path):
    folder = tmp_path / "crowds"
    refused(run, folder, "crowds: there is no folder")
    folder.mkdir()
    refused(run, folder, "crowds: there are no ratings files in it")
    write_crowds(folder)
    (folder / "d.csv").unlink()
    refused(run, folder, "crowds: the crowds are of 2 families; give crowds of 3 families")
    make_crowd(1, n_items=20).to_wide().to_csv(folder / "e.csv", index=False)
    refused(run, folder, "e.csv: no rater has 30 items with a gold label that two others rated")
    make_crowd(1).with_truth(None).to_wide().to_csv(folder / "e.csv", index=False)
    refused(run, folder, "e.csv: there are no gold labels; name their column by --truth")
    (folder / "e.csv").write_text("item,truth\n")
    refused(run, folder, "e.csv")
