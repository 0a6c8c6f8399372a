"""Systems compared by gold labels alone, without raters."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.metrics import f1_score

import lehner
from lehner import InputError, Ratings
from lehner.contrasts.contrast import trend
from lehner.contrasts.labelled_systems import draw_labelled_systems, draw_tables


def labelled_systems(n=240, n_labelled=240, seed=1, cluster_size=0, n_systems=2):
    """Systems that are right on .9 of the items, with errors of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, n_systems)) < 0.9
    wrong = (truth[:, None] + rng.integers(1, 3, (n, n_systems))) % 3
    return Ratings(
        np.empty((n, 0)),
        ["x", "y", "z"],
        system=np.where(right, truth[:, None], wrong),
        truth=np.where(np.arange(n) < n_labelled, truth, -1),
        cluster=np.arange(n) // cluster_size if cluster_size else None,
    )


def contrast(ratings, quantity="system_accuracy"):
    draws = draw_labelled_systems(ratings, ratings.systems, level=0.9, seed=1)
    return draws.point[quantity] @ [1, -1], draws.drawn[quantity] @ [1, -1]


def test_two_systems_have_the_posterior_of_a_product_of_two_independent_proportions():
    """The share of items on which they differ, and who is right there: both are conjugate."""
    ratings = labelled_systems(400, 60)
    point, drawn = contrast(ratings)
    answers, truth = ratings.answers, ratings.truth
    differ = answers[:, 0] != answers[:, 1]
    counts = np.array(
        [
            ((answers[:, 0] == truth) & differ & (truth >= 0)).sum(),
            ((answers[:, 1] == truth) & differ & (truth >= 0)).sum(),
            (differ & (truth >= 0)).sum(),
        ]
    )
    counts[2] -= counts[:2].sum()
    rng = np.random.default_rng(2)
    share = rng.beta(differ.sum() + 0.5, (~differ).sum() + 0.5, 200_000)
    # The prior would make draws vary less than labels do, as those of two labels more.
    labels = counts / (1 + 2 / counts.sum())
    expected = share * (rng.dirichlet(labels + 0.5, 200_000) @ [1, -1, 0])
    assert point == pytest.approx(differ.mean() * (counts @ [1, -1, 0]) / counts.sum())
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.002)
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx(
        np.quantile(expected, [0.05, 0.95]), abs=0.006
    )


@pytest.mark.parametrize("cluster_size", [0, 4])
def test_many_labels_give_the_usual_interval_of_a_mean_of_differences(cluster_size):
    ratings = labelled_systems(2000, 1600, cluster_size=cluster_size)
    labelled = ratings.truth >= 0
    right = (ratings.answers == ratings.truth[:, None])[labelled].astype(float)
    model = sm.OLS(right @ [1, -1], np.ones(labelled.sum()))
    options = {"cov_type": "HC1"}
    if cluster_size:
        options = {"cov_type": "cluster", "cov_kwds": {"groups": ratings.cluster[labelled]}}
    fitted = model.fit(**options)
    point, drawn = contrast(ratings)
    assert point == pytest.approx(fitted.params[0], abs=0.01)
    assert drawn.std() == pytest.approx(fitted.bse[0], rel=0.12)


def test_all_labels_leave_nothing_open_of_these_items_and_alike_systems_do_not_differ():
    ratings = labelled_systems()
    point, drawn = contrast(ratings, "system_accuracy_in_sample")
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    assert point == pytest.approx(right @ [1, -1]) and np.ptp(drawn) == pytest.approx(0, abs=1e-12)
    twice = ratings.replace(answers=ratings.answers[:, [0, 0]])
    point, drawn = contrast(twice)
    assert point == 0 and not drawn.any()


def test_labels_of_items_on_which_systems_differ_alone_do_not_bias_the_difference():
    """`lehner ask` chooses these: they say nothing of how accurate both systems are."""
    ratings = labelled_systems(4000, 4000)
    differ = np.flatnonzero(ratings.answers[:, 0] != ratings.answers[:, 1])[:100]
    truth = np.full(4000, -1)
    truth[differ] = ratings.truth[differ]
    point, drawn = contrast(ratings.with_truth(truth))
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    assert abs(point - right @ [1, -1]) < 0.03
    assert np.quantile(drawn, 0.05) < right @ [1, -1] < np.quantile(drawn, 0.95)


