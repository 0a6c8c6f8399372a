"""Coefficients of agreement against published numbers, other libraries and brute force."""

import csv
import json
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import lehner
from lehner import Ratings, agreement, load_dataset
from lehner.core.estimate import COLUMNS
from lehner.interrater import agreement as rater_agreement
from lehner.interrater.coefficients import find_weights, warn_of_raters
from tests.lehner.interrater.tables import agreement_of_table, find, find_pairs, notes_of, of_all
from tests.reference import agreement as reference

DATA = Path(__file__).parents[2] / "data"

# ----- Published numbers -----

EXPECTED = {
    "Fleiss kappa": ("fleiss_kappa", "identity"),
    "mean observed agreement": ("percent_agreement", "identity"),
    "category kappa 1": ("fleiss_kappa[depression]", "identity"),
    "category kappa 2": ("fleiss_kappa[personality_disorder]", "identity"),
    "category kappa 3": ("fleiss_kappa[schizophrenia]", "identity"),
    "category kappa 4": ("fleiss_kappa[neurosis]", "identity"),
    "category kappa 5": ("fleiss_kappa[other]", "identity"),
    "accuracy": ("percent_agreement", "identity"),
    "kappa": ("cohen_kappa", "identity"),
    "kappa linear": ("cohen_kappa", "linear"),
    "kappa quadratic": ("cohen_kappa", "quadratic"),
    "alpha nominal": ("krippendorff_alpha", "identity"),
    "alpha ordinal": ("krippendorff_alpha", "ordinal"),
    "alpha interval": ("krippendorff_alpha", "interval"),
    "alpha ratio": ("krippendorff_alpha", "ratio"),
    "percent agreement (pairwise)": ("percent_agreement", "identity"),
    "Fleiss kappa (Gwet missing convention)": ("fleiss_kappa", "identity"),
    "Gwet AC1": ("gwet_ac1", "identity"),
    "Brennan-Prediger": ("brennan_prediger_kappa", "identity"),
}
ROWS = list(csv.DictReader((DATA / "agreement_expected.csv").open(encoding="utf-8")))
# CPTtools' example, of probabilities in thousandths.
ALMOND = [[207, 40, 0], [29, 445, 25], [0, 25, 229]]


def measure(data_set):
    if data_set == "almond2015_read":
        return agreement_of_table(ALMOND, weights=["identity", "linear", "quadratic"])
    if data_set == "fleiss1971":
        return agreement(load_dataset("fleiss1971"))
    weights = ["identity", "ordinal", "interval", "ratio"]
    return agreement(load_dataset("krippendorff"), weights=weights)


def test_all_expected_rows_are_there():
    assert len(ROWS) == 19


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['data_set']}: {row['quantity']}")
def test_expected_number(row):
    result = find(measure(row["data_set"]), *EXPECTED[row["quantity"]])
    assert result.estimate == pytest.approx(float(row["expected"]), abs=float(row["tolerance"]))


def test_conger_kappa_of_krippendorffs_example_is_that_of_the_r_package_irrcac():
    result = agreement(load_dataset("krippendorff"))
    assert find(result, "cohen_kappa").estimate == pytest.approx(0.76282, abs=5e-6)


# The R package irrCAC 1.0, README. The variance of a table is over n, of ratings over n − 1.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
TABLE_ERRORS = {
    "cohen_kappa": (0.7964094, 0.05891072),
    "scott_pi": (0.7962397, 0.05905473),
    "gwet_ac1": (0.8493305, 0.04321747),
    "brennan_prediger_kappa": (0.835, 0.04693346),
    "percent_agreement": (0.89, 0.03128898),
}
# Estimate, standard error and chance agreement.
FLEISS_ERRORS = {
    "fleiss_kappa": (0.4139265, 0.08119291, 0.2340741),
    "gwet_ac1": (0.4448007, 0.08418757, 0.1914815),
    "brennan_prediger_kappa": (0.4388889, 0.08312142, 0.2),
}


