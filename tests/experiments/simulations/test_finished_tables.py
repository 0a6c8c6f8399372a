"""What documentation says of tables that are kept of finished simulations stands in them."""

from pathlib import Path

import pandas as pd
import pytest

from experiments import simulations


def read(name):
    return pd.read_csv(Path(simulations.__file__).with_name(f"{name}.csv"))


def test_in_the_kept_table_intervals_hold_with_clusters_and_not_without():
    table = read("clustered_items")
    expected = table[table["quantity"] != "system_accuracy_in_sample"]
    assert expected[expected["cluster"]].groupby("method")["coverage"].mean().min() > 0.86
    assert expected.query("cluster")["coverage"].min() >= 0.8
    worst = expected.query("not cluster and correlation == .6 and size == 20")
    assert worst["coverage"].max() < 0.6


def test_the_kept_table_of_compared_groups():
    table = read("compare")
    model = table[table.method == "dawid_skene"]
    is_assumed = model.process == "as assumed"
    assumed = model[is_assumed].groupby("quantity")
    coverage = assumed.coverage.mean()
    assert 0.87 <= coverage["proportion"] <= 0.96 and 0.85 <= coverage["difference"] <= 0.95
    assert assumed.bias.mean()["false best"] < 0.15
    assert assumed.bias.mean()["raters-differ"] < 0.05
    others = model[~is_assumed & model.quantity.eq("proportion")]
    labelled, unknown = (others[others.known == n].groupby("process").coverage for n in (20, 0))
    assert (labelled.mean() > 0.85).all() and (unknown.mean() < labelled.mean()).all()


def test_the_kept_table_of_a_dependent_pair_named_rightly_and_wrongly():
    keys = ["copied", "raters", "categories", "method", "quantity", "named"]
    table = read("dependent_pair").set_index(keys)
    named, without = (table.xs(is_named, level="named") for is_named in (True, False))
    right = named.xs(0.35, level="copied")["coverage"]
    assert right.groupby("quantity").mean().min() >= 0.85 and right.min() > 0.75
    assert right.xs("system_accuracy_in_sample", level="quantity").min() >= 0.85
    assert without.xs(0.35, level="copied")["coverage"].mean() < 0.25
    wrong, left_out = (table.xs(0.0, level="copied")["rmse"] for table in (named, without))
    assert (wrong / left_out).max().round(2) <= 1.15


def test_the_kept_table_of_measures_of_scores():
    table = read("scores")
    ours = table[table.method == "scores"]
    assert ours[ours.known > 0].coverage.between(0.88, 0.96).all()
    without = ours[ours.known == 0].set_index("process").coverage
    assert without["independent"].min() >= 0.9
    assert without["misleading"].min() == pytest.approx(0.19)
    places = ["process", "quantity"]
    alone = table[table.method == "gold labels alone"].set_index(places).rmse
    with_truths = ours[ours.known > 0].set_index(places).rmse
    shown = ["auc", "sensitivity", "specificity", "brier_score"]
    ratio = (with_truths / alone).unstack()[shown].stack()
    assert ratio.round(1).min() == 0.4 and ratio.max() < 0.8


def test_the_kept_table_of_recall_and_precision():
    table = read("system_measures").query("quantity in ('recall', 'precision')")
    hold = table["cell"].str.contains("hold")
    assert (table[hold]["coverage"] > 0.85).all()
    assert (table.query("method == 'dawid_skene'")["coverage"] > 0.85).all()
    assert (table[hold & (table["items"] == 1000)]["bias"].abs() < 0.01).all()


def test_in_the_kept_table_of_chosen_labels_the_default_holds_and_a_random_sample_does_not():
    table = read("chosen_labels")
    assert len(table) == 240 and table.groupby("method")["n"].max().min() == 100
    coverage = table.query("method != 'gold labels alone'").groupby(["labels", "method"]).coverage
    low, high = coverage.min(), coverage.max()
    assert low["as by default", "calibrated"] == 0.86 and low["as by default", "algebraic"] == 0.84
    assert low["as a random sample", "calibrated"] == 0.27 and high.max() == 1
    assert low["as a random sample", "algebraic"] == 0.58
    assert low["in the likelihood", "dawid_skene_ml"] == 0.6