def test_unequal_probabilities_are_weighed():
    """Of the items that the first system got right, a quarter as many have labels."""
    rng = np.random.default_rng(3)
    ratings = labelled_systems(8000, 8000)
    first_right = ratings.answers[:, 0] == ratings.truth
    chance = np.where(first_right, 0.2, 0.8)
    shown = np.where(rng.random(8000) < chance, ratings.truth, -1)
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0) @ [1, -1]
    unweighted, _ = contrast(ratings.with_truth(shown))
    weighted, drawn = contrast(ratings.with_truth(shown, probability=chance))
    assert abs(weighted - right) < 0.02 < abs(unweighted - right)
    assert np.quantile(drawn, 0.01) < right < np.quantile(drawn, 0.99)


def test_results_have_each_system_every_difference_and_the_ranks():
    ratings = labelled_systems(300, 80, n_systems=3)
    results = lehner.estimate(ratings)
    accuracies = results.select(quantity="system_accuracy")
    alone = lehner.estimate(ratings.select_system(ratings.systems[1]))
    assert len(accuracies) == 3 and len(results.select(quantity="system_accuracy_rank")) == 3
    assert accuracies["estimate"].iloc[1] == alone.value("system_accuracy").estimate
    assert " was estimated at " in alone.sentence() and " from 80 gold labels (" in alone.sentence()
    differences = results.select(quantity="system_accuracy_difference")
    assert len(differences) == 3 and differences["corrected"].all()
    assert (differences["lower"] < differences["upper"]).all()
    assert list(results.fits) == [(name, "gold_labels") for name in ratings.systems]


def test_systems_without_common_labelled_items_have_no_difference():
    ratings = labelled_systems(100, 100)
    answers = ratings.answers.copy()
    answers[:50, 0] = answers[50:, 1] = -1
    apart = ratings.replace(answers=answers)
    differences = lehner.estimate(apart).select(quantity="system_accuracy_difference")
    assert differences["estimate"].isna().all()
    with pytest.raises(InputError, match="no item was answered by all of"):
        draw_labelled_systems(apart, apart.systems, level=0.9, seed=1)
    with pytest.raises(InputError, match="no item that all systems answered has a gold label"):
        contrast(ratings.with_truth(None))


def vendors(systems):
    table = pd.read_csv("docs/data/vendors.csv", dtype=str)
    columns = table[["post", *systems, "gold"]]
    ratings = lehner.read_ratings(columns, item="post", system=systems, truth="gold")
    return ratings, table["month"].rename("month")


def test_by_f1_the_right_vendor_is_first_which_by_accuracy_is_the_last():
    systems = ["Acme", "Bolt", "Civis"]
    ratings, _ = vendors(systems)
    results = lehner.estimate(ratings, by_measure="f1")
    by_accuracy = results.select(quantity="system_accuracy_rank")["system"].tolist()
    ranks = results.select(quantity="f1_rank")
    assert by_accuracy[-1] == "Acme" == ranks["system"].iloc[0]
    assert ranks["probability"].iloc[0] > 0.9 and set(ranks["category"]) == {"bad"}
    truth = ratings.truth
    for code, system in enumerate(systems):
        expected = f1_score(truth, ratings.answers[:, code], pos_label=0)
        value = results.value("f1", system=system, category="bad").estimate
        assert value == pytest.approx(expected)
    difference = results.select(quantity="f1_difference").set_index(["system", "versus"])
    first, second = (results.value("f1", system=x, category="bad").estimate for x in systems[:2])
    assert difference.loc[("Acme", "Bolt"), "estimate"] == pytest.approx(first - second)