@pytest.mark.parametrize("name", TABLE_ERRORS)
def test_standard_errors_of_a_table_are_those_of_irrcac(name):
    estimate, error = TABLE_ERRORS[name]
    result = find(agreement_of_table(ABSTRACTORS), name)
    assert result.estimate == pytest.approx(estimate, abs=1e-7)
    assert result.standard_error == pytest.approx(error * np.sqrt(100 / 99), abs=1e-7)


@pytest.mark.parametrize("name", FLEISS_ERRORS)
def test_standard_errors_without_missing_ratings_are_gwets(name):
    # irrCAC's example is the first 15 of Fleiss's 30 patients.
    estimate, error, chance = FLEISS_ERRORS[name]
    result = agreement(load_dataset("fleiss1971").take(np.arange(15)), level=0.95)
    assert find(result, name).estimate == pytest.approx(estimate, abs=1e-7)
    assert find(result, name).standard_error == pytest.approx(error, abs=1e-7)
    assert result.value(f"{name}_chance").estimate == pytest.approx(chance, abs=5e-8)
    assert "percent_agreement_chance" not in set(result.table["quantity"])


def test_interval_and_p_value_are_gwets():
    # irrCAC, AC1 of the same: interval (.264, .625), p .0001156.
    result = agreement(load_dataset("fleiss1971").take(np.arange(15)), level=0.95)
    result = find(result, "gwet_ac1")
    assert (result.lower, result.upper) == pytest.approx((0.264, 0.625), abs=5e-4)
    assert result.probability == pytest.approx(0.0001155927, rel=1e-5)


def test_standard_error_with_missing_ratings_is_that_of_the_items_that_count():
    # Eleven items have two or more ratings, the twelfth has one and says nothing about agreement.
    # irrCAC prints .12561: it takes the twelfth for an item without agreement.
    share = np.array([1, 0.5, 1, 1, 1, 0, 1, 0.5, 1, 1, 1])
    result = find(agreement(load_dataset("krippendorff")), "percent_agreement")
    assert result.standard_error == pytest.approx(share.std(ddof=1) / np.sqrt(11), abs=1e-12)
    irrcac = np.append(share * 12 / 11, 0)
    assert irrcac.std(ddof=1) / np.sqrt(12) == pytest.approx(0.12561, abs=5e-6)


def test_kappa_of_the_papers_example_is_the_papers():
    result = find(agreement(load_dataset("lehner_table2")), "brennan_prediger_kappa")
    assert result.estimate == pytest.approx(1 / 9, abs=1e-12)


# ----- Other libraries, on random ratings -----

NAMES = ["identity", "linear", "quadratic", "ordinal", "interval", "ratio"]
all_weights = pytest.mark.parametrize("name", NAMES)


