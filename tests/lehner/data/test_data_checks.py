"""Data that look fine and are not: refused where that is sure, else said; good data untouched."""

import unicodedata
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import (
    DataWarning,
    InputError,
    Ratings,
    Scenario,
    list_datasets,
    load_dataset,
    pairwise_agreement,
    read_ratings,
    simulate,
)
from lehner.data.checks import describe_no_categories, find_strays, list_placeholders
from lehner.data.columns import encode, fold
from lehner.data.counts import Counts
from lehner.data.roles import role_of


def table(n=60, **columns):
    """Three raters who mostly agree, and more columns."""
    yes = ["yes" if i % 2 else "no" for i in range(n)]
    raters = {name: list(yes) for name in ("Ann", "Bo", "Cy")}
    raters["Ann"][0], raters["Bo"][7] = "yes", "no"
    return raters | columns


def answers(n=60, no="no", yes="yes"):
    return [yes if i % 2 else no for i in range(n)]


def long(data, system="gpt"):
    frame = pd.DataFrame(data).rename_axis("item").reset_index()
    return frame.melt("item", var_name="rater", value_name="rating").dropna()


def read(way, data, folder, **options):
    """Read a table in one of the ways in."""
    if way == "wide":
        return Ratings.from_wide(data, **options)
    if way == "long":
        return Ratings.from_long(long(data), **options)
    if way == "wide file":
        pd.DataFrame(data).to_csv(folder / "r.csv", index=False)
    else:
        long(data).to_csv(folder / "r.csv", index=False)
    return read_ratings(folder / "r.csv", **options)


ways = pytest.mark.parametrize("way", ["wide", "long", "wide file", "long file"])


# A system coded otherwise


@ways
@pytest.mark.parametrize("labels", [("No", "Yes"), ("0", "1"), ("NO ", "YES "), ("false", "true")])
def test_a_system_coded_otherwise_is_refused_with_both_sets(tmp_path, way, labels):
    data = table(gpt=answers(no=labels[0], yes=labels[1]))
    with pytest.raises(InputError) as caught:
        read(way, data, tmp_path, system="gpt")
    for label in (*labels, "no", "yes"):
        assert label.strip() in str(caught.value)
    assert "labels=" in caught.value.remedy or "categories=…" in caught.value.remedy


def test_a_system_with_one_common_answer_in_a_hundred_is_refused():
    data = table(100, gpt=["no", *answers(99, "0", "1")])
    with pytest.raises(InputError, match="hardly a label in common"):
        Ratings.from_wide(data, system="gpt")


def test_truths_coded_otherwise_are_refused():
    with pytest.raises(InputError, match=r"gold labels are 0, 1 .* ratings no, yes"):
        Ratings.from_wide(table(known=answers(no=0, yes=1)), truth="known")


def test_a_rater_coded_otherwise_is_refused_in_a_long_table():
    with pytest.raises(InputError, match=r"'Di' are 0, 1, those of the other raters no, yes"):
        Ratings.from_long(long(table(Di=answers(no="0", yes="1"))))


def test_taking_a_rater_as_the_system_checks_its_codes():
    ratings = Ratings([[0, 0, 2], [1, 1, 3], [0, 0, 2], [1, 1, 3], [1, 0, 3]], "abcd")
    with pytest.raises(InputError, match=r"of '3' are c, d and the raters' ratings a, b"):
        ratings.with_system("3")


def test_named_categories_do_not_make_a_system_of_other_labels():
    few = table(9, gpt=answers(9, no="0", yes="1"))
    with pytest.warns(DataWarning, match="no label in common"):
        ratings = Ratings.from_wide(few, system="gpt", categories=["no", "yes", "0", "1"])
    assert ratings.n_categories == 4
    many = table(60, gpt=answers(60, no="0", yes="1"))
    with pytest.raises(InputError, match="no label in common"):
        Ratings.from_wide(many, system="gpt", categories=["no", "yes", "0", "1"])


def test_codes_that_begin_one_lower_are_said():
    rng = np.random.default_rng(1)
    data = {name: rng.integers(1, 4, 60).tolist() for name in ("Ann", "Bo")}
    with pytest.warns(DataWarning, match="start at a lower number"):
        Ratings.from_wide(data | {"gpt": rng.integers(0, 3, 60).tolist()}, system="gpt")


# Categories


