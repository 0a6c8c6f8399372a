"""Bundled data: as published, checked by sizes, margins and positions."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import lehner.datasets
from experiments.paper import FIGURES
from lehner import InputError, list_datasets, load_dataset, simulate

NAMES = [dataset.name for dataset in list_datasets()]


def category_names(ratings, codes):
    return np.array([*ratings.categories, None], dtype=object)[codes]


@pytest.mark.parametrize(
    ("name", "n_items", "n_raters", "n_ratings", "categories"),
    [
        ("lehner_table2", 10, 4, 40, ("A", "B", "C", "D")),
        ("figure10", 200, 3, 600, ("A", "B", "C", "D", "E")),
        ("anesthesia", 45, 5, 315, (1, 2, 3, 4)),
        ("caries", 3869, 5, 5 * 3869, (0, 1)),
        (
            "fleiss1971",
            30,
            6,
            180,
            ("depression", "personality_disorder", "schizophrenia", "neurosis", "other"),
        ),
        ("krippendorff", 12, 4, 41, (1, 2, 3, 4, 5)),
        ("kappazoo_wine", 183, 4, 732, ("at or below 1", "above 1")),
        ("wine", 183, 4, 732, (1, 2, 3, 4)),
        ("llmbar", 419, 5, 5 * 419 - 5, (1, 2)),
    ],
)
def test_sizes_are_as_published(name, n_items, n_raters, n_ratings, categories):
    ratings = load_dataset(name)
    assert (ratings.n_items, ratings.n_raters, ratings.n_ratings) == (n_items, n_raters, n_ratings)
    assert ratings.categories == categories


def test_every_file_is_listed_and_every_listed_data_set_has_a_file():
    files = Path(lehner.datasets.__file__).parent.glob("*.csv")
    assert sorted(NAMES) == sorted(file.stem for file in files)


@pytest.mark.parametrize("dataset", list_datasets(), ids=lambda dataset: dataset.name)
def test_every_data_set_names_its_source(dataset):
    assert dataset.title
    assert dataset.source
    assert dataset.layout in ("ratings", "votes")
    assert load_dataset(dataset.name).ordered == dataset.ordered
    assert (load_dataset(dataset.name).system is not None) == (dataset.system is not None)


def test_lehner_table_2_holds_the_printed_cells():
    ratings = load_dataset("lehner_table2")
    rows = ["".join(row) for row in category_names(ratings, ratings.codes)]
    printed = "CDCC BDCC CCDC BBDD ABBB CBDA AAAA ADBC DBAA ADAB".split()
    assert rows == printed
    assert "".join(category_names(ratings, ratings.system)) == "ACCBBAACDB"
    assert ratings.raters == ("Rater 1", "Rater 2", "Rater 3", "Rater 4")


def test_figure_10_is_a_sample_of_the_setting_of_the_paper():
    simulated = simulate(FIGURES[10], seed=1)
    ratings = load_dataset("figure10")
    names = np.array(simulated.categories)
    assert (category_names(ratings, ratings.codes) == names[simulated.codes]).all()
    assert (category_names(ratings, ratings.system) == names[simulated.system]).all()
    assert (category_names(ratings, ratings.truth) == names[simulated.truth]).all()
    assert (ratings.system == ratings.truth).mean() == 0.865


def test_anesthesia_has_the_published_margins():
    ratings = load_dataset("anesthesia")
    votes = ratings.entries
    margins = np.zeros((5, 4), dtype=int)
    np.add.at(margins, (votes.rater_index, votes.category_index), 1)
    assert margins.tolist() == [
        [52, 61, 18, 4],
        [16, 15, 11, 3],
        [20, 17, 5, 3],
        [18, 17, 7, 3],
        [21, 15, 7, 2],
    ]
    item, rater, category = votes.item_index + 1, votes.rater_index + 1, votes.category_index + 1
    assert (item * category).sum() == 12942
    assert (item * rater * category).sum() == 31290
    assert ratings.items.tolist() == list(range(1, 46))
    assert ratings.raters == ("1", "2", "3", "4", "5")


def test_anesthesia_rater_1_rates_every_patient_three_times_and_others_once():
    votes = load_dataset("anesthesia").entries
    times = Counter(zip(votes.item_index.tolist(), votes.rater_index.tolist(), strict=True))
    assert {times[i, 0] for i in range(45)} == {3}
    assert {times[i, j] for i in range(45) for j in range(1, 5)} == {1}


def test_anesthesia_patient_7_is_not_the_copy_with_the_error():
    votes = load_dataset("anesthesia").entries
    mine = (votes.item_index == 6) & (votes.rater_index == 0)
    assert (votes.category_index[mine] + 1).tolist() == [1, 2, 2]


def test_caries_has_the_published_patterns():
    ratings = load_dataset("caries")
    n = dict(zip(map(tuple, ratings.codes.tolist()), ratings.counts.tolist(), strict=True))
    assert len(n) == 32
    assert (n[0, 0, 0, 0, 0], n[1, 1, 1, 1, 1]) == (1880, 100)
    assert n[1, 0, 0, 0, 0] == 22  # 12 in the copy with the error
    assert n[0, 1, 1, 1, 1] == 56
    assert (ratings.codes.T @ ratings.counts).tolist() == [339, 858, 496, 469, 1644]
    assert ratings.counts @ np.arange(1, 33) == 20723


def test_fleiss_has_the_published_column_sums():
    ratings = load_dataset("fleiss1971")
    votes = ratings.count_votes()
    assert votes.sum(axis=0).tolist() == [26, 26, 30, 55, 43]
    assert (np.arange(1, 31) @ votes).tolist() == [454, 415, 392, 843, 686]
    assert set(votes.sum(axis=1)) == {6}
    assert votes[0].tolist() == [0, 0, 0, 6, 0]


def test_krippendorff_has_the_published_blanks_and_sums():
    ratings = load_dataset("krippendorff")
    codes = ratings.codes
    values = codes + 1
    assert (codes >= 0).sum(axis=0).tolist() == [9, 10, 11, 11]
    assert values.sum(axis=0).tolist() == [19, 25, 31, 28]
    assert (np.arange(1, 13) @ values).tolist() == [96, 152, 214, 175]
    assert ratings.count_votes().sum(axis=0).tolist() == [9, 13, 11, 5, 3]


def test_wine_has_the_published_tally_of_183():
    ratings = load_dataset("kappazoo_wine")
    tally = zip(map(tuple, ratings.count_votes().tolist()), ratings.counts.tolist(), strict=True)
    assert dict(tally) == {(0, 4): 90, (1, 3): 43, (2, 2): 25, (3, 1): 15, (4, 0): 10}


@pytest.mark.parametrize(
    ("cut", "tally"),
    [(1, [90, 43, 25, 15, 10]), (2, [18, 35, 46, 48, 36]), (3, [0, 5, 16, 42, 120])],
)
def test_wine_uncut_has_the_published_tally_at_every_cut(cut, tally):
    ratings = load_dataset("wine")
    lower = ratings.count_votes()[:, :cut].sum(axis=1)
    assert np.bincount(lower, weights=ratings.weights, minlength=5).tolist() == tally


def test_llmbar_has_the_counts_of_the_published_files():
    ratings = load_dataset("llmbar")
    assert np.bincount(ratings.truth).tolist() == [206, 213]
    assert (ratings.system == ratings.truth).sum() == 347
    right = (ratings.codes == ratings.truth[:, None]).sum(axis=0)
    assert dict(zip(ratings.raters, right.tolist(), strict=True)) == {
        "ChatGPT": 170,
        "ChatGPT-0301": 205,
        "Falcon": 233,
        "LLaMA2": 185,
        "PaLM2": 285,
    }
    assert sum(item.startswith("Natural") for item in ratings.items) == 100
    assert len(set(ratings.items)) == 419


def test_a_licence_that_must_be_passed_on_is_bundled():
    folder = Path(lehner.datasets.__file__).parent
    for dataset in list_datasets():
        name = f"{dataset.name}.LICENSE"
        assert (folder / name).exists() == (f"see {name}" in dataset.licence)
    text = (folder / "llmbar.LICENSE").read_text(encoding="utf-8")
    assert "MIT License" in text and "2023 Princeton Natural Language Processing" in text


@pytest.mark.parametrize("name", ["fleiss1971", "kappazoo_wine"])
def test_anonymous_data_have_no_system(name):
    assert load_dataset(name).anonymous
    with pytest.raises(InputError, match="unknown who gave which rating"):
        load_dataset(name, system="rating 1")


def test_a_named_rater_can_be_the_system():
    ratings = load_dataset("krippendorff", system="coder B")
    assert ratings.raters == ("coder A", "coder C", "coder D")
    column = load_dataset("krippendorff").codes[:, 1]
    assert ratings.system.tolist() == column.tolist()


def test_another_system_can_be_chosen_where_the_data_have_one():
    ratings = load_dataset("lehner_table2", system="Rater 1")
    assert "".join(category_names(ratings, ratings.system)) == "CBCBACAADA"
    # The data set's own system is then a rater, with the same answers.
    assert ratings.raters == ("Rater 2", "Rater 3", "Rater 4", "System")
    assert ratings.codes[:, -1].tolist() == load_dataset("lehner_table2").system.tolist()
    both = load_dataset("lehner_table2", system=["Rater 2", "Rater 1"])
    assert (both.systems, both.raters) == (("Rater 2", "Rater 1"), ("Rater 3", "Rater 4", "System"))


@pytest.mark.parametrize("name", ["krippendorff", "anesthesia", "caries"])
def test_an_unknown_system_gets_the_choice(name):
    with pytest.raises(InputError, match="'nobody'; choose"):
        load_dataset(name, system="nobody")
