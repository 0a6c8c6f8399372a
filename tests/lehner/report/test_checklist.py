"""The STARD-BLCM checklist says what was fitted: populations, the pair, priors of each rater."""

import numpy as np
import pytest

import lehner
from lehner.report.checklist import write_checklist

STUDY = {"ana": [[45, 5], [10, 40]]}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(1)
    herd = np.repeat(["north", "south"], 150)
    truth = (rng.random(300) < np.where(herd == "north", 0.2, 0.6)).astype(int)
    right = rng.random((300, 4)) < np.array([0.85, 0.8, 0.75, 0.85])
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    ratings = (
        lehner.Ratings(
            codes[:, :3], ["no", "yes"], ["ana", "ben", "cai"], system=codes[:, 3], systems=["net"]
        )
        .with_populations(herd)
        .replace(cluster=np.arange(300) // 3)
    )
    results = lehner.estimate(
        ratings, "dawid_skene", name="herds", dependent=("cai", "net"), earlier_studies=STUDY
    )
    folder = tmp_path_factory.mktemp("checklist")
    return write_checklist(results, folder, "lehner estimate herds.csv").read_text("utf-8")


def section(page, item):
    return page.split(f"\n## {item} ")[1].split("\n## ")[0]


@pytest.mark.slow
def test_the_model_is_the_one_that_was_fitted(page):
    model = section(page, "14a")
    assert "in which cai and net may share answers" in model
    assert "Each population (north, south) has base rates of its own" in model
    # The equations of independent raters in one population would be those of another model.
    assert "math" not in model and "errors are independent" not in model


@pytest.mark.slow
def test_only_raters_with_an_earlier_study_have_its_counts(page):
    priors = section(page, "14b")
    counts = [line for line in priors.splitlines() if "counts of earlier studies" in line]
    assert counts and all("of ana; no study of others" in line for line in counts)
    assert not any(name in line for line in counts for name in ("ben", "cai", "net"))


@pytest.mark.slow
def test_patients_are_clusters_where_there_are_clusters(page):
    assert "patients are clusters of items, which" in " ".join(page.split())


@pytest.mark.slow
def test_the_prevalence_is_that_of_each_population(page):
    prevalence = section(page, "21")
    assert "north" in prevalence and "south" in prevalence