@ways
def test_spellings_of_one_category_are_refused_and_folded(tmp_path, way):
    data = table(gpt=answers())
    data["Ann"][:3] = ["No", "YES", " no"]
    with pytest.raises(InputError, match="'YES'/'yes'") as caught:
        read(way, data, tmp_path, system="gpt")
    folded = read(way, data, tmp_path, system="gpt", **caught.value.change)
    assert folded.categories == ("no", "yes")
    assert folded.n_ratings == 180


def has_other_numbers(text):
    """Whether there are powers, fractions and the like, which a Unicode form makes digits of."""
    return any(c.isnumeric() and not c.isdecimal() for c in text)


@given(st.text(max_size=6), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_folding_does_not_see_case_space_or_unicode_form(text, form):
    if not has_other_numbers(text) or form in ("NFC", "NFD"):
        assert fold(f"  {unicodedata.normalize(form, text)}\u00a0") == fold(text)
    assert fold(fold(text)) == fold(text)
    assert fold(text.upper().lower()) == fold(text.upper())


LABELS = st.one_of(
    st.text("0123456789,.+- eE", min_size=1, max_size=7),
    st.floats(-2000, 2000).map(repr),
    st.integers(-2000, 2000).map("{:,}".format),
    st.sampled_from(["1", "1,000", "1.000", "1000", "01", "1.0", "1,0", "10²", "102", "½", "1⁄2"]),
    st.text("aAßsS éÉ", min_size=1, max_size=4),
)


def normal_form(label):
    return " ".join(label.casefold().split())


@given(st.lists(LABELS, min_size=2, max_size=6))
def test_folding_merges_only_what_is_equal_but_for_case_and_space(labels):
    for label in labels:
        for other in labels:
            merged = fold(label) == fold(other)
            assert merged == (normal_form(label) == normal_form(other))


@pytest.mark.parametrize("pair", [("02", "2"), ("2,0", "2"), ("1,000", "1000"), ("0.50", "0.5")])
def test_a_number_that_is_written_in_two_ways_is_refused(pair):
    data = {"Ann": [*pair, "x"], "Bo": [*pair, "x"]}
    with pytest.raises(InputError, match="differ only in how they are written") as caught:
        Ratings.from_wide(data)
    assert not caught.value.change
    named = Ratings.from_wide(data, categories=[*pair, "x"])
    assert named.codes.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_the_error_names_the_cell(tmp_path):
    data = table(gpt=answers())
    data["Bo"][4] = "No"
    pd.DataFrame(data).to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(InputError) as caught:
        read_ratings(tmp_path / "r.csv", system="gpt")
    assert (caught.value.row, caught.value.column) == (6, "Bo")


@ways
@pytest.mark.parametrize("text", ["-", "?", "N/a", "na", "#N/A", ".", "–"])
def test_placeholders_are_refused_and_read_as_missing(tmp_path, way, text):
    data = table(gpt=answers())
    data["Ann"][3] = text
    with pytest.raises(InputError, match=r"would count as a category.*missing="):
        read(way, data, tmp_path, system="gpt")
    ratings = read(way, data, tmp_path, system="gpt", missing=[text])
    assert (ratings.categories, ratings.n_ratings) == (("no", "yes"), 179)
    kept = read(way, data, tmp_path, system="gpt", categories=["no", "yes", text])
    assert kept.n_categories == 3


@pytest.mark.parametrize("text", ["unknown", "Missing", "no answer"])
def test_words_for_no_rating_are_said(text):
    data = table(gpt=answers())
    data["Ann"][3] = text
    with pytest.warns(DataWarning, match=f"'{text}' .* counts as a category"):
        ratings = Ratings.from_wide(data, system="gpt")
    assert any(text in note for note in ratings.notes)


def test_numbers_for_missing_ratings_are_read_as_such_in_any_form():
    data = {"Ann": [1.0, 2.0, 99.0, 1.0], "Bo": ["1", "2", "1", "99"]}
    ratings = Ratings.from_wide(data, missing=[99])
    assert ratings.categories == (1, 2)
    assert ratings.n_ratings == 6
    with pytest.warns(DataWarning, match="no effect .*missing=98"):
        Ratings.from_wide(data, missing=[99, 98])
    assert Ratings.from_wide(data, missing="99").equals(ratings)


@pytest.mark.parametrize(
    "labels",
    [
        ["+", "-"],
        ["none", "mild", "severe"],
        ["None", "Mild"],
        [-2, 0, 1],
        [*range(1, 10)],
        ["x", "o"],
    ],
)
def test_labels_that_are_categories_are_no_placeholders(labels):
    assert not list_placeholders(labels)


@ways
@pytest.mark.parametrize("every", [1, 4])
def test_a_rater_who_spells_a_category_otherwise_is_named(tmp_path, way, every):
    data = table(60, gpt=answers(60))
    data["Bo"][1::every] = ["yess" if label == "yes" else label for label in data["Bo"][1::every]]
    n = data["Bo"].count("yess")
    with pytest.warns(DataWarning, match=rf"'yess' \({n} cells, by Bo\)"):
        read(way, data, tmp_path, system="gpt")


@ways
@pytest.mark.parametrize("stray", ["jes", "true", "99", "-1", "0", "{}", "2024-01-01"])
def test_a_stray_category_is_said_with_its_cells_and_the_chance_level(tmp_path, way, stray):
    data = table()
    data["Ann"][4] = stray
    with pytest.warns(DataWarning, match=rf"level 1/3 .*'{stray}' \(1 cell, by Ann\)") as caught:
        ratings = read(way, data, tmp_path)
    assert len(caught) == 1 and str(caught[0].message) in ratings.notes
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        read(way, data, tmp_path, categories=["no", "yes", stray])


@pytest.mark.parametrize(
    ("uses", "strays"),
    [
        ([[7, 60, 59], [0, 70, 50]], [0]),  # one alone, and not rare
        ([[1, 60, 59], [2, 70, 50]], [0]),  # rare, and not one alone
        ([[7, 60, 59], [5, 70, 50]], []),
        ([[1, 60, 0], [2, 70, 0]], []),  # a rare disease: no two are frequent
        ([[1, 2, 3], [0, 2, 3]], []),  # too few to tell
        ([[2, 60, 59]], [0]),
        ([[9, 60, 59]], []),  # there is one rater
    ],
)
def test_rare_categories_and_those_of_one_alone_are_stray(uses, strays):
    assert find_strays(("a", "b", "c"), np.array(uses)) == strays


def test_what_only_raters_use_who_are_counted_together_is_not_of_one_alone():
    uses = np.array([[7, 60, 59, 0], [0, 70, 50, 7]])
    assert find_strays("abcd", uses, apart=False) == [3]
    assert find_strays("abcd", uses) == [0, 3]


def test_the_end_of_a_scale_may_be_rare():
    uses = np.array([[1, 50, 60, 70], [1, 60, 70, 50]])
    assert find_strays((1, 2, 3, 4), uses) == find_strays(("0.5", "1", "1.5", "2"), uses) == []
    assert find_strays((-7, 1, 2, 3), uses) == find_strays(("a", "b", "c", "d"), uses) == [0]


@pytest.mark.parametrize(
    ("no", "yes", "said"),
    [
        ("0", "1", "0, 1 are numbers, and no, yes are words"),
        ("FALSE", "TRUE", "TRUE and yes, FALSE and no seem to mean the same"),
        ("n", "y", "y and yes, n and no seem to mean the same"),
        ("n", "ye", "ye and yes, n and no seem to mean the same"),
    ],
)
def test_rows_in_another_coding_are_said(no, yes, said):
    data = table()
    for labels in data.values():
        labels[::7] = [{"no": no, "yes": yes}[label] for label in labels[::7]]
    with pytest.warns(DataWarning, match=said):
        Ratings.from_wide(data)


def test_scores_and_free_text_are_refused():
    rng = np.random.default_rng(1)
    for form in ("{:.1f}", "{:.1f}%", "{:.0f}"):
        data = {r: [form.format(x) for x in 200 * rng.random(400)] for r in ("Ann", "Bo", "Cy")}
        with pytest.raises(InputError, match=r"different numbers, not categories.*cut them"):
            Ratings.from_wide(data)
        with pytest.raises(InputError, match="different numbers, not categories"):
            Ratings.from_long(long(data))
    texts = {"item": range(40), "rater": ["x", "y"] * 20, "rating": [f"so {i}" for i in range(40)]}
    with pytest.raises(InputError, match="40 different labels in 40 cells"):
        Ratings.from_long(texts)
    assert not describe_no_categories({f"{i / 2}": 3 for i in range(2, 21)})
    assert not describe_no_categories(dict.fromkeys(range(1, 101), 5))


# Columns


@pytest.mark.parametrize(
    "name",
    [
        "gold",
        "Gold",
        "label_true",
        "ground_truth",
        "Ground Truth",
        "reference",
        "true_label",
        "y_true",
    ],
)
@pytest.mark.parametrize("way", ["wide", "wide file"])
def test_known_truths_are_not_silently_a_rater(tmp_path, way, name):
    data = table(gpt=answers()) | {name: answers()}
    with pytest.raises(InputError, match="gold labels") as caught:
        read(way, data, tmp_path, system="gpt")
    assert caught.value.column == name
    assert read(way, data, tmp_path, system="gpt", truth=name).truth is not None
    ratings = read(way, data, tmp_path, system="gpt", raters=["Ann", "Bo", "Cy"])
    assert ratings.truth is None and f"ignored: {name}" in ratings.notes[0]
    assert read(way, data, tmp_path, system="gpt", raters=["Ann", "Bo", name]).n_raters == 3


@pytest.mark.parametrize(
    ("system", "other"),
    [("system_a", "system_b"), ("gpt", "system"), ("model1", "model2"), ("gpt", "prediction")],
)
def test_a_second_system_is_not_silently_a_rater(tmp_path, system, other):
    data = table(**{system: answers(), other: answers()})
    for way in ("wide", "wide file"):
        with pytest.raises(InputError, match="another system"):
            read(way, data, tmp_path, system=system)


def test_one_rater_as_two_and_gold_labels_as_a_rater_are_said():
    with pytest.warns(DataWarning, match="'Ann' and 'ann' count as two"):
        Ratings.from_long(long(table(ann=answers())))
    with pytest.raises(InputError, match=r"rater 'gold', .* gold labels; say so \(truth='gold'\)"):
        Ratings.from_long(long(table(gold=answers())))
    ratings = Ratings.from_long(long(table(gold=answers())), truth="gold")
    assert ratings.raters == ("Ann", "Bo", "Cy") and ratings.truth.tolist() == [0, 1] * 30


@pytest.mark.parametrize("name", ["Dr Gold", "expert 1", "Rater 1", "1", "Ai Weiwei", "coder7"])
def test_names_of_raters_are_no_other_columns(name):
    assert role_of(name) is None


def test_raters_may_all_be_models():
    data = dict(zip(("model_b", "model_c", "model_d"), table().values(), strict=True))
    assert Ratings.from_wide(data).n_raters == 3


def test_an_identifier_is_no_rater_in_a_frame():
    data = table(250) | {"code": [7 * i for i in range(250)]}
    with pytest.raises(InputError) as caught:
        Ratings.from_wide(data)
    assert caught.value.column == "code"
    assert Ratings.from_wide(data, item="code").n_raters == 3
    numbers = {f"r{j}": [1 + j // 2 + (i + j) % 5 for i in range(10)] for j in range(3)}
    with pytest.raises(InputError, match="probably not a rater"):
        Ratings.from_wide(numbers | {"code": range(1, 11)})


def test_notes_say_which_column_is_what(tmp_path):
    data = table(gpt=answers(), gold=answers(), seconds=answers())
    pd.DataFrame(data).rename_axis("case").to_csv(tmp_path / "r.csv")
    options = {"system": "gpt", "truth": "gold", "raters": ["Ann", "Cy"]}
    assert read_ratings(tmp_path / "r.csv", **options).notes == (
        "the system is gpt; raters are Ann, Cy; items are named by case; gold labels are in "
        "gold; ignored: Bo, seconds",
    )


# What is missing


def test_gaps_are_counted():
    data = table(gpt=answers())
    data["gpt"][:7] = [None] * 7
    data["Ann"][4:] = [None] * 56
    data["Bo"][10:13] = data["Cy"][12:15] = [None] * 3
    with pytest.raises(InputError, match="filled in 4 of 60 rows, where others are full"):
        Ratings.from_wide(data, system="gpt")
    assert Ratings.from_wide(data, system="gpt", raters=["Ann", "Bo", "Cy"]).notes[1:] == (
        "the system did not answer 7 of 60 items",
        "4 of 60 items have one rating, which tells nothing of agreement",
        "1 of 60 items has no rating",
        "1 of 3 raters gave fewer than 10 ratings: Ann 4",
    )


def test_notes_follow_the_rows_and_do_not_make_ratings_differ():
    ratings = Ratings([[0, 1], [1, -1]], "ab", system=[0, -1])
    assert len(ratings.notes) == 2
    assert ratings.take([0]).notes == ()
    assert ratings.equals(Ratings([[0, 1], [1, -1]], "ab", system=[0, -1], reading_notes=["x"]))


# Options about the meaning of labels


def sets(*labels):
    """Two raters who give sets of cat and dog, as these labels of the second."""
    return {"Ann": ["cat", "dog", "cat, dog", "cat"], "Bo": list(labels)}


SAME = sets("cat", "dog", "dog, cat", "dog")


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (sets("c", "d", "d, c", "d"), {"labels": {"c": "cat", "d": "dog"}}),
        (sets("cat, x", "dog", "dog, x, cat", "dog"), {"missing": "x"}),
        (sets("both", "dog", "dog, cat", "dog"), {"labels": {"both": "cat"}}),
    ],
)
def test_options_about_labels_act_on_each_label_of_a_set(data, options):
    assert Ratings.from_wide(data, sets=True, **options).equals(Ratings.from_wide(SAME, sets=True))


def test_a_set_of_missing_labels_is_missing():
    ratings = Ratings.from_wide(sets("x", "x, 99", "dog", "[]"), sets=True, missing=["x", 99])
    assert (ratings.codes[:, 1] < 0).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (SAME, {"sets": True, "labels": {"kat": "cat"}}),
        (table(), {"labels": {"Yes": "yes"}}),
        (table(), {"decimal": ","}),
        (table(), {"sets": True}),
    ],
)
def test_an_option_without_effect_says_so(data, options):
    (*_, name) = options
    with pytest.warns(DataWarning, match=rf"has no effect .*\({name}="):
        Ratings.from_wide(data, **options)


