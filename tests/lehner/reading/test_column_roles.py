"""Columns recognised by their names, and names that were nearly right."""

import numpy as np
import pandas as pd
import pytest

from lehner import DataWarning, InputError, Ratings, Reading, read_ratings
from lehner.reading.read import propose


def file_of(folder, text):
    path = folder / "ratings.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "header",
    [
        "task,annotator,answer",
        "item_id,coder,label",
        "Task ID,Annotator-ID,Response",
        "document,judge,annotation",
        "id,reviewer,category",
    ],
)
def test_a_row_per_rating_is_known_by_usual_names(tmp_path, header):
    rows = "\n1,Ann,yes\n1,Bo,no\n2,Ann,no\n2,Bo,no\n3,gpt,yes\n1,gpt,yes\n"
    ratings = read_ratings(file_of(tmp_path, header + rows), system="gpt")
    expected = Ratings.from_long(
        {
            "item": [1, 1, 2, 2, 3, 1],
            "rater": ["Ann", "Bo", "Ann", "Bo", "gpt", "gpt"],
            "rating": ["yes", "no", "no", "no", "yes", "yes"],
        },
        system="gpt",
    )
    assert ratings.equals(expected)
    item, rater, rating = header.split(",")
    assert f"items are named by {item}" in ratings.notes[0]
    assert f"the rater is in {rater}, the rating in {rating}" in ratings.notes[0]


def test_columns_of_raters_with_such_names_are_raters_where_each_item_has_one_row(tmp_path):
    text = "item,judge,coder,answer\n1,yes,no,yes\n2,no,no,no\n3,yes,yes,yes\n"
    assert read_ratings(file_of(tmp_path, text)).raters == ("judge", "coder", "answer")


def test_items_are_what_each_rater_rates_once(tmp_path):
    text = "sentence,site,annotator,answer\na b,1,Ann,yes\na b,1,Bo,no\nc d,2,Ann,no\nc d,2,Bo,no\n"
    ratings = read_ratings(file_of(tmp_path, text))  # sentence and site tell the same items apart
    assert ratings.items.tolist() == ["a b", "c d"] and ratings.codes.tolist() == [[1, 0], [0, 0]]
    more = text + "e f,2,Ann,yes\ne f,2,Bo,no\n"
    assert read_ratings(file_of(tmp_path, more)).items.tolist() == ["a b", "c d", "e f"]
    said = "the names leave open which column names the items; say which .*: choose among"
    with pytest.raises(InputError, match=said):
        read_ratings(
            file_of(tmp_path, "x,y,annotator,answer\n1,5,Ann,yes\n2,5,Ann,no\n3,6,Bo,no\n")
        )


@pytest.mark.parametrize("form", ["wide", "long"])
def test_a_name_that_is_nearly_right_is_told_the_right_one(tmp_path, form):
    wide = "item,Ann,Bo,gpt\n1,yes,no,yes\n2,no,no,no\n"
    long = "item,rater,rating\n1,Ann,yes\n1,Bo,no\n1,gpt,yes\n2,Ann,no\n"
    path = file_of(tmp_path, {"wide": wide, "long": long}[form])
    for misspelt in ("gtp", "GPT"):
        with pytest.raises(InputError, match="did you mean 'gpt'"):
            read_ratings(path, system=misspelt)
    if form == "wide":
        for option in ({"item": "itme"}, {"truth": "itme"}, {"counts": "itme"}):
            with pytest.raises(InputError, match="did you mean 'item'"):
                read_ratings(path, **option)
        with pytest.raises(InputError, match="did you mean 'Ann'"):
            read_ratings(path, raters=["Anne", "Bo"])


def number(ratings):
    return [note for note in ratings.notes if "names the items: each row has" in note]


