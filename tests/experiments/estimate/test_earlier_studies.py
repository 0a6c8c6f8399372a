"""Earlier studies on the command line: screen, files, page and JSON say one thing."""

import numpy as np
import pandas as pd
import pytest

METHOD = ("--method", "dawid_skene")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = rng.random(150) < 0.4

    def rated(accuracy):
        return np.where(truth ^ (rng.random(150) > accuracy), "sick", "well")

    raters = {name: rated(0.8) for name in ("a=b & c", "../x", "ana")}
    systems = {"gpt": rated(0.9), "claude": rated(0.85)}
    return pd.DataFrame({"item": range(150)} | raters | systems)


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ("anna=x.csv", "did you mean 'ana'"),
        ("ana", "as a=b & c=earlier.csv"),
        ("ana=", "as a=b & c=earlier.csv"),
        ("ana=x.csv,ana=y.csv", "as a=b & c=earlier.csv"),
        ("ana=x.csv", "no such file"),
    ],
)
def test_what_is_no_study_is_told_in_one_line(run, file, study, said):
    argv = ["estimate", file, "--system", "gpt", "--earlier-studies", study, *METHOD]
    code, out, err = run(*argv)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