def test_a_falling_precision_is_seen_and_a_steady_one_is_not():
    ratings, month = vendors(["Delta", "Flux"])
    asked = {"given": lehner.Given(positive="bad"), "groups": month, "trend": True}
    results = lehner.estimate(ratings, by_measure="precision", **asked)
    trend = results.select(quantity="precision_trend").set_index("system")
    assert trend.loc["Flux", "upper"] < 0 and trend.loc["Flux", "probability"] < 0.05
    assert trend.loc["Delta", "lower"] < 0 < trend.loc["Delta", "upper"]
    assert set(trend["versus"]) == {"2026-01 to 2026-06"}
    points = results.select(quantity="precision", system="Flux", grouping="group")["estimate"]
    assert trend.loc["Flux", "estimate"] == pytest.approx(5 * np.polyfit(range(6), points, 1)[0])
    accuracies = results.select(quantity="system_accuracy_trend")
    assert len(accuracies) == 2 and accuracies["level"].eq(0.9).all()


def test_a_trend_of_two_groups_is_their_difference_and_scatter_widens_it():
    rng = np.random.default_rng(1)
    drawn = rng.normal([0.5, 0.7], 0.05, (4000, 2))
    (row,) = trend("x", ["a", "b"], np.array([0.5, 0.7]), drawn, level=0.9, kind="")
    assert row["estimate"] == pytest.approx(0.2) and row["upper"] < 0.35
    widths = []
    for point in ([0.5, 0.5, 0.5, 0.5], [0.3, 0.7, 0.7, 0.3]):
        drawn = rng.normal(point, 0.05, (4000, 4))
        (row,) = trend("x", list("abcd"), np.array(point), drawn, level=0.9, kind="")
        widths.append(row["upper"] - row["lower"])
    assert row["estimate"] == pytest.approx(0) and widths[1] > 3 * widths[0]


def rated_systems(labels):
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=300)
    codes = np.where(
        rng.random((300, 7)) < [0.8] * 4 + [0.85, 0.7, 0.7], truth[:, None], 1 - truth[:, None]
    )
    systems = codes[:, [4, 5, 6, 4]]
    shown = np.where(np.arange(300) < labels, truth, -1) if labels else None
    return Ratings(codes[:, :4], ["no", "yes"], system=systems, systems=[*"abcd"], truth=shown)


@pytest.mark.parametrize("labels", [0, 60])
def test_raters_give_measures_by_group_and_systems_with_the_same_answers_are_tied(labels):
    ratings = rated_systems(labels)
    groups = np.repeat(["x", "y", "z"], 100)
    asked = {"groups": groups, "by_measure": "recall", "trend": True}
    results = lehner.estimate(ratings, "algebraic", **asked)
    pairs = results.select(quantity="recall_difference", grouping="").set_index(
        ["system", "versus"]
    )
    assert pairs["corrected"].eq(labels > 0).all() and (pairs["lower"] < pairs["upper"]).any()
    first, second = (results.value("recall", system=x, category="yes").estimate for x in "ab")
    assert pairs.loc[("a", "b"), "estimate"] == pytest.approx(first - second, abs=1e-9)
    assert pairs.loc[("a", "d"), "estimate"] == pytest.approx(0, abs=1e-9)
    trends = results.select(quantity="recall_trend")
    assert len(trends) == 4 and (trends["lower"] < trends["upper"]).all()


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"trend": True}, "a trend is over groups"),
        ({"by_measure": "f2"}, "no measure 'f2'"),
        ({"by_measure": "weighted_loss"}, "of ordered categories"),
    ],
)
def test_what_cannot_be_compared_is_said(asked, problem):
    with pytest.raises(InputError, match=problem):
        lehner.estimate(labelled_systems(60, 30), **asked)
    with pytest.raises(InputError, match="nothing to be compared with"):
        lehner.estimate(labelled_systems(60, 30).select_system("system 1"), by_measure="mcc")


def test_a_weighted_loss_is_the_mean_distance_and_the_lowest_is_the_first():
    ratings = labelled_systems(200, 200)
    ratings = ratings.replace(ordered=True)
    results = lehner.estimate(ratings, by_measure="weighted_loss")
    losses = np.abs(ratings.answers - ratings.truth[:, None]).mean(axis=0) / 2
    ranks = results.select(quantity="weighted_loss_rank")["system"].tolist()
    assert ranks[0] == ratings.systems[int(losses.argmin())]
    difference = results.select(quantity="weighted_loss_difference")["estimate"].iloc[0]
    assert difference == pytest.approx(losses @ [1, -1])


