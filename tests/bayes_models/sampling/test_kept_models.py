"""Compiled models on disk: the same draws without PyMC, and only what is whole is read."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymc as pm
import pytest
from pytensor.graph.traversal import ancestors

import bayes_models
from bayes_models.models.priors import choose_priors
from bayes_models.sampling import compiled, kept_models
from bayes_models.sampling.compiled import _key, compile_model, load_model
from bayes_models.sampling.density_check import why_wrong
from bayes_models.sampling.kept_models import can_keep, find_kept, keep
from bayes_models.sampling.library_internals import MachineCode, load_function
from lehner import InputError, Scenario, simulate

ROOT = Path(__file__).parents[3]
SCENARIO = Scenario(n_items=40, n_categories=3, initial_rater_accuracy=(0.5, 0.6, 0.7))
OPTIONS = {"seed": 5, "draws": 50, "tune": 50, "chains": 2, "tries": 1}
FIT = f"""
import sys, warnings
sys.modules["dask"] = None  # where it is installed, xarray loads it, and Dask loads SciPy
import numpy as np
import bayes_models
from lehner import Scenario, simulate
warnings.simplefilter("ignore")
tree = bayes_models.fit("one_coin", simulate({SCENARIO!r}, 2), **{OPTIONS!r})
heavy = {{"pymc", "pytensor", "arviz_stats", "matplotlib", "scipy.special", "scipy.sparse"}}
loaded = heavy & set(sys.modules)
assert not loaded, loaded
np.savez(sys.argv[1], **{{name: x.values for name, x in tree["posterior"].data_vars.items()}})
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LEHNER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def one_coin():
    """A model that is compiled here: what is on disk is not read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEHNER_CACHE", "/dev/null/nowhere")
        patch.setattr(compiled, "_compiled", {})
        yield compile_model("one_coin", bayes_models.observe(simulate(SCENARIO, 1)))


@pytest.fixture
def compilations(monkeypatch, one_coin):
    """The models compiled from now on, each as the one that is compiled already."""
    names = []

    def compile_again(name, observed, chosen):
        names.append(name)
        return one_coin

    monkeypatch.setattr(compiled, "_compile", compile_again)
    monkeypatch.setattr(compiled, "_compiled", {})
    return names


def start_anew(monkeypatch):
    monkeypatch.setattr(compiled, "_compiled", {})


def observed(seed=1, **changes):
    return bayes_models.observe(simulate(SCENARIO, seed))


def test_another_process_draws_the_same_without_pymc(folder, compilations, tmp_path):
    with pytest.warns(bayes_models.ConvergenceWarning):
        tree = bayes_models.fit("one_coin", simulate(SCENARIO, 2), **OPTIONS)
    assert compilations == ["one_coin"]
    command = [sys.executable, "-c", FIT, str(tmp_path / "draws.npz")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    kept = np.load(tmp_path / "draws.npz")
    assert set(kept) == set(tree["posterior"].data_vars)
    for name, draws in tree["posterior"].data_vars.items():
        np.testing.assert_array_equal(kept[name], draws.values)


@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_no_model_calls_blas_which_another_process_would_not_find(model):
    # `hierarchical_dawid_skene` did: read from disk, its density failed at every point.
    ratings = simulate(SCENARIO, 1)
    ratings = ratings.with_populations(np.arange(ratings.n_rows) % 2)
    ratings = ratings.with_rater_groups(dict(zip(ratings.raters, "xxy", strict=True)))
    built = bayes_models.find_model(model).build(ratings)
    kept = [built.logp(), *built.deterministics]
    nodes = [variable.owner for variable in ancestors(kept) if variable.owner]
    names = {type(getattr(node.op, "core_op", node.op)).__name__ for node in nodes}
    assert not names & {"Dot", "Dot22", "Gemm", "Gemv", "BatchedDot"}


@pytest.mark.slow
@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_every_model_can_be_kept(model, monkeypatch):
    """`relaxed_k` could not when its slope's prior was data: its density then asked Python."""
    monkeypatch.setenv("LEHNER_CACHE", "/dev/null/nowhere")
    start_anew(monkeypatch)
    assert len(pickle.dumps(compile_model(model, observed()).density)) > 100_000