@pytest.mark.parametrize("numbers", [range(1, 9), range(0, 800, 100), [5, 3, 8, 1, 2, 7, 6, 4]])
def test_other_numbers_in_each_row_name_the_items(numbers):
    table = {"nr": list(numbers), "Ann": [0, 1] * 4, "Bo": [0, 0, 1, 1] * 2, "Cy": [1] * 8}
    ratings = read_ratings(table)
    assert ratings.raters == ("Ann", "Bo", "Cy") and ratings.items.tolist() == list(numbers)
    assert number(ratings) == ["nr names the items: each row has another label there"]
    assert not number(read_ratings(table, item="nr"))
    named = read_ratings(table, raters=["Ann", "Bo", "Cy"])  # as it is without their names
    assert named.equals(ratings) and number(named) == number(ratings)
    assert not number(read_ratings({"item": table["nr"], "Ann": table["Ann"], "Bo": table["Bo"]}))


@pytest.mark.parametrize(
    "table",
    [
        {"Ann": list("abcdef"), "Bo": list("abbdef"), "Cy": list("aaccef")},
        {"Ann": [1, 2, 3, 4, 5, 6], "Bo": [1, 2, 2, 4, 5, 5], "Cy": [1, 1, 3, 3, 5, 6]},  # grades
        {"Ann": [1, 2], "Bo": [1, 1], "Cy": [2, 2]},
        {"Ann": ["no", "yes"] * 4, "Bo": ["yes"] * 8},
    ],
)
def test_raters_who_never_repeat_a_grade_stay_raters(table):
    ratings = read_ratings(table)
    assert len(ratings.raters) == len(table) and not number(ratings)


def test_other_words_in_each_row_name_the_items_but_no_scores_dates_or_sentences():
    grades = {"Ann": [1, 2, 3] * 4, "Bo": [1, 2, 2] * 4, "Cy": [3, 2, 1] * 4}
    ratings = read_ratings({"essay": [f"e{i:03}" for i in range(12)], **grades})
    assert ratings.raters == ("Ann", "Bo", "Cy") and ratings.items[1] == "e001"
    assert number(ratings) == ["essay names the items: each row has another label there"]
    for form in ("0.{:03}", "2024-05-{:02}", "It says {}"):
        with pytest.raises(InputError, match="so it is probably not a rater"):
            read_ratings({"said": [form.format(i) for i in range(11, 23)], **grades})


def test_some_raters_of_a_table_with_a_row_per_rating_are_read():
    rows = [(i, r, "yes" if (i + j) % 2 else "no") for i in range(4) for j, r in enumerate("abcd")]
    table = dict(zip(("item", "rater", "rating"), zip(*rows, strict=True), strict=True))
    few = {name: [row[k] for row in rows if row[1] in "acd"] for k, name in enumerate(table)}
    expected = read_ratings(few, system="d")
    result = read_ratings(table, raters=["c", "a"], system="d")
    assert result.equals(expected) and result.raters == ("a", "c")
    assert read_ratings(table, raters=["a", "b"]).raters == ("a", "b")
    with pytest.raises(InputError, match="there is no column or rater 'x'"):
        read_ratings(table, raters=["a", "x"])


def test_a_column_that_names_systems_is_left_out_on_request_and_is_no_systems_answers():
    table = {"Ann": ["no", "yes"] * 4, "Bo": ["yes"] * 8, "system": ["gpt", "claude"] * 4}
    with pytest.raises(InputError, match=r"say so \(leave_out=\['system'\]\)") as caught:
        read_ratings(table)
    assert read_ratings(table, **caught.value.change).raters == ("Ann", "Bo")
    long = {"item": [1, 1, 2, 2], "rater": [*"abab"], "rating": [*"xyxx"], "system": [*"mmnn"]}
    assert read_ratings(long).systems == ()
    assert read_ratings(long | {"a": [*"mmmm"]}, system="a").systems == ("a",)


@pytest.mark.parametrize("name", ["gt", "gold"])
def test_a_column_named_like_gold_labels_is_said_where_each_row_is_a_rating(name):
    table = {"item": [1, 1, 2, 2], "rater": [*"abab"], "rating": [*"xyxx"], name: [*"xxyy"]}
    with pytest.warns(DataWarning, match=f"if {name} has gold labels, say so"):
        assert read_ratings(table).truth is None
    assert read_ratings(table, truth=name).truth.tolist() == [0, 1]


