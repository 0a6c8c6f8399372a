"""Square tables: from files, and their own coefficients."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from lehner import (
    InputError,
    agreement_of_table,
    read_table,
)

DATA = Path(__file__).parents[2] / "data"
READ = [[0.207, 0.040, 0.000], [0.029, 0.445, 0.025], [0.000, 0.025, 0.229]]
CLASSES = ["advanced", "intermediate", "novice"]


@pytest.fixture
def write(tmp_path):
    def call(text):
        file = tmp_path / "table.csv"
        file.write_text(text, encoding="utf-8")
        return file

    return call


# ----- Files -----


def test_cpttools_example_is_read_with_estimated_classes_as_rows():
    table = read_table(DATA / "almond2015_read.csv")
    assert table.dims == ("estimated", "actual")
    assert table.coords["estimated"].values.tolist() == CLASSES
    assert table.values.tolist() == READ


SQUARE = ",advanced,intermediate,novice\nadvanced,.207,.040,0\nintermediate,.029,.445,.025\n"


@pytest.mark.parametrize(
    "text",
    [
        SQUARE + "novice,0,.025,.229\n",
        SQUARE.replace(",", "x,", 1) + "novice,0,.025,.229\n",
        ",advanced,intermediate,novice\nnovice,0,.025,.229\n" + SQUARE.partition("\n")[2],
        "p,actual,estimated\n.207,advanced,advanced\n.040,intermediate,advanced\n"
        ".029,advanced,intermediate\n.445,intermediate,intermediate\n.025,novice,intermediate\n"
        ".025,intermediate,novice\n.229,novice,novice\n",
    ],
    ids=["square", "corner named", "rows in another order", "long, columns in another order"],
)
def test_layouts_of_the_same_table(write, text):
    xr.testing.assert_equal(
        read_table(write(text), categories=CLASSES), read_table(DATA / "almond2015_read.csv")
    )


def test_a_table_of_two_classes_is_square_and_not_long(write):
    table = read_table(write("class,0,1\n0,40,10\n1,5,45\n"))
    assert table.values.tolist() == [[40, 10], [5, 45]]
    assert table.coords["actual"].values.tolist() == [0, 1]


def test_categories_give_the_order_and_may_be_unused(write):
    file = write("class,high,low\nhigh,3,1\nlow,0,4\n")
    table = read_table(file, categories=["low", "mid", "high"])
    assert table.values.tolist() == [[4, 0, 0], [0, 0, 0], [1, 0, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c,d\n1,2,3,4\n", "table.csv: it is not a square table: its rows are 1 and"),
        ("x\n3\n", "it is not a square table: its rows are 3 and its columns none"),
        ("class,yes,no\nyes,40,10\nnoo,5,45\n", "its rows are yes, noo and its columns yes, no"),
        ("class,Yes,No\nyes,40,10\nno,5,45\n", "its rows are yes, no and its columns Yes, No"),
        ("class,x,y\nx,1,2\ny,3,-4\n", "row 3, column 'y': '-4' is not a count"),
        ("class,x,y\nx,1,2\ny,3,many\n", "row 3, column 'y': 'many' is not a count"),
        ("class,x,y\nx,1,2\ny,3,nan\n", "row 3, column 'y': the count is blank"),
        ("class,x,y\nx,1,2\ny,3,inf\n", "row 3, column 'y': 'inf' is not a count"),
        ("class,x,y\nx,0,0\ny,0,0\n", "numbers that are not counts"),
        ("r,c,n\nx,x,1\nx,x,2\n", "row 3: the cell .* occurs a second time"),
        ("r,c,n\n,x,1\n", "row 2, column 'r': the class is blank"),
    ],
)
def test_bad_files_are_refused(write, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write(text))


def test_a_class_that_is_not_a_category_is_refused(write):
    with pytest.raises(InputError, match="'y' is not one of the categories x, z"):
        read_table(write("class,x,y\nx,1,2\ny,3,4\n"), categories=["x", "z"])


def test_categories_of_a_table_are_each_named_once(write):
    with pytest.raises(InputError, match="repeat; name each once"):
        read_table(write("class,x,y\nx,1,2\ny,3,4\n"), categories=["x", "x", "y"])


def test_categories_that_are_not_all_numbers_name_the_numbers_found(write):
    table = read_table(write("class,1,2\n1,4,1\n2,0,3\n"), categories=["2", "1", "unknown"])
    assert table.coords["actual"].values.tolist() == ["2", "1", "unknown"]
    assert table.values.tolist() == [[3, 0, 0], [1, 4, 0], [0, 0, 0]]


def test_a_long_table_with_named_sides_may_have_all_items_off_the_diagonal(write):
    table = read_table(write("estimated,actual,count\na,b,3\n"))
    assert table.sel(estimated="a", actual="b") == 3


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.csv")


# ----- Coefficients of a table -----


def test_probabilities_have_estimates_and_no_errors_until_the_number_of_items_is_known():
    without, with_n = agreement_of_table(READ), agreement_of_table(READ, n_items=200)
    counts = agreement_of_table(200 * np.array(READ))
    assert without.n_items is None
    for one, two, three in zip(
        without.coefficients, with_n.coefficients, counts.coefficients, strict=True
    ):
        assert two.estimate == pytest.approx(three.estimate, abs=1e-12)
        assert two.standard_error == pytest.approx(three.standard_error, abs=1e-12)
        assert one.standard_error is one.lower is one.p_value is None
        if one.name == "krippendorff_alpha":
            assert one.estimate is None
        else:
            assert one.estimate == pytest.approx(two.estimate, abs=1e-12)
            assert "number of items is unknown" in one.note


@pytest.mark.parametrize("total", [0.999, 1.001, 1.9])
def test_probabilities_that_are_rounded_are_no_number_of_items(total):
    found = agreement_of_table(total * np.array(READ))
    assert found.n_items is None
    assert found["krippendorff_alpha"].estimate is None
    assert found["cohen_kappa"].estimate == pytest.approx(0.8088, abs=1e-4)


def test_lambda_says_which_margin():
    found = agreement_of_table(READ, weights=["identity", "linear", "quadratic"])
    assert "row margin" in found["goodman_kruskal_lambda[estimated]"].note
    assert "column margin" in found["goodman_kruskal_lambda[actual]"].note
    # The best class by a margin earns its weighted share; CPTtools, gkLambda.
    linear = 1 - np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
    best = (np.sum(READ, axis=1) @ linear).max()
    expected = (np.sum(linear * READ) - best) / (1 - best)
    value = found["goodman_kruskal_lambda[estimated]", "linear"].estimate
    assert value == pytest.approx(expected, abs=1e-12)


def test_standard_error_of_lambda_is_the_spread_of_multinomial_samples():
    share, n = np.array(READ) + 0.01, 400
    share /= share.sum()
    draws = np.random.default_rng(3).multinomial(n, share.ravel(), size=4000).reshape(-1, 3, 3)
    p = draws / n
    right = p.trace(axis1=1, axis2=2)
    for margin, axis in (("estimated", 2), ("actual", 1)):
        best = p.sum(axis=axis).max(axis=1)
        spread = ((right - best) / (1 - best)).std()
        found = agreement_of_table(n * share)[f"goodman_kruskal_lambda[{margin}]"]
        assert found.standard_error == pytest.approx(spread, rel=0.05)  # Monte Carlo: .011


def test_lambda_with_two_modal_classes_has_no_standard_error():
    found = agreement_of_table([[5, 1], [1, 5]])["goodman_kruskal_lambda[actual]"]
    assert found.estimate == pytest.approx(2 / 3)
    assert found.standard_error is None
    assert "equally good" in found.note
    nearly = agreement_of_table([[400_001, 100_000], [99_999, 400_000]])
    assert nearly["goodman_kruskal_lambda[estimated]"].standard_error > 0


def test_lambda_without_a_second_class_is_undefined():
    found = agreement_of_table([[5, 0], [0, 0]])
    assert found["goodman_kruskal_lambda[actual]"].estimate is None
    assert found["cohen_kappa"].estimate is None
    assert found["accuracy"].estimate == 1


def test_order_of_a_labelled_tables_dims_is_known():
    table = xr.DataArray(
        READ, dims=("estimated", "actual"), coords={"estimated": CLASSES, "actual": CLASSES}
    )
    one, two = agreement_of_table(table), agreement_of_table(table.T)
    assert one.coefficients == two.coefficients


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], r"shape \(2, 3\)"),
        ([1, 2], r"shape \(2,\)"),
        ([[1, -2], [3, 4]], "numbers that are not counts"),
        ([[1, np.nan], [3, 4]], "numbers that are not counts"),
        ([[0, 0], [0, 0]], "not all 0"),
        ([["a", "b"], ["c", "d"]], "not one of numbers"),
        ([[1, 2], [3]], "not one of numbers"),
        (np.empty((0, 0)), r"shape \(0, 0\)"),
        (xr.DataArray([[1, 2], [3, 4]]), "the table has dims dim_0, dim_1"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(InputError, match=message):
        agreement_of_table(table)


def test_bad_number_of_items_is_refused():
    with pytest.raises(InputError, match="n_items is 0"):
        agreement_of_table(READ, n_items=0)