def test_what_is_kept_serves_all_data_of_that_shape_and_no_other(monkeypatch, folder, compilations):
    for seed in (1, 2):
        start_anew(monkeypatch)
        compile_model("one_coin", observed(seed))
    assert compilations == ["one_coin"]
    start_anew(monkeypatch)
    assert load_model("one_coin", observed(3))
    more = simulate(Scenario(n_items=40, n_categories=4, initial_rater_accuracy=(0.5, 0.6, 0.7)), 1)
    compile_model("one_coin", bayes_models.observe(more))
    assert len(compilations) == 2


def test_what_is_kept_serves_all_numbers_of_priors(monkeypatch, folder, compilations):
    compile_model("one_coin", observed())
    for priors in ("flat", {"system_log_odds": (0.5, 2.0)}, {"base_rates": [1, 2, 3]}):
        start_anew(monkeypatch)
        compile_model("one_coin", observed(), priors)
    assert compilations == ["one_coin"]


@pytest.mark.parametrize(
    ("priors", "text"),
    [
        ({"system_log_odds": (0.0, -1.0)}, r"prior of system_log_odds is \(0.0, -1.0\)"),
        ({"base_rates": [1.0, np.nan, 1.0]}, "prior of base_rates is"),
        ({"base_rates": "diagonl"}, "prior of base_rates is 'diagonl'"),
        ({"base_rates": 0}, "prior of base_rates is 0"),
        ({"rater_log_odds": (1, 2, 3)}, r"prior of rater_log_odds is \(1, 2, 3\)"),
    ],
)
def test_wrong_numbers_are_refused_by_a_model_that_is_compiled(one_coin, priors, text):
    chosen = choose_priors("one_coin", priors)
    with pytest.raises(InputError, match=text):
        replace(one_coin, priors=chosen).with_data(observed())


@pytest.mark.parametrize("priors", ["default", "flat", {"base_rates": [1, 2, 3]}])
def test_a_compiled_density_has_the_numbers_of_the_priors(one_coin, priors):
    chosen = choose_priors("one_coin", priors)
    model = bayes_models.find_model("one_coin").build(observed(), chosen)
    numbers = {name: one.of(chosen[one.variable]) for name, one in one_coin.prior_numbers.items()}
    density = replace(one_coin.density, data=one_coin.density.data | numbers)
    assert why_wrong(density, model) == ""
    other = replace(density, data=density.data | {"system_log_odds_prior_scale": np.array(3.0)})
    assert why_wrong(other, model) == "the density of the C functions is not PyMC's"


def test_a_fixed_spread_is_another_model():
    by_rater = {
        _key("one_coin_by_rater", observed(), choose_priors("one_coin_by_rater", priors))
        for priors in (None, "flat", {"rater_spread": 2}, {"rater_spread": 0.0})
    }
    assert len(by_rater) == 2
    relaxed = {
        _key("relaxed_k", observed(), choose_priors("relaxed_k", priors))
        for priors in (None, {"system_slope": [1.0, 0.6]}, {"system_slope": (2.0, 0.6)})
    }
    assert len(relaxed) == 2


def test_nothing_of_the_data_is_on_disk(folder, compilations):
    ratings = simulate(SCENARIO, 1)
    named = type(ratings)(ratings.flat, ["Xeno", "Yves", "Zoe"], ["Ann", "Bob", "Cleo"])
    compile_model("one_coin", bayes_models.observe(named))
    (file,) = folder.iterdir()
    for name in (b"Xeno", b"Ann", b"Cleo"):
        assert name not in file.read_bytes()


def test_a_prior_that_is_a_distribution_is_not_kept(monkeypatch, folder, compilations):
    compile_model("one_coin", observed(), {"rater_log_odds": pm.Normal.dist(0, 1)})
    assert compilations == ["one_coin"] and not folder.exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other"])
def test_a_damaged_file_is_compiled_anew_and_replaced(monkeypatch, folder, compilations, damage):
    compile_model("one_coin", observed())
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    damaged = {"cut": whole[:-9], "empty": b"", "changed": changed, "other": b"no model" * 99}
    file.write_bytes(damaged[damage])
    start_anew(monkeypatch)
    compile_model("one_coin", observed())
    assert compilations == ["one_coin"] * 2
    start_anew(monkeypatch)
    compile_model("one_coin", observed())
    assert compilations == ["one_coin"] * 2 and len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_source", lambda: "changed"),
        ("version", lambda package: "9"),
        ("_processor", lambda: ("z80",)),
    ],
)
def test_what_another_source_version_or_processor_made_is_not_read(
    monkeypatch, folder, compilations, name, value
):
    compile_model("one_coin", observed())
    start_anew(monkeypatch)
    assert load_model("one_coin", observed())
    start_anew(monkeypatch)
    monkeypatch.setattr(kept_models, name, value)
    kept_models._installed.cache_clear()
    try:
        assert not load_model("one_coin", observed())
    finally:
        kept_models._installed.cache_clear()


