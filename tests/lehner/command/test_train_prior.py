"""Priors trained on a folder of crowds: the file, its families, and what is refused."""

import numpy as np
import pandas as pd

from lehner import Given, Ratings, estimate, read_ratings
from lehner.empirical_prior.designs import draw_outcomes
from lehner.empirical_prior.prior import format_priors, read_priors, train_priors


def make_crowd(seed, n_items=60, skills=(0.55, 0.6, 0.7, 0.8, 0.9)):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    right = rng.random((n_items, len(skills))) < skills
    names = [f"w{j}" for j in range(len(skills))]
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    return Ratings(codes, ["no", "yes"], names, truth=truth)


def write_crowds(folder):
    """Write two crowds of one family, one in Parquet, and two crowds of their own families."""
    for seed, name in enumerate(("study/a.csv", "study/b.parquet", "c.csv", "d.csv")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = make_crowd(seed).to_wide()
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    (folder / "README.md").write_text("Not a crowd.")
    return folder


def test_priors_are_those_of_the_crowds_dealt_by_family(run, tmp_path):
    folder, file = write_crowds(tmp_path / "crowds"), tmp_path / "new" / "priors.json"
    code, out, err = run("train-prior", folder, "--output", file, "--seed", 3)
    assert code == 0, err
    assert f"--priors {file}" in err
    outcomes = pd.concat(
        draw_outcomes(name, name.split("/")[0], make_crowd(seed), 3)
        for seed, name in ((2, "c.csv"), (3, "d.csv"), (0, "study/a.csv"), (1, "study/b.parquet"))
    )
    assert file.read_text() == format_priors({"people": train_priors(outcomes)})
    assert len(file.read_text().splitlines()) == 8
    prior = read_priors(file)["people"]["unknown"]
    assert (prior.families, prior.n_crowds) == (["c.csv", "d.csv", "study"], 4)
    assert out == (
        f"Trained on 4 crowds of 3 families, from which {len(outcomes)} data sets were drawn "
        "with seed 3.\n"
    )
    ratings = make_crowd(9).with_truth(None).with_system("w4")
    result = estimate(ratings, ["learned_prior"], given=Given(priors=file, system_is="better"))
    assert "learned on 4 crowds of your own" in result.sentence()


def test_a_system_is_a_rater_and_counted_rows_are_items(run, tmp_path):
    folder = write_crowds(tmp_path / "crowds")
    run("train-prior", folder, "--output", tmp_path / "one.json")
    table = pd.read_csv(folder / "c.csv")
    table.rename(columns={"w4": "system", "truth": "gold"}).to_csv(folder / "c.csv", index=False)
    assert "system" in read_ratings(folder / "c.csv", truth="gold").systems
    for name in ("d.csv", "study/a.csv"):
        pd.read_csv(folder / name).rename(columns={"truth": "gold"}).to_csv(
            folder / name, index=False
        )
    parquet = folder / "study" / "b.parquet"
    pd.read_parquet(parquet).rename(columns={"truth": "gold"}).to_parquet(parquet)
    code, _, err = run("train-prior", folder, "--output", tmp_path / "two.json", "--truth", "gold")
    assert code == 0, err
    first, two = (
        read_priors(tmp_path / f"{name}.json")["people"]["like"] for name in ("one", "two")
    )
    assert (first.n_data_sets, first.families) == (two.n_data_sets, two.families)
    grouped = pd.read_csv(folder / "d.csv")[["w0", "w1", "w2", "w3", "w4", "gold"]]
    grouped.value_counts().reset_index().to_csv(folder / "d.csv", index=False)
    code, _, err = run("train-prior", folder, "--output", tmp_path / "3.json", "--truth", "gold")
    assert code == 0, err
    assert read_priors(tmp_path / "3.json")["people"]["like"].n_data_sets == first.n_data_sets


def refused(run, folder, said):
    file = folder.parent / "priors.json"
    code, out, err = run("train-prior", folder, "--output", file)
    assert (code, out) == (2, "")
    assert said in err
    assert not file.exists()


def test_what_cannot_be_trained_on_is_said(run, tmp_path):
    folder = tmp_path / "crowds"
    refused(run, folder, "crowds: there is no folder")
    folder.mkdir()
    refused(run, folder, "crowds: there are no ratings files in it")
    write_crowds(folder)
    (folder / "d.csv").unlink()
    refused(run, folder, "crowds: the crowds are of 2 families; give crowds of 3 families")
    make_crowd(1, n_items=20).to_wide().to_csv(folder / "e.csv", index=False)
    refused(run, folder, "e.csv: no rater has 30 items with a gold label that two others rated")
    make_crowd(1).with_truth(None).to_wide().to_csv(folder / "e.csv", index=False)
    refused(run, folder, "e.csv: there are no gold labels; name their column by --truth")
    (folder / "e.csv").write_text("item,truth\n")
    refused(run, folder, "e.csv")