def test_groups_are_crossed_and_may_be_what_names_items(run, tmp_path):
    ratings = labelled_systems(120, 120)
    names = np.array(ratings.categories)
    table = pd.DataFrame(names[ratings.answers], columns=["a", "b"])
    table = table.assign(
        item=np.arange(120) // 2, epoch=np.arange(120) % 2, gold=names[ratings.truth]
    )
    table.to_csv(tmp_path / "log.csv", index=False)
    words = ("--system", "a,b", "--truth", "gold", "--item", "item,epoch", "--json")
    code, out, _ = run("estimate", tmp_path / "log.csv", *words, "--group", "epoch,item:30")
    groups = {row["group"] for row in json.loads(out)["rows"] if row["grouping"] == "group"}
    assert code == 0 and {"0, 1: below 30", "1, 2: 30 or more"} <= groups


def test_measures_of_few_labelled_positives_are_open_and_said_to_rest_on_a_prior():
    truth, widths = np.arange(200) % 2, []
    answers = np.c_[truth ^ (np.arange(200) % 5 == 0), truth ^ (np.arange(200) % 7 == 0)]
    ratings = Ratings(np.empty((200, 0)), ["no", "yes"], system=answers)
    for shown in (np.where(np.arange(200) < n, truth, -1) for n in (9, 1)):
        results = lehner.estimate(ratings.with_truth(shown), by_measure="f1")
        assert "few-truths-of-category" in {warning.code for warning in results.warnings}
        widths.append(np.ptp(results.select(quantity="f1_difference")[["lower", "upper"]]))
    assert widths[0] < 0.6 and widths[1] > 1


def test_without_a_positive_label_a_system_has_the_interval_of_its_draws():
    truth = np.repeat([0, 1], [190, 10])
    answers = np.c_[truth ^ (np.arange(200) % 20 == 0), truth]
    shown = np.where(np.arange(200) < 40, truth, -1)
    ratings = Ratings(np.empty((200, 0)), ["no", "yes"], system=answers, truth=shown)
    results = lehner.estimate(ratings)
    for name in ("recall", "precision", "f1"):
        value = results.value(name, system="system 1", category="yes")
        assert value.lower < 0.05 < value.estimate < value.upper
    codes = {warning.code for warning in results.warnings}
    assert {"few-truths-of-category", "ranked-by-accuracy"} <= codes
    assert not any("no rater" in warning.text for warning in results.warnings)
    by_f1 = lehner.estimate(ratings, by_measure="f1")
    assert "ranked-by-accuracy" not in {warning.code for warning in by_f1.warnings}


def test_labels_weigh_by_their_probabilities_and_count_by_the_answers_of_each_system():
    ratings, widths = labelled_systems(240, 60), []
    # Of the items that the first system calls z all have a label of their own probability.
    rare = np.asarray(ratings.answers[:, 0] == 2)
    for chance in (np.full(240, 0.25), np.full(240, 0.5), np.where(rare, 0.9, 0.09)):
        drawn = draw_tables(
            ratings.with_truth(ratings.truth, chance), ratings.systems, level=0.9, seed=1
        )
        recall = drawn.drawn["confusion"][:, 0, 2, 2] * drawn.drawn["base_rates"][:, 0, 2]
        widths.append(np.ptp(np.quantile(recall / rare.mean(), [0.05, 0.95])))
    assert widths[0] == pytest.approx(widths[1], rel=1e-9)
    # Weights are equal within an answer of this system, so that its precision stays as exact.
    assert widths[2] == pytest.approx(widths[0], rel=0.05)