def test_a_survey_has_raters_as_rows(tmp_path):
    """Qualtrics has three rows of names; forms name who answered; there may be few questions."""
    names = ["StartDate", "ResponseId", "Q1", "Q2", "Q3"]
    rows = [names, ["Start", "ID", "a?", "b?", "c?"], ['"{""ImportId"":""x""}"'] * 5]
    rows += [
        [f"day {i}", f"R_{i}", *(["yes", "no"][(i * j) % 2] for j in range(3))] for i in range(9)
    ]
    file = file_of(tmp_path, "\n".join(map(",".join, rows)))
    with pytest.raises(InputError, match="rows 2 and 3 are no data") as caught:
        read_ratings(file)
    assert caught.value.change == {"header": "1-3"}
    with pytest.raises(InputError, match="9 rows is probably a rater, and each of") as caught:
        read_ratings(file, header="1-3")
    ratings = read_ratings(file, header="1-3", **caught.value.change)
    assert (ratings.n_items, ratings.n_raters) == (3, 9)


def test_models_that_label_in_rows_are_proposed_as_raters():
    rows = [(i, m, "pn"[(i + j) % 2], i / 9) for i in range(9) for j, m in enumerate("abc")]
    names = ("example", "model", "label", "confidence")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    with pytest.raises(InputError, match=r"'model' seems to name .*rater='model'") as caught:
        read_ratings(table)
    assert read_ratings(table, **caught.value.change).raters == ("a", "b", "c")


GRADES = [("R1", [1, 2, 3, 2, 1, 3]), ("R2", [1, 2, 3, 3, 1, 3])]


@pytest.mark.parametrize(
    ("table", "said", "change"),
    [
        (
            {f"{r}_{c}": x for r, x in GRADES for c in ("clarity", "style")},
            r"combine R1, R2 with clarity, style.*\(raters=\['R1_clarity', 'R2_clarity'\]\)",
            {},
        ),
        (
            dict(GRADES) | {"checked": [1, None, None, None, None, 3], "R3": [1, 2, 3, 2, 1, 1]},
            r"filled in 2 of 6 rows, where others are full: it may hold gold labels",
            {"truth": "checked"},
        ),
        (dict(GRADES) | {"Final decision": [1, 2, 3, 3, 1, 3]}, r"truth='Final decision'", {}),
        (
            {"yes": [3, 1, 0, 2, 3, 1], "no": [0, 2, 3, 1, 0, 2], "All": [3] * 6},
            r"all rows have the sum 6.*leave_out=\['All'\]",
            {"category_counts": True, "leave_out": ("All",)},
        ),
        (
            {"": ["a", "b"], "a": [20, 3], "b": [4, 9]},
            r"rows and columns are the same categories",
            {},
        ),
        (
            {
                "votes.a": [3, 1, 0, 2, 3, 1],
                "votes.b": [None, 2, 3, 1, None, 2],
                "text": [*"uvwxyz"],
            },
            "all rows have the sum 3",
            {"category_counts": True, "categories": ("votes.a", "votes.b")},
        ),
        (
            {"case": [1, 2, 3, "Total"], "R1": [1, 2, 1, 3], "R2": [1, 2, 2, 3]},
            r"'Total' sums up the others",
            {"where": "case not in ['Total']"},
        ),
    ],
)
def test_signs_of_another_table_are_refused_with_what_to_do(table, said, change):
    with pytest.raises(InputError, match=said) as caught:
        read_ratings(table)
    assert (caught.value.change or {}) == change
    if change:
        read_ratings(table, **change)


def test_of_several_criteria_one_is_to_be_chosen():
    table = {
        "case": [*"uuvvww"],
        "criterion": [1, 2] * 3,
        "A": [1, 4, 1, 5, 2, 4],
        "B": [1, 4, 2, 5, 1, 4],
    }
    with pytest.raises(InputError, match="ratings of several criteria: 1, 2") as caught:
        read_ratings(table)
    assert read_ratings(table, raters=["A", "B"], **caught.value.change).n_items == 3


def test_gold_labels_that_cuts_do_not_tell_apart_are_refused():
    table = {"a": [1, 2, 4, 5], "b": [2, 1, 5, 5], "gold": [0, 0, 1, 1]}
    with pytest.raises(InputError, match="the gold labels 0, 1 would all be one category"):
        read_ratings(table, raters=["a", "b"], truth="gold", cut=3)


