"""The table of labels by every quick method: its rows, means, hits and false alarms."""

import numpy as np
import pandas as pd

from experiments.benchmarks.real.label_methods import label_all
from experiments.benchmarks.real.label_methods_report import write_label_report
from lehner import Scenario, simulate
from lehner.labels.label import AUTOMATIC, QUICK_METHODS


def test_rows_and_report(tmp_path):
    crowd = simulate(Scenario(n_categories=2, n_items=30, initial_rater_accuracy=(0.8,) * 3), 1)
    found = label_all(crowd.without_system(), 1)
    assert found["method"].tolist() == list(QUICK_METHODS)
    right = found.set_index("method")["right"]
    assert right.between(0, 1).all()
    chosen = found.set_index("method")["chosen"][AUTOMATIC]
    assert right[AUTOMATIC] == right[chosen]
    # In the second crowd the majority is right, and the doubted labels of a method are not.
    other = found.assign(right=1.0)
    worse = other["method"] == "pooled_ml"
    other.loc[worse, "right"], other["doubted"] = 0.5, np.where(worse, True, False)
    rows = pd.concat([found.assign(crowd="rte"), other.assign(crowd="web")])
    write_label_report(rows.assign(kind="public", replicate=0), tmp_path)
    text = (tmp_path / "label_methods.md").read_text()
    mean = (right[AUTOMATIC] + 1) / 2
    line = next(line for line in text.splitlines() if line.startswith("| mean of the twelve |"))
    assert f"{mean:.3f}".lstrip("0") in line
    doubts = next(line for line in text.splitlines() if line.startswith("| public | pooled_ml |"))
    worse_here = int(right["pooled_ml"] <= right["majority"] - 0.005)
    assert doubts.split(" | ")[2:4] == [str(1 + worse_here), doubts.split(" | ")[3]]
    assert int(doubts.split(" | ")[3]) >= 1
