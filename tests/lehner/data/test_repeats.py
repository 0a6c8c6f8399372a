"""Repeated ratings change no number; probabilities of truths are kept."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lehner
from lehner import InputError, Ratings, Scenario, pairwise_agreement, read_ratings, simulate
from lehner.command.load import load
from lehner.data.counts import Counts, sort_ratings
from lehner.data.reading import Reading
from lehner.dependence.check import correlate_known_errors
from tests.lehner.questions import plain_estimate, resample

long_rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40
)


def of_rows(rows, **options):
    item, rater, category = np.array(sorted(rows), dtype=np.int64).T
    votes = Counts(item, rater, category, (4, 3, 3))
    return Ratings(votes, "abc", ["x", "y", "z"], range(4), **options)


def brute_force_votes(rows):
    """The votes as (item, rater, category), by counting."""
    votes = []
    for pair in sorted({row[:2] for row in rows}):
        times = Counter(row[2] for row in rows if row[:2] == pair).most_common()
        if len(times) == 1 or times[0][1] > times[1][1]:
            votes.append((*pair, times[0][0]))
    return votes


def rows_of(flat):
    columns = (flat.item_index, flat.rater_index, flat.category_index)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(long_rows, st.randoms())
def test_votes_are_the_most_frequent_ratings_in_whatever_order_they_come(rows, random):
    result = of_rows(rows)
    assert rows_of(result.votes) == brute_force_votes(rows)
    assert sorted(rows_of(result.entries)) == sorted(rows)
    random.shuffle(rows)
    table = {
        "item": [row[0] for row in rows],
        "rater": ["xyz"[row[1]] for row in rows],
        "rating": ["abc"[row[2]] for row in rows],
        "visit": list(range(len(rows))),
    }
    again = Ratings.from_long(table, occasion="visit", categories=list("abc"))
    expected = {(i, "xyz"[j], "abc"[k]) for i, j, k in brute_force_votes(rows)}
    named = {
        (again.items[i], again.raters[j], again.categories[k]) for i, j, k in rows_of(again.votes)
    }
    assert named == expected


def repeat(ratings: Ratings, seed: int, whose: tuple[int, ...] = (0, 1, 2)) -> Ratings:
    """Let some raters repeat their ratings of about half of the items exactly, 1 to 4 times."""
    rng = np.random.default_rng(seed)
    votes = ratings.votes
    more = np.isin(votes.rater_index, whose) & (rng.random(len(votes.rater_index)) < 0.5)
    times = 1 + more * rng.integers(1, 5, len(more))
    columns = (votes.item_index, votes.rater_index, votes.category_index)
    codes = sort_ratings(*(np.repeat(column, times) for column in columns), votes.shape)
    return ratings.replace(entries=codes)


def data(k: int, seed: int, **options) -> Ratings:
    scenario = Scenario(
        n_categories=k,
        n_items=60,
        initial_rater_accuracy=(0.75, 0.7, 0.8),
        initial_system_accuracy=0.9,
        missing=0.2,
        **options,
    )
    return simulate(scenario, seed)


def partly_known(ratings):
    return ratings.with_truth(np.where(np.arange(60) < 15, ratings.truth, -1))


def groups_of(ratings):
    return np.where(np.arange(ratings.n_rows) % 2, "south", "north")


RESAMPLES = {"resamples": 20}
ESTIMATES = {
    "algebraic": lambda r: plain_estimate(lehner.estimate_algebraic(r, resamples=100)),
    "algebraic_paper": lambda r: plain_estimate(
        lehner.estimate_algebraic(r, aggregation="paper", interval=None)
    ),
    "majority_agreement": lambda r: plain_estimate(lehner.majority_agreement(r)),
    "dawid_skene_ml": lambda r: plain_estimate(
        lehner.estimate_latent_class(r.with_truth(None), "dawid_skene", restarts=0, **RESAMPLES)
    ),
    "one_coin_ml, truths": lambda r: plain_estimate(
        lehner.estimate_latent_class(partly_known(r), "one_coin", restarts=0, **RESAMPLES)
    ),
    "standard errors": lambda r: lehner.fit_latent_class(
        r.with_truth(None), "one_coin"
    ).confusion.to_dict(),
    "criteria": lambda r: repr(lehner.fit_latent_class(r.with_truth(None), "pooled")),
    "populations": lambda r: plain_estimate(
        lehner.estimate_latent_class(
            r.with_truth(None).with_populations(groups_of(r)), "one_coin", restarts=0, **RESAMPLES
        )
    ),
    "P_a": lambda r: repr(pairwise_agreement(r)),
    "groups, performance": lambda r: lehner.estimate(
        r, "algebraic", groups=groups_of(r)
    ).table.to_csv(),
    "label": lambda r: lehner.label(partly_known(r)).truth_probabilities.to_dict(),
    "k_properties": lambda r: str(lehner.check_k_properties(r.with_truth(None), replicates=199)),
    "dependence": lambda r: str(lehner.check_dependence(partly_known(r))),
    "known errors": lambda r: repr(correlate_known_errors(r)),
    "ask": lambda r: lehner.choose_items(partly_known(r), 9, seed=1).tolist(),
    "two systems": lambda r: (
        resample(
            "dawid_skene_ml",
            r.replace(
                answers=np.column_stack([r.system, np.roll(r.system, 1)]), systems=("new", "old")
            ),
            resamples=5,
        )
        .drawn["system_accuracy_in_sample"]
        .tolist()
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize(("k", "whose"), [(2, (0, 1, 2)), (4, (0,))])
def test_exact_repeats_leave_every_number_as_it_was(name, k, whose):
    once = data(k, seed=k)
    twice = repeat(once, seed=1, whose=whose)
    assert twice.n_ratings > once.n_ratings
    # Not to some tolerance: the same arrays are read, so that the same seed gives the same draws.
    assert str(ESTIMATES[name](twice)) == str(ESTIMATES[name](once))


@pytest.mark.parametrize("seed", range(5))
def test_exact_repeats_leave_grouped_rows_and_their_patterns_as_they_were(seed):
    once = data(2 + seed % 3, seed).to_grouped(truth=seed % 2 == 0)
    assert once.grouped
    twice = repeat(once, seed)
    for name in ("algebraic", "P_a", "dawid_skene_ml"):
        assert str(ESTIMATES[name](twice)) == str(ESTIMATES[name](once))
    assert twice.to_grouped().equals(once.to_grouped())
    assert twice.to_ungrouped().repeated and twice.take([0, 1]).n_rows == 2


def test_agreement_is_that_of_raters_not_of_ratings():
    # x rates item 0 five times and agrees with y; item 1 once and disagrees: one of two pairs.
    rows = [(0, 0, 0)] * 5 + [(0, 1, 0), (1, 0, 1), (1, 1, 2)]
    result = pairwise_agreement(of_rows(rows))
    assert (result.agreement, result.n_pairs) == (0.5, 2)
    # Each rater is one rater of the item, whose mean number is 2.
    assert of_rows(rows).count_votes().sum(axis=1).tolist() == [2, 2, 0, 0]


def test_a_tie_is_no_vote_and_is_said():
    ratings = of_rows([(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 2), (1, 0, 2), (1, 0, 1)])
    assert ratings.count_votes().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert ratings.notes[0] == (
        "3 of 6 ratings are of an item that the same rater rated before: a rater has one vote for "
        "an item, the rating that the rater gave most often, and none where two are equally "
        "frequent (1 time)"
    )
    assert "2 of 4 items have one vote, which tells nothing of agreement" in ratings.notes
    with pytest.raises(InputError, match="no item has votes of two raters"):
        lehner.label(ratings)


def test_repeats_that_count_as_independent_are_said_and_kept():
    rows = [(0, 0, 0), (0, 0, 0), (0, 1, 1), (1, 0, 0)]
    ratings = of_rows(rows).with_independent_repeats()
    assert ratings.count_votes()[0].tolist() == [2, 1, 0]
    assert ratings.notes[0].endswith("each counts as a vote of its own")
    assert ratings.take([0]).with_truth([0]).count_votes().tolist() == [[2, 1, 0]]
    assert not ratings.equals(of_rows(rows))


# The probability with which each truth was found out: read, kept, and refused where it is none.


WIDE = {
    **{"ann": list("xyy"), "bo": list("xyx"), "gpt": list("xxy"), "truth": ["x", "", "y"]},
    "chance": [0.5, 0.25, 1],
}


def test_a_column_of_a_wide_table_and_of_a_long_one():
    wide = read_ratings(WIDE, system="gpt", truth_probability="chance")
    assert wide.truth_probability.tolist() == [0.5, 0.25, 1.0] and wide.raters == ("ann", "bo")
    assert "chosen with the probabilities in chance" in wide.notes[0]
    long = {
        "item": [1, 1, 2, 2],
        "rater": list("abab"),
        "rating": list("xyxx"),
        "p": [1, 1, 0.2, 0.2],
    }
    assert read_ratings(long, truth_probability="p").truth_probability.tolist() == [1.0, 0.2]
    with pytest.raises(InputError, match=r"row 3.*probability is '0.3' here and '0.2'"):
        read_ratings(long | {"p": [1, 1, 0.2, 0.3]}, truth_probability="p")


@pytest.mark.parametrize("value", [0, -0.1, 1.01, "", "often", float("nan"), "inf"])
def test_a_bad_value_is_named_with_its_file_row_and_column(value, tmp_path):
    file = tmp_path / "a.csv"
    rows = ["item,ann,bo,gpt,truth,p", "1,x,x,x,x,.5", "2,y,y,x,,.5", f"3,x,y,x,,{value}"]
    file.write_text("\n".join(rows))
    shown = "" if value != value else value
    with pytest.raises(InputError, match=rf"a\.csv.*4.*'p'.*'{shown}' is not the prob.*give"):
        read_ratings(file, system="gpt", truth_probability="p")


@pytest.mark.parametrize("probability", [[0.5], ["a", "b"], [[0.5, 0.5]]])
def test_other_arrays_are_refused(probability):
    with pytest.raises(InputError, match="one probability per item"):
        Ratings([[0], [1]], ["x", "y"], truth_probability=probability)
    with pytest.raises(InputError, match="item 1 was chosen with probability 0"):
        Ratings([[0], [1]], ["x", "y"]).with_truth([0, 1], [0.5, 0])


def test_it_is_kept():
    ratings = read_ratings(WIDE, system="gpt", truth_probability="chance")
    assert not ratings.equals(ratings.with_truth(ratings.truth))
    assert ratings.with_truth(None).truth_probability is None
    assert ratings.take([2, 0]).truth_probability.tolist() == [1.0, 0.5]
    assert ratings.without_system().truth_probability.tolist() == [0.5, 0.25, 1.0]
    twice = ratings.take([0, 0, 1, 0])
    chances = np.array([0.5, 0.5, 0.25, 0.1])
    collapsed = twice.with_truth(twice.truth, chances).to_grouped()
    assert collapsed.counts.tolist() == [2, 1, 1]
    assert collapsed.truth_probability.tolist() == [0.5, 0.25, 0.1]
    assert collapsed.to_ungrouped().truth_probability.tolist() == [0.5, 0.5, 0.25, 0.1]


def test_probabilities_without_truths_are_refused(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("item,ann,bo,gpt,p\n1,x,x,x,.5\n2,y,y,x,.5\n")
    with pytest.raises(InputError, match="no gold labels; name their column"):
        load(str(file), Reading(system=("gpt",), truth_probability="p"))


# Names and positions of what is selected, very many columns, and patterns.


TABLE = {"Ann": ["a", "b", "a"], "Bo": ["a", "b", "b"], "gpt": ["a", "-", "b"], "day": [1, 2, 3]}
RATINGS = Ratings([[0, 0], [0, 1], [1, 1], [1, 0]], ["no", "yes"], system=[0, 1, 1, 0])


@pytest.mark.parametrize("method", ["algebraic", ("algebraic",), np.array(["algebraic"])])
def test_one_method_needs_no_list(method):
    result = lehner.estimate(RATINGS, method)
    assert [method for _, method in result.fits] == ["algebraic"]
    scenario = lehner.Scenario(initial_rater_accuracy=(0.8, 0.8), n_items=20)
    drawn = lehner.simulate_estimates(scenario, 2, methods=method)
    assert drawn.equals(lehner.simulate_estimates(scenario, 2, methods=["algebraic"]))


@pytest.mark.parametrize("method", ["algebraci", 3, [["algebraic"]], None.__class__])
def test_what_is_no_method_is_told_in_one_line(method):
    with pytest.raises(InputError, match="there is no method"):
        lehner.estimate(RATINGS, method)


def test_a_text_is_one_name_wherever_names_are_asked_for():
    options = {"system": "gpt", "missing": "-", "leave_out": "day"}
    read = lehner.read_ratings(TABLE, **options)
    assert (read.raters, read.systems) == (("Ann", "Bo"), ("gpt",))
    lists = {name: [value] for name, value in options.items()}
    assert read.equals(lehner.read_ratings(TABLE, **lists))
    ratings = lehner.read_ratings(TABLE, raters="Ann", system="gpt", missing="-")
    assert ratings.raters == ("Ann",)


def test_a_number_names_a_column():
    frame = pd.DataFrame({0: [1, 2, 1], 1: [1, 2, 2], 2: [1, 99, 2]})
    read = lehner.read_ratings(frame, system=2, raters=[0, 1], missing=99)
    assert (read.raters, read.systems) == (("0", "1"), ("2",))
    assert read.answers[:, 0].tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"categories": "ab"}, "categories is 'ab'; give a list of names"),
        ({"truth": ["gold"]}, r"there is no column \['gold'\]"),
        ({"truth": 3}, "there is no column 3"),
        ({"raters": "An"}, "there is no column 'An'; did you mean 'Ann'"),
    ],
)
def test_what_is_no_name_or_list_is_told_in_one_line(options, said):
    with pytest.raises(InputError, match=said):
        lehner.read_ratings({"Ann": ["a", "b"], "Bo": ["a", "b"]}, **options)


def test_categories_may_be_an_array():
    table = {"Ann": ["a", "b"], "Bo": ["a", "b"]}
    read = lehner.read_ratings(table, categories=np.array(["b", "a"]))
    assert read.categories == ("b", "a")


@pytest.mark.parametrize(
    "rows",
    [
        [0, 2],
        [-1, -4, -1],
        [],
        np.array([], dtype=int),
        [True, False, False, True],
        np.int8([1]),
        pd.Series([3, 0]),
        pd.array([1, 2], dtype="Int64"),
        pd.Series([True, False, True, False]),
    ],
    ids=repr,
)
def test_rows_are_taken_as_numpy_takes_them(rows):
    array = np.asarray(rows) if len(rows) else np.array([], dtype=int)
    taken = RATINGS.take(rows)
    assert taken.items.tolist() == RATINGS.items[array].tolist()
    assert taken.codes.tolist() == RATINGS.codes[array].tolist()
    assert taken.system.tolist() == RATINGS.system[array].tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [0.9],
        2,
        [4],
        [-5],
        [True] * 5,
        [[0, 1]],
        [np.nan],
        "01",
        slice(2),
        [2**70],
        [0, [1]],
        pd.array([1, None], dtype="Int64"),
    ],
    ids=repr,
)
def test_rows_that_are_not_there_are_refused(rows):
    with pytest.raises(InputError, match="give"):
        RATINGS.take(rows)


def test_one_numeric_category_has_agreement():
    """Raters who all say 2 agree as raters do who all say x."""
    result = [
        lehner.agreement(Ratings.from_wide({"Ann": [label] * 3, "Bo": [label] * 3}))
        for label in ("x", 2, "2.5")
    ]
    assert len({answers.table.to_csv() for answers in result}) == 1
    assert result[1].table["estimate"][0] == 1


# Tables of very many columns.


def test_many_columns_are_items_unless_they_are_named(tmp_path):
    names = [f"r{j}" for j in range(2000)]
    rows = [names, *(["a", "b"] * 1000 for _ in range(5))]
    (tmp_path / "wide.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    with pytest.raises(
        InputError, match="each of 5 rows is probably a rater, and each of 2000 columns an item"
    ):
        read_ratings(tmp_path / "wide.csv")
    ratings = read_ratings(tmp_path / "wide.csv", raters="r*")
    assert (ratings.n_raters, ratings.n_items) == (2000, 5)


def test_a_name_that_occurs_twice_among_many_is_found(tmp_path):
    names = [f"r{j}" for j in range(4000)]
    (tmp_path / "wide.csv").write_text(",".join([*names, "r7"]) + "\n")
    with pytest.raises(InputError, match="two columns are named 'r7'"):
        read_ratings(tmp_path / "wide.csv")


# Sums over the ratings of patterns; different rows as NumPy finds them, and in its order.


@pytest.fixture
def patterns():
    """Ratings of which some are missing, and some repeated."""
    rng = np.random.default_rng(1)
    item, rater = rng.integers(0, 29, 150), rng.integers(0, 4, 150)
    table = {"item": item, "rater": rater, "rating": rng.integers(0, 3, 150)}
    ratings = Ratings.from_long(pd.DataFrame(table), repeated=True)
    return ratings.with_independent_repeats().to_patterns()


def test_sums_are_those_of_the_ratings_one_by_one(patterns):
    votes, k = patterns.votes, patterns.n_categories
    cells = votes.rater_index * k + votes.category_index
    rng = np.random.default_rng(2)
    of_cells, of_patterns = rng.normal(size=(12, 5)), rng.normal(size=(len(patterns.counts), 5))
    by_pattern, by_cell = np.zeros((len(of_patterns), 5)), np.zeros((12, 5))
    for pattern, cell in zip(votes.item_index, cells, strict=True):
        by_pattern[pattern] += of_cells[cell]
        by_cell[cell] += of_patterns[pattern]
    np.testing.assert_array_equal(patterns.sum_cells(of_cells), by_pattern)
    np.testing.assert_array_equal(patterns.sum_patterns(of_patterns), by_cell)
