"""A method of one's own is like any other by being named."""

import json


def test_a_function_of_ones_own_is_estimated_with_like_any_method(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import lehner\n\n\ndef mine(ratings, *, seed):\n"
        "    return lehner.estimate_algebraic(ratings, seed=seed)\n"
    )
    method = f"algebraic,{tmp_path / 'mine.py'}:mine"
    options = ("--system", "System", "--method", method, "--output", tmp_path / "out")
    code, out, err = run("estimate", "lehner_table2", *options, "--json")
    accuracies = {
        row["method"]: (row["estimate"], row["lower"], row["upper"])
        for row in json.loads(out)["rows"]
        if row["quantity"] == "system_accuracy"
    }
    assert code == 0, err
    assert accuracies["mine"] == accuracies["algebraic"]
    assert "mine &" in (tmp_path / "out" / "estimates.tex").read_text()
    code, _, err = run("estimate", "lehner_table2", "--method", f"{tmp_path / 'no.py'}:mine")
    assert code == 2 and "no.py: there is no such file" in err