@pytest.mark.parametrize("corner", ["", "item "])
def test_tables_separated_by_spaces_are_read(tmp_path, corner):
    rows = "".join(f"{i}  {i % 2}   {i % 3 % 2}\n" for i in range(1, 8))
    ratings = read_ratings(file_of(tmp_path, f"{corner}Ann Bo\n{rows}"))
    assert ratings.raters == ("Ann", "Bo") and ratings.items.tolist() == list(range(1, 8))


def test_names_in_two_rows_are_joined(tmp_path):
    text = "id,How good?,,\n,a,b,c\n" + "".join(f"{i},1,2,{i % 2}\n" for i in range(3))
    with pytest.raises(InputError, match="in row 1 and row 2") as caught:
        read_ratings(file_of(tmp_path, text))
    ratings = read_ratings(file_of(tmp_path, text), item="id", **caught.value.change)
    assert ratings.raters == tuple(f"How good? {x}" for x in "abc") and ratings.n_items == 3


def test_a_rating_is_the_column_that_is_ticked():
    table = {"item": [1, 1, 2, 2], "rater": [*"abab"], "cat": [1, 0, 1, 0], "dog": [0, 1, 0, 0]}
    ratings = read_ratings(table, rating="cat,dog")
    assert ratings.categories == ("cat", "dog") and ratings.codes.tolist() == [[0, 1], [0, -1]]
    with pytest.raises(InputError, match="not just one of the columns cat, dog is ticked"):
        read_ratings(table | {"dog": [1, 1, 0, 0]}, rating="cat,dog")


# Rows that sum up others


def items_and(*last):
    """Six items that two raters rated, and more rows with a name and two cells."""
    rows = [(f"i{n}", n % 2, n % 2) for n in range(6)]
    return pd.DataFrame([*rows, *last], columns=["item", "a", "b"])


@pytest.mark.parametrize("name", ["Total Recall", "Mean Girls", "Sum of squares", "Average Joe"])
def test_names_that_begin_like_that_of_a_total_are_items(name):
    assert read_ratings(items_and((name, 1, 0), ("i7", 0, 1))).items.tolist()[-2:] == [name, "i7"]


@pytest.mark.parametrize(
    ("row", "is_total"),
    [
        (("Total", 1, 0), True),
        (("Grand Total", 0, 1), True),
        (("Gesamt", 3, 3), True),
        (("Gesamt", 3, 2), False),
        (("Gesamt", 3, None), False),
    ],
)
def test_a_total_has_such_a_name_or_adds_up_and_an_option_says_that_it_is_an_item(row, is_total):
    table = items_and(row)
    if is_total:
        with pytest.raises(
            InputError, match=rf"'{row[0]}' sums up .* \(keep_totals=True\)"
        ) as caught:
            read_ratings(table)
        assert read_ratings(table, **caught.value.change).n_items == 6
        assert read_ratings(table, where="item != 'x'", keep_totals=True).n_items == 7
    else:
        assert read_ratings(table).n_items == 7


def test_a_last_row_with_as_many_as_one_above_is_no_total():
    rows = [("i0", 0, 0), ("i1", 1, 0), ("i2", 0, 1), ("i3", 0, 0), ("i4", 1, 1)]
    assert read_ratings(pd.DataFrame(rows, columns=["item", "a", "b"])).n_items == 5


def test_proposals_for_rows_are_joined_also_with_what_is_typed():
    table = items_and(("Total", 1, 0), ("Mean", 0, 1))
    ratings, reading, reasons = propose(table, Reading(where="item != 'i3'"))
    assert ratings.items.tolist() == ["i0", "i1", "i2", "i4", "i5"]
    assert len(reasons) == 2 and read_ratings(table, reading=reading).equals(ratings)


# Columns that are judged by their labels


def test_a_text_of_the_item_is_no_rating_whatever_its_name():
    """In public safety data `response` is the answer of the chatbot, on which people rate."""
    rows = [
        (i, r, f"answer {i}", "yes" if (i + j) % 3 else "no")
        for i in range(12)
        for j, r in enumerate("ab")
    ]
    names = ("item_id", "rater_id", "response", "Q_overall")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    with pytest.raises(InputError, match=r"choose among Q_overall") as caught:
        read_ratings(table)
    assert read_ratings(table, **caught.value.change).categories == ("no", "yes")


