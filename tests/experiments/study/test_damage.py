"""A folder of results that was damaged: nothing is silent, and what was lost is computed again."""

import json
import random
import re
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import lehner
from bayes_models.models import dawid_skene
from experiments.study import replicate, store
from experiments.study.checked_file import read_part
from experiments.study.defaults import study_defaults
from experiments.study.definition import read_study
from experiments.study.replay import replay
from experiments.study.run import run_study
from experiments.study.store import Store, StudyWarning, export, read_results
from experiments.study.study_report import write_report
from lehner import InputError

STUDY = """\
name = "small"
seed = 7
replicates = 25
methods = ["majority_agreement", { name = "algebraic", resamples = 20 }]
[[scenarios]]
name = "raters"
n_items = 40
grid = { initial_rater_accuracy = [[0.6, 0.6, 0.6], [0.5, 0.6, 0.7]] }
"""
MODEL = """\
name = "model"
seed = 7
replicates = 2
methods = [{ name = "dawid_skene", engine = "gibbs", draws = 40, tune = 10, tries = 1 }]
[[scenarios]]
name = "raters"
n_items = 40
"""
SEED = 20261123
STOPPED = SimpleNamespace(perf_counter=lambda: 0.0)


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """Seconds are all that differs between two runs of a study."""
    monkeypatch.setattr(replicate, "time", STOPPED)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replicate, "time", STOPPED)
        run_study(folder / "small.toml", folder / "out")
    return folder / "out"


@pytest.fixture
def out(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "out"))


def table(folder):
    return export(folder, Path(f"{folder}.csv")).read_bytes()


def parts(folder):
    return sorted(path.read_bytes() for path in Store(folder).parts)


