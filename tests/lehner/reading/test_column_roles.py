"""Columns recognised by their names, and names that were nearly right."""

import pytest

from lehner import InputError, Ratings, read_ratings


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


def test_two_columns_that_may_name_the_raters_are_refused(tmp_path):
    text = "task,annotator,coder,answer\n1,Ann,x,yes\n1,Bo,y,no\n"
    said = "each of the columns 'annotator' and 'coder' may name the raters; rename the one that"
    with pytest.raises(InputError, match=said):
        read_ratings(file_of(tmp_path, text))


def test_rows_of_ratings_without_a_column_of_items_are_told_how_to_name_it(tmp_path):
    text = "sentence,annotator,answer\na b,Ann,yes\na b,Bo,no\nc d,Ann,no\nc d,Bo,no\n"
    with pytest.raises(InputError, match=r"no column names the items; say which one does"):
        read_ratings(file_of(tmp_path, text))
    ratings = read_ratings(file_of(tmp_path, text), item="sentence")
    assert ratings.codes.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("form", ["wide", "long"])
def test_a_name_that_is_nearly_right_is_told_the_right_one(tmp_path, form):
    wide = "item,Ann,Bo,gpt\n1,yes,no,yes\n2,no,no,no\n"
    long = "item,rater,rating\n1,Ann,yes\n1,Bo,no\n1,gpt,yes\n2,Ann,no\n"
    path = file_of(tmp_path, {"wide": wide, "long": long}[form])
    for given in ("gtp", "GPT"):
        with pytest.raises(InputError, match="did you mean 'gpt'"):
            read_ratings(path, system=given)
    if form == "wide":
        for option in ({"item": "itme"}, {"truth": "itme"}, {"counts": "itme"}):
            with pytest.raises(InputError, match="did you mean 'item'"):
                read_ratings(path, **option)
        with pytest.raises(InputError, match="did you mean 'Ann'"):
            read_ratings(path, raters=["Anne", "Bo"])
