"""The registry of methods: those of lehner, of packages, of users; and earlier studies."""

import hashlib
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import lehner
from bayes_models import make_power_prior, read_studies
from lehner import Given, InputError, Ratings, estimate
from lehner.core.lazy import load_function, write_source
from lehner.estimation import methods as registry
from lehner.estimation.methods import Method, find_method, find_methods, list_methods

HALF = '''"""Methods of my own."""
from lehner import majority_agreement


def half(ratings, *, seed):
    """How often a coin is right.

    More of it.
    """
    return majority_agreement(ratings)


constant = 3
'''


@pytest.fixture
def ratings():
    return lehner.load_dataset("lehner_table2")


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(HALF)
    return file


def test_each_method_gives_what_it_says(ratings):
    for method in list_methods().values():
        if "in_study" not in method.takes:
            few = dict.fromkeys({"resamples"} & method.takes, 50)
            estimate = method.fit(ratings, level=0.8, seed=1, **few)
            assert estimate.draws is None
            assert estimate.method == method.name
            assert estimate.system_accuracy.level in (None, 0.8)


def test_a_quick_method_is_found_without_looking_for_packages(monkeypatch):
    def refuse():
        raise AssertionError("packages were looked for")

    monkeypatch.setattr(registry, "_list_packages", refuse)
    quick = ["algebraic", "pooled_ml"]
    assert [method.name for method in find_methods(quick)] == quick
    with pytest.raises(AssertionError, match="packages"):
        find_methods("dawid_skene")


def test_a_package_brings_methods_by_an_entry_point(monkeypatch, ratings):
    brought = Method(name="theirs", summary="of theirs", fit=find_method("algebraic").fit)
    monkeypatch.setattr(registry, "THEIRS", lambda: [brought], raising=False)
    points = {"theirs": "lehner.estimation.methods:THEIRS"}
    monkeypatch.setattr(registry, "_list_packages", lambda: entry_points_of(points))
    assert list(list_methods())[-1] == "theirs"
    (method,) = find_methods("theirs")
    assert method.fit(ratings, level=0.9, seed=1).system_accuracy.estimate > 0.8
    assert registry.get_look("theirs").label == "Theirs"


def entry_points_of(points):
    return [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in points.items()]


def test_a_package_that_cannot_be_loaded_is_named(monkeypatch):
    broken = entry_points_of({"broken": "no_such_package.methods:list_methods"})
    monkeypatch.setattr(registry, "_list_packages", lambda: broken)
    with pytest.raises(InputError, match=r"of no_such_package.methods:list_methods cannot be"):
        find_methods("dawid_skene")
    monkeypatch.setattr(registry, "_list_packages", lambda: entry_points_of({}))
    with pytest.raises(InputError, match="no method 'dawid_skene'"):
        find_methods("dawid_skene")


def test_no_package_takes_the_name_of_a_method(monkeypatch):
    point = entry_points_of({"again": "bayes_models.methods:make_methods"})
    monkeypatch.setattr(registry, "_list_packages", lambda: point * 2)
    with pytest.raises(InputError, match="a method 'one_coin', which there is already"):
        list_methods()


def test_a_function_is_a_method(ratings):
    seen = []

    def mine(ratings, *, level, seed):
        """Say what I think."""
        seen.append((level, seed))
        return lehner.estimate_algebraic(ratings, level=level, seed=seed)

    source = write_source(mine)
    (method,) = find_methods(mine)
    estimate = method.fit(ratings, level=0.8, seed=7)
    assert (method.name, method.summary) == ("mine", "Say what I think")
    assert seen == [(0.8, 7)]
    # An estimate is known by the method that made it.
    assert estimate.method == "mine"
    same = lehner.estimate_algebraic(ratings, level=0.8, seed=7)
    assert estimate.system_accuracy == same.system_accuracy
    assert method.source_hash == hashlib.sha256(source.encode()).hexdigest()