def test_groups_coded_like_ratings_are_no_raters():
    wards = [1, 2] * 20
    truth = [0, 0, 1, 1] * 10
    readers = {"reader_a": truth, "reader_b": [*truth[:30], *[0, 1] * 5]}
    for name, said in {
        "ward": "groups of items",
        "x": "labels such as 2 occur in no other column, and it lacks 0",
    }.items():
        with pytest.raises(InputError, match=said) as caught:
            read_ratings({name: wards, **readers})
        assert caught.value.change == {"raters": ("reader_a", "reader_b")}
    other_scale = [x + (i % 7 == 0) for i, x in enumerate(truth)]  # a rater who uses 2, too
    assert read_ratings({"x": other_scale, **readers}).n_raters == 3


def test_a_sparse_column_with_the_labels_of_a_full_one_may_be_gold_labels():
    table = {"judge": ["pass", "fail"] * 10, "human": [*["pass", "fail"] * 3, *[None] * 14]}
    with pytest.raises(InputError, match="filled in 6 of 20 rows") as caught:
        read_ratings(table)
    assert caught.value.change == {"truth": "human"}
    two = dict(zip(("Ann", "Bo"), table.values(), strict=True))
    with pytest.raises(InputError, match=r"\(truth='Bo', or raters=\['Ann', 'Bo'\]\)") as caught:
        read_ratings(two)
    assert read_ratings(two, **caught.value.change).raters == ("Ann", "Bo")
    assert read_ratings(dict(zip(("coder1", "coder2"), table.values(), strict=True))).n_raters == 2


def test_texts_are_no_raters_beside_columns_that_are_named_like_raters_and_nor_are_identifiers():
    rng = np.random.default_rng(1)
    texts = {
        name: [f"{name[:4]} {i % 7}" for i in range(20)] for name in ("text_1b", "text_2", "x")
    }
    raters = {f"coder{j}": rng.integers(0, 2, 20).tolist() for j in range(2)}
    with pytest.raises(InputError, match="share no label with coder0, coder1") as caught:
        read_ratings(texts | raters)
    assert read_ratings(texts | raters, **caught.value.change).raters == ("coder0", "coder1")
    with pytest.raises(InputError, match="name is that of an identifier"):
        read_ratings(raters | {"signal_id": rng.integers(0, 3, 20).tolist()})


def test_a_column_beside_raters_with_numbers_is_asked_for_and_domains_are_not_proposed():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    readers = {f"rad{j}": np.where(rng.random(60) < 0.8, truth, 1 - truth) for j in range(3)}
    for name, column in {"patho": truth, "smoker": rng.integers(0, 2, 60)}.items():
        with pytest.raises(InputError, match="rad0, rad1, rad2 are named alike") as caught:
            read_ratings(readers | {name: column})
        assert f"truth='{name}'" in str(caught.value)
    domains = {f"D{j}": rng.integers(0, 3, 60) for j in range(5)}
    with pytest.raises(InputError, match="probably not a rater") as caught:
        read_ratings(domains | {"Weight": rng.random(60).round(3)})
    assert not caught.value.change


def test_items_named_by_a_column_without_a_name_are_those_of_the_first(tmp_path):
    text = ",Ann,Bo\n" + "".join(f"{i},{i % 2},{i % 2}\n" for i in range(6))
    assert "items are named by the first column" in read_ratings(file_of(tmp_path, text)).notes[0]