def test_a_change_at_any_time_is_that_of_the_labelled_items_and_rests_on_labels_alone():
    ratings, months = labelled_systems(120, 120), np.repeat(["a", "b", "c"], 40)
    votes = np.repeat(ratings.truth[:, None], 3, axis=1)
    rated = Ratings(votes, ratings.categories, system=ratings.answers, truth=ratings.truth)
    for each in (ratings, rated):
        results = lehner.estimate(each, groups=months, trend="anytime")
        rows = results.select(quantity="system_accuracy_in_sample_trend")
        right = (ratings.answers == ratings.truth[:, None]).reshape(3, 40, 2).mean(axis=1)
        for column in ("estimate", "lower", "upper"):
            assert rows[column].tolist() == pytest.approx(right[2] - right[0], abs=0.01)
    with pytest.raises(InputError, match="by gold labels alone"):
        lehner.estimate(rated.with_truth(None), groups=months, trend="anytime")
    with pytest.raises(InputError, match="no trend 'sometimes'"):
        lehner.estimate(ratings, groups=months, trend="sometimes")
    with pytest.raises(InputError, match="by gold labels alone"):
        lehner.estimate(ratings, groups=months, trend="anytime", by_measure="kappa_with_truth")


def test_groups_may_be_a_column_of_another_file(run, tmp_path):
    (tmp_path / "r.csv").write_text(
        "item,rater,label\n" + "".join(f"{i},{r},{'ab'[i % 2]}\n" for i in range(40) for r in "xyz")
    )
    lines = "".join(f"{i},{'ab'[i % 2]},{'uv'[i < 20]}\n" for i in range(39, -1, -1))
    (tmp_path / "s.csv").write_text("item,acme,month\n" + lines)
    words = ("--system", f"{tmp_path}/s.csv:acme", "--method", "dawid_skene_ml", "--json")
    code, out, _ = run("estimate", tmp_path / "r.csv", *words, "--group", f"{tmp_path}/s.csv:month")
    rows = [row for row in json.loads(out)["rows"] if row["grouping"] == "group"]
    assert code == 0 and {row["group"] for row in rows} == {"u", "v"}
    code, _, said = run("estimate", tmp_path / "r.csv", *words, "--group", f"{tmp_path}/s.csv:week")
    assert code == 2 and "there is no column 'week'" in said


def test_where_most_items_are_labelled_nobody_is_a_rater_who_is_not_named(run, tmp_path):
    file, other, gold, few = (tmp_path / f"{name}.csv" for name in ("file", "other", "gold", "few"))
    table = pd.read_csv("docs/data/vendors.csv", dtype=str)[::10].rename(columns={"gold": "truth"})
    table.to_csv(file, index=False)
    table.drop(columns="truth").to_csv(other, index=False)
    table[["post", "truth"]].to_csv(gold, index=False)
    table[["post", "truth"]].head(299).to_csv(few, index=False)
    ask = ("--system", "Flux,Guard", "--positive", "bad", "--by-measure", "f1", "--group", "month")
    within = json.loads(run("estimate", file, *ask, "--json")[1])
    beside = json.loads(run("estimate", other, *ask, "--truth", gold, "--json")[1])
    assert within["rows"] == beside["rows"] and within["data"]["n_raters"] == 0
    assert any("Acme" in note and "--raters" in note for note in beside["data"]["notes"])
    told = ("--raters", "Acme,Bolt", "--method", "majority_agreement")
    assert "F1 of bad by month (gold_labels)" in run("estimate", file, *ask, *told)[1]
    assert "ignored: month" in run("estimate", other, "--system", "Flux", "--truth", gold)[1]
    assert "not a rater" in run("estimate", other, "--system", "Flux", "--truth", few)[2]


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [("Acme Bolt", {}, True), ("R1 R2", {}, False), ("Ann Bo", {"raters": ["Ann", "Bo"]}, False)],
)
def test_raters_whom_only_their_place_tells_are_warned_of(names, options, said):
    columns = zip([*names.split(), "Civis"], ("aabbab", "aabbaa", "abbbab"), strict=True)
    ratings = lehner.read_ratings({x: [*y] for x, y in columns}, system="Civis", **options)
    results = lehner.estimate(ratings, "majority_agreement")
    assert ("raters-unnamed" in {warning.code for warning in results.warnings}) == said