def test_a_function_in_a_file_is_a_method(mine, ratings):
    (method,) = find_methods(f"{mine}:half")
    assert (method.name, method.summary) == ("half", "How often a coin is right")
    assert method.source_hash == hashlib.sha256(HALF.encode()).hexdigest()
    assert method.fit(ratings, level=0.9, seed=1).system_accuracy.estimate == 0.5
    both = find_methods([f"{mine}:half", f"{mine}:half", "algebraic"])
    assert [method.name for method in both] == ["half", "algebraic"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("half.py:half", r"half.py: there is no such file; half.py:half needs it"),
        ("mine.py:haf", r"mine.py: it has no function 'haf'; did you mean 'half'"),
        ("mine.py:constant", r"mine.py: it has no function 'constant'"),
        ("mine.py:", r"names no function in a file; write file.py:function"),
        ("broken.py:f", r"broken.py: running it raises ZeroDivisionError: division by zero"),
        ("syntax.py:f", r"syntax.py: running it raises SyntaxError"),
        ("leaves.py:f", r"leaves.py: running it raises SystemExit"),
    ],
)
def test_what_is_no_function_in_a_file_is_said(mine, monkeypatch, function, message):
    (mine.parent / "broken.py").write_text("1 / 0\n")
    (mine.parent / "syntax.py").write_text("def f(:\n")
    (mine.parent / "leaves.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(mine.parent)
    with pytest.raises(InputError, match=message):
        find_methods(function)


def test_two_functions_of_one_name_are_refused(mine):
    other = mine.parent / "other.py"
    other.write_text(HALF + "\n")
    with pytest.raises(InputError, match="two methods are called 'half'; rename one of them"):
        find_methods([f"{mine}:half", f"{other}:half"])

    def algebraic(ratings, *, seed):
        return lehner.estimate_algebraic(ratings)

    with pytest.raises(InputError, match="the function algebraic has the name of a method"):
        find_methods([algebraic])
    with pytest.raises(InputError, match="has no name; define it with def"):
        find_methods([lambda ratings, *, seed: None])


def test_a_file_is_run_once_and_is_not_its_neighbours(mine):
    (mine.parent / "counted.py").write_text(
        "import sys\nruns = []\n\n\ndef f():\n    return runs\n"
    )
    first, again = (load_function("counted.py:f", mine.parent)[0] for _ in range(2))
    first().append(1)
    assert again() == [1]
    (mine.parent / "neighbour.py").write_text("import mine\n")
    with pytest.raises(InputError, match="ModuleNotFoundError: No module named 'mine'"):
        load_function("neighbour.py:f", mine.parent)


# Earlier studies as tables and files.


RATINGS = Ratings(
    [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1, 0]],
    ["benign", "malignant"],
    ["ana", "a_b & c", "../x"],
    system=[0, 1, 1, 0],
    systems=["gpt"],
)


def test_a_file_is_read_by_the_names_of_its_rows_and_columns(tmp_path):
    path = tmp_path / "earlier.csv"
    path.write_text("truth,malignant,benign\nmalignant,84,16\nbenign,30,170\n")
    for study in (path, str(path), [[170, 30], [16, 84]]):
        result = read_studies({"a_b & c": study, "another": "nowhere.csv"}, RATINGS)
        assert np.asarray(result["a_b & c"]).tolist() == [[170, 30], [16, 84]]


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"ana": [[1, 2]]}, "2 by 2"),
        ({"ana": [[1, 2], [3, -1]]}, "0 or more"),
        ({"ana": [[1, 2], [3, "many"]]}, "0 or more"),
        ({"ana": [[1, 2], [np.nan, 3]]}, "0 or more"),
        ({"ana": None}, "2 by 2"),
        ({"ana": "nowhere.csv"}, "no such file"),
    ],
)
def test_what_is_no_study_is_refused(study, said):
    with pytest.raises(InputError, match=said):
        make_power_prior(RATINGS, read_studies(study, RATINGS))


def test_a_study_of_nobody_is_refused():
    with pytest.raises(InputError, match="did you mean 'ana'"):
        estimate(RATINGS, "dawid_skene", given=Given(earlier_studies={"anna": np.ones((2, 2))}))


def test_methods_without_priors_are_refused():
    with pytest.raises(InputError, match="no method takes earlier studies; add"):
        estimate(RATINGS, "algebraic", given=Given(earlier_studies={"ana": np.ones((2, 2))}))