def test_gold_labels_are_in_a_file_whose_columns_have_other_names(tmp_path):
    rows = "".join(f"s{i},{who},{x}\n" for i, x in enumerate("good bad".split()) for who in "ab")
    file, gold = file_of(tmp_path, "Session ID,rater,rating\n" + rows), tmp_path / "queue.csv"
    roles = {"item": "Session ID", "rater": "rater", "rating": "rating"}
    for name, options in (("Session ID", {}), ("sid", {"truth_item": "sid"})):
        gold.write_text(f"{name},Tag,Comment\ns1,good,-\ns0,good,-\n")
        ratings = read_ratings(file, truth=f"{gold}:Tag", **roles, **options)
        assert ratings.truth.tolist() == [1, 1]
    with pytest.raises(InputError, match=r"no column is named truth; .*queue.csv:COLUMN"):
        read_ratings(file, truth=gold, **roles)
    gold.write_text("sid,Tag\ns7,good\n")
    with pytest.raises(InputError, match="row 2, column 'sid': the ratings have no item 's7'"):
        read_ratings(file, truth=f"{gold}:Tag", **roles, truth_item="sid")


def test_criteria_and_who_entered_a_record_are_no_raters_and_answers_of_a_survey_are_alike():
    marks = {name: [0, 1] * 10 for name in ("toxic", "severe_toxic", "insult")}
    records = [f"{i}--{k}" for i in range(10) for k in (1, 2)]
    entries = {"record": records, "dx": [0, 1] * 10, "side": [1, 1, 0, 0] * 5, "done": [1] * 20}
    for table, said in ((marks, "name is that of a criterion"), (entries, "probably not a rater")):
        with pytest.raises(InputError, match=said) as caught:
            read_ratings(table)
        assert not caught.value.change
    people = {"Participant id": [f"p{i}" for i in range(9)], "Sex": ["m", "f", "f"] * 3}
    facts = {f"{x} is": [f"{x}{y}" for y in "aab" * 3] for x in "stuvwxyz"}
    with pytest.raises(InputError, match="9 rows is probably a rater") as caught:
        read_ratings(people | facts | {"Student": ["y", "n", "n"] * 3, "Work": ["y", "n", "y"] * 3})
    assert not caught.value.change