@pytest.mark.parametrize(
    ("written", "n"), [(5.0, 5), ("5.0", 5), ("5.00", 5), ("5.5", None), ("-5.0", None)]
)
def test_counts_are_whole_numbers_however_they_are_written(written, n):
    data = {"Ann": ["no", "no"], "Bo": ["no", "yes"], "n": [written, "1"]}
    if n is None:
        with pytest.raises(InputError, match=f"'{written}' is not a number of items"):
            Ratings.from_wide(data, counts="n")
    else:
        assert Ratings.from_wide(data, counts="n").counts.tolist() == [n, 1]


# Good data


@pytest.mark.parametrize("dataset", list_datasets(), ids=lambda data: data.name)
def test_bundled_data_raise_no_alarm(dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        load_dataset(dataset.name)
        if dataset.layout == "ratings":
            load_dataset(dataset.name, system=load_dataset(dataset.name).raters[-1])


WORDS = [
    *("benign", "malignant", "normal", "abnormal", "low", "medium", "high", "yes", "no", "agree"),
    *("disagree", "toxic", "clean", "cat", "dog", "horse", "ship", "truck", "none", "mild"),
    *("moderate", "severe", "positive", "negative", "neutral"),
]


@given(
    names=st.lists(st.sampled_from(WORDS), min_size=2, max_size=6, unique=True)
    | st.sampled_from(
        [
            *(["A", "B", "C"], [0, 1], [1, 2, 3, 4, 5], [-2, 0, 2], ["+", "-"], ["T1", "T2"]),
            *(["t", "f", "n"], [0, 1, "unsure"], ["4a", "4b", 3]),
        ]
    ),
    raters=st.sampled_from(
        [["Ann", "Bo", "Cy"], ["1", "2", "3"], ["rater a", "rater b", "rater c"]]
    ),
    missing=st.sampled_from([0, 0.3]),
    seed=st.integers(0, 1000),
)
def test_good_data_raise_no_alarm(names, raters, missing, seed):
    scenario = Scenario(
        n_categories=len(names), initial_rater_accuracy=(0.6, 0.7, 0.8), n_items=80, missing=missing
    )
    drawn = simulate(scenario, seed)
    codes = np.column_stack([drawn.codes, drawn.system])
    labels = np.array([*names, None], dtype=object)[codes]
    data = dict(zip([*raters, "gpt"], labels.T.tolist(), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        wide = Ratings.from_wide(data, system="gpt")
        tall = Ratings.from_long(long(data), system="gpt")
    assert wide.n_ratings == tall.n_ratings == drawn.n_ratings


# Flat ratings


def test_flat_ratings_in_any_order_are_the_same_ratings():
    rng = np.random.default_rng(1)
    ratings = Ratings(rng.integers(-1, 3, (50, 4)), "abc")
    order = rng.permutation(ratings.n_ratings)
    votes = ratings.votes
    shuffled = Ratings(votes.select(order), "abc", ratings.raters, ratings.items)
    assert shuffled.equals(ratings)
    assert pairwise_agreement(shuffled) == pairwise_agreement(ratings)
    assert shuffled.to_grouped().equals(ratings.to_grouped())


@pytest.mark.parametrize(
    "arrays",
    [
        ([0, 1], [0, 0], [0, 2]),
        ([0, 1], [0, 0], [0, -1]),
        ([0, 2], [0, 0], [0, 1]),
        ([0, -1], [0, 0], [0, 1]),
        ([0, 1], [0, 1], [0, 1]),
        ([0, 1], [0, 0], [0]),
        ([0, 1], [0, 0], [0.0, 1.0]),
        ([[0], [1]], [0, 0], [0, 1]),
    ],
)
def test_flat_ratings_out_of_range_are_refused(arrays):
    with pytest.raises(InputError):
        Ratings(Counts(*map(np.array, arrays), (2, 1, 2)), "ab", ["Ann"], ["p", "q"])


def test_with_system_does_not_drop_answers():
    ratings = load_dataset("lehner_table2")
    with pytest.raises(InputError, match=r"already have a system.*without_system"):
        ratings.with_system("Rater 1")
    taken = ratings.without_system().with_system("Rater 1")
    assert taken.raters == ("Rater 2", "Rater 3", "Rater 4")
    assert taken.notes[-2:] == (
        "the system's answers are left out",
        "the rater 'Rater 1' is taken as the system",
    )


def test_warnings_point_to_the_line_that_read_the_data():
    data = table(gpt=answers())
    data["Ann"][3] = "unknown"
    with pytest.warns(DataWarning) as caught:
        Ratings.from_wide(data, system="gpt")
    assert [warning.filename for warning in caught] == [__file__]


def test_texts_in_brackets_are_no_lists_and_two_columns_of_gold_labels_are_refused():
    data = table(text=[f"[NSFW] a, text {i % 58}" for i in range(60)])
    with pytest.raises(InputError, match="that of a remark"):
        Ratings.from_wide(data)
    gold = dict.fromkeys(("label", "gold"), data["Ann"])
    with pytest.raises(InputError, match="no raters either: gold"):
        Ratings.from_wide(data | gold, truth="label")


def test_numbers_of_places_in_a_text_are_not_proposed_as_raters():
    numbers = {f"{name}_seq": [1 + i % 7 for i in range(60)] for name in ("section", "line")}
    data = pd.DataFrame({"text": [f"t{i}" for i in range(60)], "code_1": [0, 1] * 30, **numbers})
    with pytest.raises(InputError) as caught:
        Ratings.from_wide(data)
    assert "_seq" not in caught.value.remedy


def test_labels_in_sets_that_differ_in_case_are_named_and_counted():
    with pytest.warns(DataWarning, match="differ only in how"):
        with_capital = Ratings.from_wide(sets("Cat", "dog", "dog, Cat", "dog"), sets=True)
    (note,) = (note for note in with_capital.notes if "differ only in how" in str(note))
    assert "'Cat'/'cat' (in 2/3 cells)" in str(note) and "Cat=cat" in str(note)
    assert not any("differ only" in str(note) for note in Ratings.from_wide(SAME, sets=True).notes)


@given(
    st.lists(st.sampled_from(["", "NA", " b", "b", "b\u00a0", "i2", "i10", "i010"])), st.booleans()
)
def test_texts_of_a_file_are_coded_as_a_list_is_in_order_or_not(texts, in_order):
    if in_order:
        texts.sort(key=lambda text: (len(text), text))
    in_file, in_list = encode(pa.chunked_array([texts], pa.string())), encode(texts)
    assert in_file.labels == in_list.labels
    assert in_file.values.tolist() == in_list.values.tolist()
