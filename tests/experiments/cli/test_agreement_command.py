"""`lehner agreement`, as a user types it."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import lehner

READ = Path(__file__).parents[2] / "data" / "almond2015_read.csv"


def coefficients(out):
    return {(c["name"], c["weights"]): c["estimate"] for c in json.loads(out)["coefficients"]}


def test_json_is_what_the_function_gives(run):
    code, out, err = run("agreement", "krippendorff", "--interval", "0.95", "--json")
    expected = lehner.agreement(lehner.load_dataset("krippendorff"), level=0.95).to_dict()
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found.pop("data") == {
        "name": "krippendorff",
        "categories": [1, 2, 3, 4, 5],
        "notes": list(lehner.load_dataset("krippendorff").notes),
    }
    assert found == json.loads(json.dumps(expected))
    fields = {"name", "weights", "estimate", "standard_error", "lower", "upper", "p_value", "note"}
    assert all(fields <= set(one) for one in found["coefficients"])


def test_table_has_the_numbers_of_cpttools(run):
    options = ("--weights", "identity", "--weights", "linear", "--weights", "quadratic")
    code, out, _ = run("agreement", READ, "--table", *options, "--json")
    found = coefficients(out)
    assert code == 0
    assert found["accuracy", "identity"] == pytest.approx(0.881)
    assert found["cohen_kappa", "identity"] == pytest.approx(0.8088, abs=1e-4)
    assert found["goodman_kruskal_lambda[estimated]", "identity"] == pytest.approx(
        0.762475, abs=1e-6
    )
    assert found["cohen_kappa", "linear"] == pytest.approx(0.840351, abs=1e-6)
    assert found["cohen_kappa", "quadratic"] == pytest.approx(0.879889, abs=1e-6)


def test_the_terminal_shows_coefficients_pairs_and_notes(run):
    code, out, _ = run("agreement", "lehner_table2")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("lehner_table2: 10 items, 4 raters, 40 ratings")
    kappa = next(line for line in lines if "Brennan and Prediger’s κ" in line)
    assert kappa.split()[4] == "0.111"
    assert "weights: identity" in lines
    assert any(line.split()[:3] == ["Rater", "4", "System"] for line in lines)
    assert "90% interval" in out
    assert (
        lines[-1]
        == "only raters are compared; the system is compared with each of them in the pairs"
    )


def test_files_are_written(run, tmp_path):
    folder = tmp_path / "new"
    options = ("--weights", "identity", "--weights", "ratio", "--output", folder)
    code, _, err = run("agreement", "krippendorff", *options)
    names = ["agreement.csv", "agreement.tex", "pairs.csv", "pairs.tex"]
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(f"wrote {folder / name}" in err for name in names)
    table = pd.read_csv(folder / "agreement.csv").set_index(["name", "weights"])
    assert table.loc[("krippendorff_alpha", "ratio"), "estimate"] == pytest.approx(0.797, abs=6e-4)
    pairs = pd.read_csv(folder / "pairs.csv")
    assert len(pairs) == 12
    in_latex = (folder / "agreement.tex").read_text()
    assert r"Brennan and Prediger’s $\kappa$" in in_latex and "\\_kappa" not in in_latex


def test_tables_in_latex_fit_a_page_and_name_both_raters(run, tmp_path):
    options = ("--weights", "identity,linear_by_value", "--output", tmp_path)
    assert run("agreement", "krippendorff", *options)[0] == 0
    (part,) = _parts(tmp_path / "agreement.tex")
    assert part[0] == r"coefficient & value [90\% interval] & SE & p & chance \\"
    headings = [line.split("{l}")[1] for line in part if line.startswith(r"\multicolumn")]
    assert headings == [r"{weights: identity} \\", r"{weights: linear by value} \\"]
    assert sum(line.startswith(r"\quad Krippendorff’s $\alpha$ & ") for line in part) == 2
    (part,) = _parts(tmp_path / "pairs.tex")
    assert part[0].startswith("rater & other rater & items & ")
    of_weights = [line for line in part if "weights: " in line]
    assert len(of_weights) == 2 and len(part) == 2 + 2 * (1 + 6)


def test_tables_that_are_too_wide_for_a_page_have_their_keys_in_each_part(run, tmp_path):
    file = tmp_path / "ratings.csv"
    names = [f"a_b & c {j} of a hospital far away" for j in range(3)]
    rows = (",".join("ab"[(i * j) % 3 == 1] for j in range(1, 4)) for i in range(9))
    file.write_text("\n".join([",".join(names), *rows]) + "\n")
    options = ("--within", 0.05, "--output", tmp_path)
    assert run("agreement", file, *options)[0] == 0
    parts = _parts(tmp_path / "agreement.tex")
    assert len(parts) == 2
    for part in parts:
        assert part[0].startswith("coefficient & ")
        assert sum(line.startswith(r"\quad Krippendorff’s $\alpha$ & ") for line in part) == 1
    parts = _parts(tmp_path / "pairs.tex")
    assert len(parts) > 1
    for part in parts:
        assert part[0].startswith("rater & other rater & ")
        assert len({tuple(line.split(" & ")[:2]) for line in part[3:]}) == 3


def test_chosen_coefficients_stand_alone_in_their_order_everywhere(run, tmp_path):
    options = ("agreement", "krippendorff", "--coefficients", "alpha,ac1")
    code, out, _ = run(*options, "--output", tmp_path)
    lines = out.splitlines()
    assert code == 0 and "rater" not in "".join(lines[2:])
    place = lines.index("weights: identity")
    assert [line.split("  ")[1] for line in lines[place + 1 :]] == [
        "Krippendorff’s α",
        "Gwet’s AC1",
    ]
    found = json.loads(run(*options, "--json")[1])["coefficients"]
    names = ["krippendorff_alpha", "gwet_ac1"]
    assert [one["name"] for one in found] == names
    table = pd.read_csv(tmp_path / "agreement.csv")
    assert list(table["name"]) == names
    assert list(table["estimate"]) == [one["estimate"] for one in found]


SENTENCES = {
    ("krippendorff",): "In 41 ratings by 4 raters of 12 items (5 categories), agreement was "
    "Krippendorff’s α = 0.743 (90% interval 0.486 to 1.000)",
    ("krippendorff", "--coefficients", "ac1,alpha", "--interval", 0.95): "Gwet’s "
    "AC1 = 0.775 (95% interval 0.496 to 1.000) and Krippendorff’s α = 0.743 (95% interval",
    ("wine",): "(4 categories), agreement was Krippendorff’s α with ordinal weights = ",
    (READ, "--table"): "In two classifications (3 categories), agreement was Cohen’s κ = 0.809, ",
    (READ, "--table", "--n-items", 200): "In two classifications of 200 items (3 categories), ",
    (
        "lehner_table2",
        "--coefficients",
        "cohen,conger",
    ): "agreement was Cohen’s κ (undefined: it "
    "is for two raters, and there are 4; see Conger’s κ and the pairs) and Conger’s κ = ",
}


@pytest.mark.parametrize("arguments", SENTENCES)
def test_the_sentence_for_a_paper_has_coefficient_interval_and_numbers(run, arguments):
    _, out, _ = run("agreement", *arguments, "--sentence")
    assert SENTENCES[arguments] in out and out.endswith(".\n") and out.count("\n") == 1


def test_a_pilot_says_how_many_items_narrow_intervals_need(run, tmp_path):
    options = ("agreement", "fleiss1971", "--within", 0.05, "--coefficients", "alpha,ac1,cohen")
    _, out, _ = run(*options, "--output", tmp_path)
    head = next(line for line in out.splitlines() if line.startswith("coefficient"))
    assert head.endswith("items for ±0.05")
    expected = [97, 103, None]
    found = json.loads(run(*options, "--json")[1])["coefficients"]
    assert [one["required_items"] for one in found] == expected
    table = pd.read_csv(tmp_path / "agreement.csv", dtype={"required_items": "Int64"})
    assert [None if x is pd.NA else x for x in table["required_items"]] == expected
    assert "& 97 " in (tmp_path / "agreement.tex").read_text()


def _parts(file):
    found = re.findall(r"\\toprule\n(.*?)\n\\bottomrule", file.read_text(), re.S)
    return [part.splitlines() for part in found]


def test_anonymous_raters_have_no_pairs(run, tmp_path):
    code, out, _ = run("agreement", "fleiss1971", "--output", tmp_path)
    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agreement.csv", "agreement.tex"]
    assert "undefined: it is not known who gave which rating" in out


def test_weights_may_come_from_a_file(run, tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("class,novice,intermediate,advanced\nnovice,1,.5,0\nintermediate,.5,1,.5\n")
    with file.open("a") as end:
        end.write("advanced,0,.5,1\n")
    code, out, _ = run("agreement", READ, "--table", "--weights", file, "--json")
    assert code == 0
    assert coefficients(out)["cohen_kappa", "given"] == pytest.approx(0.840351, abs=1e-6)


def test_the_terminal_shows_the_first_pairs_and_how_many_more_there_are(run, tmp_path):
    file = tmp_path / "ratings.csv"
    rows = (",".join("ab"[(i * j) % 3 == 1] for j in range(7)) for i in range(9))
    file.write_text("\n".join([",".join(f"r{j}" for j in range(7)), *rows]) + "\n")
    out = run("agreement", file)[1]
    assert sum(line.startswith("  r") for line in out.splitlines()) == 15
    assert "… and 6 more pairs: see --output\n" in out


def test_bad_weights_name_their_file(run, tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("class,novice,intermediate,advanced\nnovice,1,2,0\nintermediate,2,1,2\n")
    with file.open("a") as end:
        end.write("advanced,0,2,1\n")
    code, out, err = run("agreement", READ, "--table", "--weights", file)
    assert (code, out) == (2, "")
    assert err.startswith(f"lehner: {file}: the weights are not all between 0 and 1")


def test_a_table_whose_rows_are_not_its_columns_is_refused(run, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("class,yes,no\nyes,40,10\nnoo,5,45\n")
    code, out, err = run("agreement", file, "--table")
    assert (code, out) == (2, "")
    assert f"{file}: it is not a square table: its rows are yes, noo and its columns yes, no" in err


def test_headings_count_one_in_the_singular(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("item,Ann\n1,x\n")
    assert run("agreement", file)[1].startswith(
        f"{file}: 1 item, 1 rater, 1 rating, 1 category (x)\n"
    )
    file.write_text("class,x\nx,1\n")
    assert f"{file}: probabilities, 1 class (x)," in run("agreement", file, "--table")[1]


def test_number_of_items_gives_probabilities_standard_errors(run):
    _, out, _ = run("agreement", READ, "--table", "--n-items", 200, "--json")
    assert all(one["standard_error"] for one in json.loads(out)["coefficients"])


def test_a_result_with_no_number_ends_with_1(run, tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("item,Ann,Bo\n1,x,\n2,,y\n")
    code, out, _ = run("agreement", file, "--json")
    assert code == 1
    assert all(one["estimate"] is None for one in json.loads(out)["coefficients"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "none.csv: there is no such file"),
        ([READ, "--table", "--system", "x"], "--table takes no --system"),
        (["krippendorff", "--n-items", "3"], "ratings take no --n-items"),
        (["krippendorff", "--interval", "90"], "--interval is 90"),
        (["krippendorff", "--weights", "cubic"], "no kind of weights 'cubic'"),
        (["krippendorff", "--coefficients", "kappa"], "no coefficient 'kappa'; choose among perc"),
        (["krippendorff", "--within", "0"], "--within is 0"),
        (["lehner_table2", "--weights", "linear"], "need ordered categories"),
        (["krippendorff", "--weights", "linear", "--weights", str(READ)], "the only --weights"),
    ],
)
def test_bad_input_is_told_in_one_line(run, arguments, message):
    code, out, err = run("agreement", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_chance_agreement_is_shown(run):
    _, out, _ = run("agreement", "lehner_table2", "--weights", "linear_by_value")
    assert out == ""
    _, out, _ = run("agreement", "krippendorff", "--weights", "linear_by_value")
    assert "weights: linear by value" in out.splitlines()
