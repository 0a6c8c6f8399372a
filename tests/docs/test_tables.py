"""Tables of the documentation say the numbers of the files they are made of."""

import re
import sys
from contextlib import chdir
from dataclasses import fields

import pandas as pd
import pytest

from experiments.benchmarks.real.report import average_over_crowds
from lehner import Scenario, Study
from lehner.report.tables import REPORT
from lehner.study.definition import KEYS, OPTIONS, SAMPLER_OPTIONS
from tests.docs.examples import ROOT, list_pages, read_blocks, run_block

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import tables


@pytest.fixture(scope="module")
def written():
    return dict(tables.make_tables())


def cells(table):
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_the_pages_have_each_table_as_it_is_made(written):
    names = set()
    for page in list_pages():
        text = page.read_text("utf-8")
        names |= {name for _, name, _ in tables.BLOCK.findall(text)}
        assert tables.fill_page(text, written) == text, "run python docs/_ext/tables.py"
    assert {name for name in names if not name.endswith(".md")} == set(written)


def test_nothing_in_a_table_is_escaped_twice_or_a_machine_name(written):
    for name, text in written.items():
        if name not in {"command", "gallery", "methods", "warnings", "study_options"}:
            assert "&lt;" not in text and not re.search(r"\b(nan|None)\b", text), name
            assert not re.search(r"dawid_skene|relaxed_k|algebraic_", text), name


def test_the_page_of_study_files_has_each_field_and_its_example_is_read(written, tmp_path):
    def named(table, column):
        rows = cells(written[table].splitlines())
        assert all(row["what it is"].endswith(".") for row in rows)
        return {row[column].strip("`") for row in rows}

    assert named("study_keys", "key") == set(KEYS)
    assert named("study_scenario", "field") == {field.name for field in fields(Scenario)}
    assert named("study_options", "option") == {*OPTIONS, *SAMPLER_OPTIONS}
    text = (ROOT / "docs/study_file.md").read_text("utf-8")
    (tmp_path / "study.toml").write_text(re.search(r"```toml\n(.*?)```", text, re.S)[1])
    assert len(Study.read(tmp_path / "study.toml").scenarios) == 4


def test_each_study_file_of_the_guide_is_whole(tmp_path):
    page = ROOT / "docs/how_to/study.md"
    names = {}
    with chdir(tmp_path):
        assert not list(run_block(read_blocks(page)[0], names))
    names["study"].write(tmp_path / "tired.toml")
    texts = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.S)
    for text in texts:
        (tmp_path / "study.toml").write_text(text)
        Study.read(tmp_path / "study.toml").cells[0].try_out()
    assert len(texts) == 2


def test_a_cell_stands_below_its_method(written):
    study = pd.read_csv(ROOT / "experiments/studies/k_violations/performance.csv")
    row = cells(written["k_violations_bias_good"].splitlines())[0]
    of_row = study[
        (study.measure == "bias")
        & (study.estimand == "system_accuracy")
        & (study.scenario == next(name for name in study.scenario if "good system" in name))
    ].set_index("method")
    for title, method in (("Algebraic", "algebraic"), ("Relaxed K", "relaxed_k")):
        value, error = re.fullmatch(r"(\S+) \((\S+)\)", row[title]).groups()
        assert abs(float(value.replace("−", "-")) - of_row.value[method]) <= 0.00051
        assert abs(float(error) - of_row.standard_error[method]) <= 0.00051


def test_what_is_said_of_real_ratings_is_in_their_table():
    page = tables.BLOCK.sub("", (ROOT / "docs/which_method.md").read_text("utf-8"))
    said = re.search(r"## What real ratings say\n(.*?)\n## ", page, re.DOTALL)[1]
    measured = pd.read_csv(ROOT / "experiments/benchmarks/real/real.csv")
    domains = pd.read_csv(ROOT / "experiments/benchmarks/real/domains.csv")
    means = average_over_crowds(measured)
    parts = average_over_crowds(domains, ["domain", "design", "method"])
    errors = {f"{abs(x):.3f}"[1:] for x in pd.concat([means.rmse, means.bias])}
    rates = {f"{100 * x:.0f}%" for x in pd.concat([means.coverage, parts.coverage]).dropna()}
    assert len(re.findall(r"\.\d{3}\b", said)) >= 6
    assert set(re.findall(r"\.\d{3}\b", said)) <= errors
    assert set(re.findall(r"\b\d+%", said.replace("90% intervals", ""))) <= rates


def test_ppi_is_shown_with_its_coverage_on_real_ratings():
    measured = pd.read_csv(ROOT / "experiments/benchmarks/real/real.csv")
    rows = measured[measured.method.str.startswith("ppi") & (measured.known == 20)]
    said = int(re.search(r"of (\d+)% of real", REPORT["text"]["by_ppi"])[1])
    assert 100 * rows.coverage.mean() == pytest.approx(said, abs=1)