LABELS, LIKE_LABELS = [0, 1] * 20, [2, 1, 2, 1, 2, 1, 2, 1, 1, 2] * 4
TEXTS = [None, None, *(f"text {i // 2}" for i in range(2, 40))]
POSTS = {"item_id": [i // 2 for i in range(40)], "rater_id": [*"ab"] * 20, "body": TEXTS}

PRESSURES = {"sys_1": range(110, 150), "sys_2": range(110, 150)}
BY_LABELS = {"system": ("sys_a", "sys_b"), "truth": "gold"}


@pytest.mark.parametrize(
    ("table", "change"),
    [
        # Numbers that hardly go with the ratings are groups.
        ({"Ann": LABELS, "Bo": LABELS, "x": LIKE_LABELS}, {"raters": ("Ann", "Bo")}),
        # A majority of one rater is no gold label.
        ({"majority": LABELS, "Ann": LABELS, "note": [*map("note {}".format, range(40))]}, {}),
        # Gold labels of all items tell how accurate systems are.
        (dict.fromkeys(("sys_a", "sys_b", "gold"), LABELS), BY_LABELS),
        # Systolic blood pressures have numbers in common, and are no systems.
        (PRESSURES | dict.fromkeys("ab", [*"yn"] * 20), {"leave_out": (*PRESSURES,)}),
        # Texts of items are no choice for the rating.
        (POSTS | {"Q_overall": [*"ynnyy"] * 8}, {"rating": "Q_overall"}),
    ],
)
def test_what_is_proposed_is_no_group_copy_or_text(table, change):
    with pytest.raises(InputError) as caught:
        read_ratings(table)
    assert caught.value.change == change


def test_rows_of_truth_are_left_out_where_they_would_be_those_of_a_rater():
    """As iMRMC writes them, on another scale than the readers'."""
    who = [("-1", "truth", 0), ("r1", "CT", 3), ("r2", "CT", 2), ("r1", "MR", 1), ("r2", "MR", 1)]
    rows = [(f"c{i}", *row) for i in range(6) for row in who]
    table = pd.DataFrame(rows, columns=["caseID", "readerID", "modalityID", "score"])
    ratings, reading, _ = propose(table, Reading(item=("caseID", "modalityID")))
    assert ratings.raters == ("r1", "r2") and reading.where == "modalityID != 'truth'"


def test_participants_beside_a_system_and_gold_labels_make_no_survey():
    questions = {f"q{j}": [f"{j} {i % 4}" for i in range(6)] for j in range(5)}
    table = {"participant": [*"uvwxyz"], "Acme": [*"yynnyn"], "gold": [*"yynnyy"], **questions}
    assert read_ratings(table, system="Acme", truth="gold").n_items == 6


CROWD = [(i, f"w{i * j % 9}", "yn"[(i + j) % 3 > 0]) for i in range(60) for j in (1, 2, 4)]
NAMES = ("Acme", "Bolt", "Civ")
VENDORS = [(i, name, "yn"[i % k > 0]) for k, name in enumerate(NAMES, 2) for i in range(60)]


def long(*rows):
    rows = {(item, rater): label for item, rater, label in rows}
    table = pd.Series(rows).rename_axis(["post", "worker"]).rename("label")
    return table.reset_index()


def test_a_pattern_is_of_the_raters_though_the_column_is_like_it_too():
    ratings = read_ratings(long(*CROWD, *VENDORS), raters=["w*"])
    assert all(name.startswith("w") for name in ratings.raters) and ratings.n_items == 60


def test_those_who_answered_as_much_as_the_system_are_not_silently_raters():
    table = long(*CROWD, *VENDORS)
    with pytest.raises(InputError, match="Bolt, Civ would be raters, but") as error:
        read_ratings(table, system="Acme")
    ratings = read_ratings(table, **error.value.change)
    assert ratings.systems == NAMES
    assert read_ratings(table, system="Acme", raters=["w*", "Bolt", "Civ"]).n_raters > 3


def test_systems_are_in_a_file_of_their_own(tmp_path):
    crowd, vendors = long(*CROWD), long(*VENDORS)
    wide = vendors.pivot(index="post", columns="worker", values="label")
    wide.to_csv(tmp_path / "wide.csv")
    vendors.to_csv(tmp_path / "long.csv", index=False)
    expected = read_ratings(long(*CROWD, *VENDORS), system=NAMES)
    for name in ("wide.csv", "long.csv"):
        ratings = read_ratings(crowd, system=str(tmp_path / name))
        assert ratings.systems == expected.systems
        assert ratings.answers.tolist() == expected.answers.tolist()
    one = read_ratings(crowd, system=f"{tmp_path / 'wide.csv'}:Bolt")
    assert one.systems == ("Bolt",) and one.system.tolist() == expected.answers[:, 1].tolist()
    wide.set_axis(wide.index + 20).rename_axis("post").to_csv(tmp_path / "more.csv")
    more = read_ratings(crowd, system=str(tmp_path / "more.csv"))
    assert "20 items of more.csv have no ratings: they are left out" in more.notes
    month = tmp_path / "month.csv"
    wide.assign(month="2026").to_csv(month)
    by_month = read_ratings(crowd, system=str(month))
    assert by_month.systems == NAMES and "ignored in month.csv: month" in by_month.notes
    wide["Bolt"].rename("truth").to_csv(tmp_path / "gold.csv")
    for leave_out in ((), "month"):
        gold = str(tmp_path / "gold.csv")
        alone = read_ratings(month, system=NAMES, truth=gold, leave_out=leave_out)
        assert alone.n_raters == 0 and alone.truth.tolist() == alone.answers[:, 1].tolist()
    wide.replace("y", "maybe").to_csv(tmp_path / "bad.csv")
    with pytest.raises(InputError, match=r"bad.csv: there is no category 'maybe'"):
        read_ratings(crowd, system=str(tmp_path / "bad.csv"))


def test_a_file_of_gold_labels_says_how_probably_each_item_was_chosen(tmp_path):
    file = tmp_path / "gold.csv"
    labels = pd.DataFrame({"post": range(60), "truth": ["y"] + [""] * 59, "truth_probability": 0.1})
    labels.to_csv(file, index=False)
    ratings = read_ratings(long(*CROWD), truth=str(file))
    assert ratings.truth_probability.tolist() == [0.1] * 60 and (ratings.truth >= 0).sum() == 1
    labels[:50].to_csv(file, index=False)
    with pytest.raises(InputError, match="the item '50' of the ratings has no probability"):
        read_ratings(long(*CROWD), truth=str(file))