def run_again(out):
    """Run the study that the folder holds; give what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run_study(out / "study.toml", out)
    return [str(one.message) for one in said if one.category is StudyWarning]


def require_told_and_mended(out, whole, path):
    """A damaged part: reading says which, and a run moves it away and computes it again."""
    with pytest.raises(InputError) as told:
        read_results(out)
    assert str(told.value).startswith(str(path)) and "study run" in told.value.remedy
    damaged = path.read_bytes()
    (said,) = run_again(out)
    assert said.startswith(str(path))
    assert (out / "damaged" / path.name).read_bytes() == damaged
    assert parts(out) == parts(whole)
    assert table(out) == table(whole)
    assert run_again(out) == []


@pytest.mark.parametrize("number", range(40))
def test_a_bit_flip_is_told_and_mended(out, whole, number):
    rng = random.Random(SEED + number)
    path = rng.choice(Store(out).parts)
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    require_told_and_mended(out, whole, path)


@pytest.mark.parametrize("number", range(10))
def test_a_truncated_part_is_told_and_mended(out, whole, number):
    rng = random.Random(SEED + number)
    path = rng.choice(Store(out).parts)
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content)) if number else 0])
    require_told_and_mended(out, whole, path)


def test_a_merged_part_is_told_and_mended(out, whole):
    Store(out).merge()
    (path,) = Store(out).parts
    path.write_bytes(path.read_bytes()[:-1])
    require_told_and_mended(out, whole, path)


def test_parts_with_the_content_of_others_are_told_and_mended(out, whole):
    first, second = Store(out).parts[:2]
    contents = first.read_bytes(), second.read_bytes()
    second.write_bytes(contents[0])
    first.write_bytes(contents[1])
    with pytest.raises(InputError, match=re.escape(str(first))):
        read_results(out)
    assert len(run_again(out)) == 2
    assert parts(out) == parts(whole) and table(out) == table(whole)


def test_parts_with_the_names_of_others_are_harmless(out, whole):
    first, second = Store(out).parts[:2]
    number, other = first.name[:8], second.name[:8]
    first.rename(first.with_name(other + first.name[8:]))
    second.rename(second.with_name(number + second.name[8:]))
    assert run_again(out) == [] and table(out) == table(whole)


@pytest.mark.parametrize("name", ["notes.parquet", "00000099.parquet", "99-ab.parquet"])
def test_a_foreign_file_is_told_and_set_aside(out, whole, name):
    path = out / "parts" / name
    path.write_bytes(Store(out).parts[0].read_bytes())
    with pytest.raises(InputError, match=rf"{name}: this is not a part of the study; .*study run"):
        read_results(out)
    (said,) = run_again(out)
    assert name in said and (out / "damaged" / name).exists()
    assert parts(out) == parts(whole) and table(out) == table(whole)


def test_a_part_of_a_study_with_another_seed_is_told_and_set_aside(out, whole, tmp_path):
    (tmp_path / "other.toml").write_text(STUDY.replace("seed = 7", "seed = 8"))
    run_study(tmp_path / "other.toml", tmp_path / "other")
    for path in Store(tmp_path / "other").parts:
        shutil.copy(path, out / "parts")
    with pytest.raises(InputError, match="a study with another seed than 7"):
        read_results(out)
    assert len(run_again(out)) == len(parts(whole))
    assert parts(out) == parts(whole) and table(out) == table(whole)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\x80\x00\xff", b"[" * 100_000])
def test_a_damaged_manifest_is_told_and_written_again(out, whole, run, content):
    manifest = out / "manifest.json"
    before = manifest.read_text()
    manifest.write_bytes(content)
    for command in (["export", out, "--output", out / "x.csv"], ["report", out]):
        code, _, err = run("study", *command)
        assert code == 2 and err.startswith(f"lehner: {manifest}: this file is damaged")
        assert "study run" in err and len(err.splitlines()) == 1
    (said,) = run_again(out)
    assert said.startswith(f"{manifest}: this file was damaged")
    assert (out / "damaged" / "manifest.json").read_bytes() == content
    assert manifest.read_text() == before
    assert parts(out) == parts(whole) and table(out) == table(whole)


@pytest.mark.parametrize("name", ["manifest.json", "study.toml"])
@pytest.mark.parametrize("number", range(15))
def test_a_bit_flip_beside_the_parts_is_told_or_harmless(out, whole, name, number):
    rng, path = random.Random(SEED + number), out / name
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", StudyWarning)
            assert table(out) == table(whole)
    except (InputError, StudyWarning) as told:
        assert str(out) in str(told)
    shutil.copy(whole / "study.toml", out)
    try:
        run_again(out)
    except InputError as told:
        assert name == "manifest.json" and str(out) in str(told)
    else:
        assert parts(out) == parts(whole) and table(out) == table(whole)


@pytest.mark.parametrize("defaults", [[1], {"scenarios": 5}])
def test_a_manifest_with_other_defaults_than_there_can_be_is_damaged(out, defaults):
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"defaults": defaults}))
    with pytest.raises(InputError, match=r"manifest.json: this file is damaged"):
        read_results(out)
    (said,) = run_again(out)
    assert "taken to have the defaults of methods of this version" in said


def test_a_part_that_was_lost_is_told_and_computed_again(out, whole):
    Store(out).parts[1].unlink()
    with pytest.warns(StudyWarning, match="of 25 replicates, unfinished"):
        write_report(out)
    with pytest.warns(
        StudyWarning, match=r"small: \d+ to 25 of 25 replicates, unfinished; `lehner"
    ):
        table(out)
    assert run_again(out) == [] and parts(out) == parts(whole) and table(out) == table(whole)


def test_parts_that_a_run_merges_while_they_are_read_are_read(out, whole, monkeypatch):
    read, paths = store.read_part, []

    def read_late(path, *given, **options):
        paths.append(path)
        if len(paths) == 2:
            Store(out).merge()
        return read(path, *given, **options)

    monkeypatch.setattr(store, "read_part", read_late)
    assert table(out) == table(whole)


def test_without_its_manifest_a_folder_is_not_filled_with_another_study(out, tmp_path):
    (out / "manifest.json").unlink()
    (tmp_path / "other.toml").write_text(STUDY.replace("seed = 7", "seed = 8"))
    with pytest.raises(InputError, match="another seed than 8; give a new folder"):
        run_study(tmp_path / "other.toml", out)
    assert run_again(out) == []


def test_a_run_that_was_killed_before_it_wrote_its_manifest_goes_on(tmp_path, whole):
    out = tmp_path / "out"
    (out / "parts" / ".writing-a").mkdir(parents=True)
    (out / ".writing-b").mkdir()
    (out / "lock").touch()
    shutil.copy(whole / "study.toml", out)
    with pytest.raises(InputError, match=r"manifest.json: this file is missing; .*study run"):
        read_results(out)
    assert run_again(out) == [] and table(out) == table(whole)


def test_a_study_file_that_was_changed_in_the_folder_is_told(out, whole):
    file = out / "study.toml"
    file.write_text(STUDY.replace("replicates = 25", "replicates = 24"))
    with pytest.raises(InputError, match=r"study.toml: this is not the study that manifest.json"):
        read_results(out)
    file.write_text(STUDY)
    assert table(out) == table(whole)


def test_commands_tell_damage_in_one_line(out, run):
    path = Store(out).parts[1]
    path.write_bytes(path.read_bytes()[:-9])
    commands = (
        ["export", out, "--output", out / "x.csv"],
        ["report", out],
        ["replay", out, "--row", 2],
    )
    for command in commands:
        code, printed, err = run("study", *command)
        assert (code, printed) == (2, "") and len(err.splitlines()) == 1
        assert err.startswith(f"lehner: {path}: this part is damaged") and "study run" in err
    code, _, err = run("study", "run", out / "study.toml", "--output", out)
    assert code == 0
    assert err.splitlines()[0] == (
        f"lehner: {path}: this part is damaged: its bytes do not have the checksum in its name; "
        f"it is {out / 'damaged' / path.name} now, and what is lacking is computed"
    )


def test_a_second_file_of_a_name_replaces_none_that_was_set_aside(out):
    for content in (b"one", b"two"):
        (out / "parts" / "notes.parquet").write_bytes(content)
        run_again(out)
    aside = sorted(path.read_bytes() for path in (out / "damaged").iterdir())
    assert aside == [b"one", b"two"]


@pytest.fixture
def of_model(tmp_path):
    (tmp_path / "model.toml").write_text(MODEL)
    run_study(tmp_path / "model.toml", tmp_path / "model")
    return tmp_path / "model"


def test_results_of_another_prior_are_not_mixed(of_model, monkeypatch, run):
    before = parts(of_model)
    default = dawid_skene.SPEC.priors["default"]
    monkeypatch.setitem(default, "base_rates", 2.0)
    (of_model / "study.toml").write_text(MODEL.replace("replicates = 2", "replicates = 3"))
    code, _, err = run("study", "run", of_model / "study.toml", "--output", of_model)
    assert code == 2 and len(err.splitlines()) == 1
    assert re.search(
        r"of dawid_skene were computed with the default priors.base_rates = 3.0, which is 2.0 now"
        ".* mix two methods; give a new folder",
        err,
    )
    assert parts(of_model) == before
    monkeypatch.undo()
    run_again(of_model)


def test_results_of_another_version_of_a_model_are_not_mixed(of_model, monkeypatch):
    run_again(of_model)
    monkeypatch.setattr(dawid_skene, "SPEC", replace(dawid_skene.SPEC, version=2))
    with pytest.raises(InputError, match=r"of dawid_skene .* default version = 1, which is 2 now"):
        run_again(of_model)


def test_what_the_name_of_a_prior_stands_for_is_known(of_model, monkeypatch):
    from bayes_models.models import families

    monkeypatch.setitem(families.STRENGTH, "diagonal", 9.0)
    with pytest.raises(InputError, match=r"of dawid_skene .* default priors.confusion"):
        run_again(of_model)


def test_a_replay_names_the_prior_that_changed(of_model, monkeypatch):
    assert replay(of_model, replicate=0).same
    monkeypatch.setitem(dawid_skene.SPEC.priors["default"], "base_rates", 30.0)
    again = replay(of_model, replicate=0)
    assert not again.same and any("priors.base_rates = 3.0" in note for note in again.notes)


def test_results_of_other_defaults_are_not_mixed(out, monkeypatch):
    changed = {**lehner.estimate_algebraic.__kwdefaults__, "aggregation": "paper", "resamples": 9}
    monkeypatch.setattr(lehner.estimate_algebraic, "__kwdefaults__", changed)
    assert run_again(out) == []  # the study gives the one, and the method the other
    path = out / "study.toml"
    path.write_text(STUDY.replace(", resamples = 20", ""))
    run_again(out)
    monkeypatch.undo()
    with pytest.raises(
        InputError, match=r"of algebraic .* default resamples = 9, which is 2000 no"
    ):
        run_again(out)


def test_defaults_of_a_method_that_left_the_study_are_kept(out):
    before = json.loads((out / "manifest.json").read_text())["defaults"]
    (out / "study.toml").write_text(STUDY.replace('"majority_agreement", ', ""))
    run_again(out)
    assert json.loads((out / "manifest.json").read_text())["defaults"] == before


def test_every_method_has_a_record_of_its_defaults(tmp_path):
    from lehner.estimation.methods import list_methods

    names = ", ".join(f'"{name}"' for name in list_methods())
    path = tmp_path / "all.toml"
    path.write_text(re.sub("methods = .*", f"methods = [{names}]", MODEL))
    found = study_defaults(read_study(path))
    assert len(found) == 1 + len(list_methods())
    by_name = dict(zip(list_methods(), list(found.values())[1:], strict=True))
    assert by_name["algebraic_paper"] == {"aggregation": "paper", "resamples": 2000}
    assert by_name["tap_ml"] == {"model": "tap", "resamples": 500}
    assert by_name["relaxed_k"]["priors.system_slope"] == [1.0, 0.6]
    # Those of studies, not of `fit`.
    assert by_name["one_coin"]["draws"] == 500 and by_name["one_coin"]["target_accept"] == 0.9


def test_parts_hold_the_rows_that_were_written(out):
    rows = sum(len(read_part(path, 7)) for path in Store(out).parts)
    assert rows == len(read_results(out)) == 2 * 25 * 2 * 2