def random_codes(seed, shape=(40, 4), k=4, missing=0.25):
    """Codes of raters who are right two times of three, some of them missing."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, size=(shape[0], 1), p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    codes = np.where(rng.random(shape) < 2 / 3, truth, rng.integers(k, size=shape))
    return np.where(rng.random(shape) < missing, -1, codes)


def rated(codes, k=4, **options):
    return Ratings(codes, range(1, k + 1), ordered=True, **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["identity", "linear", "quadratic"])
def test_cohen_is_scikit_learns_on_items_that_both_rated(seed, name):
    codes = random_codes(seed, (60, 2))
    both = codes[(codes >= 0).all(axis=1)]
    expected = cohen_kappa_score(*both.T, weights=None if name == "identity" else name)
    result = agreement(rated(codes), weights=name)
    assert find(result, "cohen_kappa", name).estimate == pytest.approx(expected, abs=1e-12)
    assert find_pairs(result)["estimate"].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "level"),
    [("identity", "nominal"), ("ordinal", "ordinal"), ("interval", "interval"), ("ratio", "ratio")],
)
def test_alpha_is_the_krippendorff_librarys_with_missing_ratings(seed, name, level):
    codes = random_codes(seed)
    values = np.where(codes < 0, np.nan, codes + 1)
    expected = krippendorff.alpha(values.T, value_domain=[1, 2, 3, 4], level_of_measurement=level)
    result = find(agreement(rated(codes), weights=name), "krippendorff_alpha", name)
    assert result.estimate == pytest.approx(expected, abs=1e-12)


# ----- Brute force -----

COEFFICIENTS = ["percent_agreement", *reference.CHANCE, "krippendorff_alpha"]


def as_items(ratings):
    items = [{} for _ in ratings.items]
    votes = ratings.entries
    for row, rater, code in zip(
        votes.item_index, votes.rater_index, votes.category_index, strict=True
    ):
        items[row].setdefault(int(rater), []).append(int(code))
    return items


def check_against_brute_force(ratings, name):
    matrix = find_weights(name, ratings.categories, ordered=True).matrix.tolist()
    items, weights = as_items(ratings), ratings.weights.astype(float).tolist()
    weights = [w for w, item in zip(weights, items, strict=True) if item]
    items = [item for item in items if item]
    informative = sum(w for w, item in zip(weights, items, strict=True) if len(item) > 1)
    result = agreement(ratings, weights=name)
    for coefficient in COEFFICIENTS:
        if coefficient in ("gwet_ac1", "gwet_ac2") and (coefficient[-1] == "1") != (
            name == "identity"
        ):
            continue

        def statistic(w, of=coefficient):
            return reference.coefficient(of, items, w, matrix, ordinal=name == "ordinal")

        row = find(result, coefficient.replace("conger", "cohen"), name)
        assert row.estimate == pytest.approx(statistic(weights), abs=1e-9), coefficient
        error = reference.linearised_standard_error(statistic, weights, informative)
        assert row.standard_error == pytest.approx(error, rel=1e-6), coefficient


@all_weights
@pytest.mark.parametrize("seed", [1, 2])
def test_estimates_and_standard_errors_are_those_of_brute_force(seed, name):
    check_against_brute_force(rated(random_codes(seed, (15, 4))), name)


@all_weights
def test_repeated_ratings_share_a_vote_as_in_brute_force(name):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(12), 6),
            "rater": np.tile([0, 0, 0, 1, 1, 2], 12),
            "occasion": np.tile([1, 2, 3, 1, 2, 1], 12),
            "rating": (np.repeat(rng.integers(4, size=12), 6) + rng.integers(2, size=72)) % 4 + 1,
        }
    ).sample(frac=0.8, random_state=1)
    ratings = Ratings.from_long(frame, occasion="occasion", categories=[1, 2, 3, 4])
    assert ratings.repeated
    check_against_brute_force(ratings, name)
    (note,) = (w for w in agreement(ratings).warnings if w.code != "coefficient")
    assert str(note).startswith("a rater's repeated ratings of an item share one vote here")


def test_anonymous_raters_have_the_coefficients_that_do_not_ask_who_they_are():
    codes = random_codes(8)
    counts = rated(codes).count_votes()
    named = of_all(agreement(rated(codes), weights="identity"))
    results = agreement(Ratings.from_counts(counts, range(1, 5)))
    anonymous = of_all(results)
    assert "undefined: it is not known who gave which rating" in notes_of(results)
    kappa = named["quantity"].eq("cohen_kappa")
    assert anonymous["estimate"][anonymous["quantity"] == "cohen_kappa"].isna().all()
    np.testing.assert_allclose(
        anonymous["estimate"][anonymous["quantity"] != "cohen_kappa"], named["estimate"][~kappa]
    )
    assert find_pairs(results).empty


# ----- Pairs, and the system -----


def test_pairs_are_those_of_two_raters_alone_and_of_rater_and_system():
    codes = random_codes(9)
    with_system = rated(codes[:, :3], system=codes[:, 3])
    result = agreement(with_system, weights=["identity", "quadratic"])
    pairs = find_pairs(result)
    names = ["1", "2", "3", "system"]
    assert len(pairs) == 12
    assert [w.code for w in result.warnings if w.code != "coefficient"] == ["not-compared"]
    for g in range(4):
        for h in range(g + 1, 4):
            for name in ("identity", "quadratic"):
                row = pairs.loc[(name.replace("identity", ""), names[g], names[h])]
                two = agreement(rated(codes[:, [g, h]]), weights=name)
                assert row["n_items"] == (codes[:, [g, h]] >= 0).all(axis=1).sum()
                agreeing, kappa = (find(two, x, name) for x in ("percent_agreement", "cohen_kappa"))
                assert row["percent_agreement"] == pytest.approx(agreeing.estimate, abs=1e-12)
                for field in ("estimate", "standard_error", "lower", "upper"):
                    assert row[field] == pytest.approx(kappa[field], abs=1e-12)
    without = agreement(rated(codes[:, :3]), weights=["identity", "quadratic"])
    pd.testing.assert_frame_equal(of_all(result), of_all(without))


def test_a_pairs_standard_error_is_cohens_where_ratings_are_repeated():
    # An item with repeated ratings is one item, though its votes lie in several cells.
    rng = np.random.default_rng(3)
    codes = (np.repeat(rng.integers(3, size=30), 5) + (rng.random(150) < 0.3)) % 3
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(30), 5),
            "rater": ["x", "x", "y", "y", "z"] * 30,
            "occasion": [1, 2, 1, 2, 1] * 30,
            "rating": codes,
        }
    )
    frame = frame[rng.random(150) < 0.8]
    ratings = Ratings.from_long(frame, occasion="occasion")
    pairs = find_pairs(agreement(ratings, weights="identity"))
    counts = rng.integers(4, size=30)
    grouped = find_pairs(agreement(ratings.take(np.arange(30), counts)))
    repeated = find_pairs(agreement(ratings.take(np.repeat(np.arange(30), counts))))
    np.testing.assert_allclose(grouped["standard_error"], repeated["standard_error"])
    for first, other in ("xy", "xz", "yz"):
        two = Ratings.from_long(frame[frame.rater.isin([first, other])], occasion="occasion")
        alone, pair = find(agreement(two), "cohen_kappa"), pairs.loc[("", first, other)]
        for field in ("estimate", "standard_error"):
            assert pair[field] == pytest.approx(alone[field], abs=1e-12)


def test_one_rater_and_a_system_have_a_pair_and_no_coefficients():
    result = agreement(Ratings([[0], [1], [1]], "ab", system=[0, 1, 0]))
    assert "undefined: no item was rated by two raters" in notes_of(result)
    assert of_all(result)["estimate"].isna().all()
    assert find_pairs(result)["percent_agreement"].item() == pytest.approx(2 / 3)


# ----- Limits -----

KAPPAS = (
    "brennan_prediger_kappa",
    "cohen_kappa",
    "scott_pi",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
)


def estimates(codes, k=2):
    rows = of_all(agreement(Ratings(codes, range(k)))).query("category == ''")
    return dict(zip(rows["quantity"], rows["estimate"], strict=True))


def test_perfect_agreement_is_1_without_a_standard_error():
    result = agreement(Ratings([[0, 0], [1, 1], [1, 1]], "ab"))
    rows = of_all(result)
    assert rows["estimate"].eq(1).all()
    assert rows[["standard_error", "lower", "probability"]].isna().all(axis=None)
    assert notes_of(result) == ["no standard error: no item differs from the others in its effect"]


def test_one_category_in_use_leaves_kappas_undefined_that_correct_by_what_is_used():
    result = estimates([[0, 0], [0, 0]])
    defined = {"percent_agreement", "brennan_prediger_kappa", "gwet_ac1"}
    assert {name for name, value in result.items() if not np.isnan(value)} == defined
    assert {result[name] for name in defined} == {1}
    notes = notes_of(agreement(Ratings([[0, 0], [0, 0]], "ab")))
    assert "undefined: chance agreement is 1, because nothing varies" in notes


def test_a_single_category_has_a_percent_agreement_only():
    result = agreement(Ratings([[0, 0], [0, 0]], "a"))
    assert find(result, "percent_agreement").estimate == 1
    assert all(np.isnan(find(result, name).estimate) for name in KAPPAS)


def test_constant_raters_who_differ_have_a_cohen_of_0_and_a_scott_of_minus_1():
    result = estimates([[0, 1]] * 5)
    assert result["percent_agreement"] == result["cohen_kappa"] == 0
    assert result["scott_pi"] == result["fleiss_kappa"] == result["gwet_ac1"] == -1
    assert result["krippendorff_alpha"] == pytest.approx(1 - 1 / (50 / 90))


def test_one_constant_rater_has_a_cohen_of_0_whatever_the_other_says():
    result = find(agreement(Ratings([[0, 1], [0, 0], [0, 1]], "ab")), "cohen_kappa")
    assert result.estimate == pytest.approx(0, abs=1e-12)
    assert np.isnan(result.standard_error)


def test_one_item_has_estimates_without_errors():
    result = agreement(Ratings([[0, 1, 1]], "ab"))
    assert "percent_agreement 0.333" in " ".join(repr(result).split())
    assert "no standard error: the number of items is unknown or below 2" in notes_of(result)
    assert of_all(result)["standard_error"].isna().all()


@pytest.mark.parametrize("codes", [[[0], [1]], [[0, -1], [-1, 1]], np.empty((0, 3), int)])
def test_without_two_ratings_of_an_item_nothing_is_defined(codes):
    result = agreement(Ratings(codes, "ab"))
    assert of_all(result)["estimate"].isna().all() and notes_of(result)


def test_results_are_plain_json():
    rows = json.loads(agreement(Ratings([[0, 0], [0, 0]], "ab", system=[0, -1])).to_json())["rows"]
    assert rows[0]["quantity"] == "percent_agreement" and tuple(rows[0]) == COLUMNS


def test_intervals_stay_within_the_coefficients_range():
    result = agreement(Ratings([[0, 0], [1, 1], [0, 1]], "ab"), level=0.999)
    assert find(result, "percent_agreement")[["lower", "upper"]].tolist() == [0, 1]
    assert find(result, "cohen_kappa")[["lower", "upper"]].tolist() == [-1, 1]


def test_a_weighted_coefficient_below_minus_1_has_an_interval_on_both_sides():
    # Chance agreement is 2/3; 60 items have an agreement of 0 and one of 1.
    ratings = Ratings([[0, 2], [0, 0]], [1, 2, 3], ordered=True, counts=[60, 1])
    result = agreement(ratings, weights=["quadratic"])
    result = find(result, "brennan_prediger_kappa", "quadratic")
    assert result.estimate == pytest.approx((1 / 61 - 2 / 3) * 3)
    assert result.estimate - result.lower == pytest.approx(result.upper - result.estimate)


@pytest.mark.parametrize("weights", [None, ["linear", "ordinal"]])
def test_many_items_are_counted_by_their_ratings(
    weights: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    codes = (rng.integers(0, 3, (400, 1)) + rng.choice(3, (400, 5), p=[0.7, 0.2, 0.1])) % 3
    codes[rng.random(codes.shape) < 0.3] = -1
    ratings = Ratings(codes[:, 1:], ["1", "2", "3"], system=codes[:, 0])
    one_by_one = agreement(ratings, weights=weights)
    monkeypatch.setattr(rater_agreement, "MANY_ROWS", 0)
    counted = agreement(ratings, weights=weights)
    assert counted.warnings == one_by_one.warnings
    pd.testing.assert_frame_equal(counted.table, one_by_one.table, rtol=1e-9)


# ----- Raters who give one answer only, agree by chance, or use a scale in reverse -----

RNG = np.random.default_rng(2)
TRUTH = RNG.integers(0, 5, 120)


def rate(truth, k):
    return np.where(RNG.random(len(truth)) < 0.8, truth, RNG.integers(0, k, len(truth)))


def rated_by(*columns, k=2, system=None):
    return Ratings(np.column_stack(columns).astype(int), range(1, k + 1), system=system)


BINARY = TRUTH % 2
SYSTEM = rate(BINARY, 2)
DOUBTFUL = {
    "one-answer": rated_by(rate(BINARY, 2), rate(BINARY, 2), np.ones(120, int), system=SYSTEM),
    "agreement-at-chance": rated_by(*RNG.integers(0, 2, (3, 120)), system=SYSTEM),
    "scale-reversed": rated_by(
        *(rate(TRUTH, 5), rate(TRUTH, 5), 4 - rate(TRUTH, 5)), k=5, system=rate(TRUTH, 5)
    ),
}


@pytest.mark.parametrize("code", DOUBTFUL)
def test_what_makes_all_results_doubtful_is_said_by_every_function(code):
    ratings = DOUBTFUL[code]
    said = {
        "agreement": agreement(ratings).warnings,
        "compare": lehner.compare(ratings, methods="majority").warnings,
        "label": lehner.label(ratings, "majority").warnings,
        "estimate": lehner.estimate(ratings, "majority_agreement").warnings,
    }
    assert {name for name, notes in said.items() if code in {x.code for x in notes}} == set(said)


def test_the_rater_who_gives_one_answer_or_reverses_the_scale_is_named():
    one, reverse = (
        next(w.text for w in warn_of_raters(DOUBTFUL[code]) if w.code == code)
        for code in ("one-answer", "scale-reversed")
    )
    share = np.mean([*DOUBTFUL["one-answer"].codes[:, :2].ravel(), *SYSTEM])
    assert one == f"3 gave '2' in all 120 answers, and others in {share:.0%} of theirs"
    codes = DOUBTFUL["scale-reversed"].codes
    r = np.corrcoef(codes[:, 2], codes[:, :2].mean(axis=1))[0, 1]
    assert reverse.endswith(f": 3 ({r:.2f})")


def test_repeated_items_tell_as_much_as_counts_of_them():
    for ratings in DOUBTFUL.values():
        half = ratings.take(np.repeat(np.arange(60), 2))
        grouped = ratings.take(np.arange(60), counts=np.full(60, 2))
        assert list(warn_of_raters(half)) == list(warn_of_raters(grouped))


N = np.arange(200) % 100
GOOD = {
    "scale": rated_by(*(rate(TRUTH, 5) for _ in range(3)), k=5),
    "few items": rated_by(*RNG.integers(0, 2, (3, 12))),
    "rare, and one answer": rated_by(N == -1, N == 0, N < 2, N < 1),
    "one category": rated_by(*([0] * 30,) * 3),
}


@pytest.mark.parametrize("ratings", GOOD.values(), ids=GOOD)
def test_good_raters_are_not_doubted(ratings):
    assert list(warn_of_raters(ratings)) == []


@pytest.mark.parametrize(("n_strays", "said"), [(1, 2), (0, 0)])
def test_coefficients_that_stray_categories_change_are_said_without_them(n_strays, said):
    codes = np.column_stack([rate(BINARY, 2) for _ in range(4)])
    codes[:n_strays, 0] = 2
    ratings = Ratings(codes, ["no", "yes", "jes"])
    notes = [note for note in agreement(ratings).warnings if note.code == "rare-categories"]
    assert len(notes) == said
    codes[:n_strays, 0] = -1
    without = agreement(Ratings(codes, ["no", "yes"]))
    for note, name in zip(notes, ("brennan_prediger_kappa", "gwet_ac1"), strict=False):
        with_them, alone = (find(x, name).estimate for x in (agreement(ratings), without))
        assert f"is {with_them:.3f}, and {alone:.3f} without 'jes'" in note.text