def test_the_source_of_what_is_compiled_counts_and_no_other(monkeypatch, tmp_path):
    for folder in ("sampling", "likelihood", "posterior"):
        (tmp_path / folder).mkdir()
    (tmp_path / "likelihood" / "marginal.py").write_text("BLOCK = 16")
    monkeypatch.setattr(kept_models, "__file__", str(tmp_path / "sampling" / "kept_models.py"))
    before = kept_models._source()
    (tmp_path / "posterior" / "estimate.py").write_text("LEVEL = .9")
    assert kept_models._source() == before
    (tmp_path / "likelihood" / "marginal.py").write_text("BLOCK = 17")
    assert kept_models._source() != before


def test_without_a_folder_to_write_to_models_are_compiled(monkeypatch, compilations):
    monkeypatch.setenv("LEHNER_CACHE", "/dev/null/nowhere")
    assert not can_keep()
    compile_model("one_coin", observed())
    start_anew(monkeypatch)
    compile_model("one_coin", observed())
    assert compilations == ["one_coin"] * 2


def test_whoever_reads_while_others_write_finds_a_whole_file_or_none(folder):
    content = {name: np.full(50_000, name) for name in range(4)}

    def write_and_read(name):
        for _ in range(25):
            keep(content[name], "the same")
            found = find_kept("the same")
            assert found is not None and (found == found[0]).all() and len(found) == 50_000

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_and_read, content))
    assert len(list(folder.iterdir())) == len(content)


def test_the_newest_files_stay(monkeypatch, folder):
    monkeypatch.setattr(kept_models, "MOST_FILES", 3)
    for number in range(6):
        keep(number, number)
    assert [find_kept(number) for number in range(6)] == [None] * 3 + [3, 4, 5]


def test_code_that_calls_what_is_not_there_is_not_loaded(folder, one_coin):
    code = one_coin.density.log_density
    load, (symbol, calls, library) = code.__reduce__()
    assert "NRT_Allocate" in calls
    assert isinstance(load(symbol, calls, library), MachineCode)
    with pytest.raises(ValueError, match="there are no functions"):
        load_function(symbol, [*calls, "nowhere"], library)


class Unloadable:
    def __reduce__(self):
        return load_function, ("symbol", ["nowhere"], None)


def test_what_cannot_be_loaded_is_as_if_it_were_not_there(folder):
    keep(Unloadable(), "it")
    assert find_kept("it") is None and len(list(folder.iterdir())) == 1


def test_what_cannot_be_pickled_is_not_kept(folder):
    keep(lambda: None, "it")
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(lambda: None)
    assert find_kept("it") is None


class Marker:
    """Content that shows when it is read."""

    read = 0

    def __reduce__(self):
        return _mark, ()


def _mark():
    Marker.read += 1


@pytest.mark.skipif(os.name != "posix", reason="others have other rights on Windows")
@pytest.mark.parametrize(
    "whose",
    ["file, by the group", "folder, by all", "folder above, by all", "file of another"],
)
def test_what_others_may_have_written_is_not_read(folder, monkeypatch, caplog, whose):
    keep(Marker(), "it")
    (file,) = folder.iterdir()
    before = Marker.read
    find_kept("it")
    assert Marker.read == before + 1
    if whose == "file, by the group":
        file.chmod(0o664)
    elif whose == "folder, by all":
        folder.chmod(0o777)
    elif whose == "folder above, by all":
        folder.parent.chmod(0o777)
    else:
        monkeypatch.setattr(os, "getuid", lambda: file.stat().st_uid + 1)
    assert find_kept("it") is None and Marker.read == before + 1
    assert f"{file} is not used, because others can write to it" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="others have other rights on Windows")
def test_in_a_folder_as_tmp_where_nobody_renames_what_is_anothers_it_is_read(folder):
    keep("content", "it")
    folder.parent.chmod(0o1777)
    assert find_kept("it") == "content"


@pytest.mark.skipif(os.name != "posix", reason="others have other rights on Windows")
def test_what_is_kept_is_for_the_user_alone_whatever_the_mask(folder):
    mask = os.umask(0)
    try:
        keep("content", "it")
    finally:
        os.umask(mask)
    assert find_kept("it") == "content"
